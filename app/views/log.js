// The event log: a row an event, newest last; a click or Enter on a row returns to it. A first line counts the events
// that are kept no more.

// Rows a group: of a thousand, the browser lays out and paints anew only the group that changes.
const GROUP = 50

export function render({model}) {
  const box = element("div", {class: "log"}), frame = element("div", {class: "event-log"}, box)
  // It is laid out as a block, and to some screen readers no block is a table of itself.
  const heads = ["#", "what was done", "step.draw", "ratio", "verdict"]
    .map((words) => element("th", {scope: "col", role: "columnheader"}, words))
  const table = element("table", {role: "table"},
    element("thead", {role: "rowgroup"}, element("tr", {role: "row"}, ...heads)))
  const past = table.createCaption()
  past.hidden = true
  table.addEventListener("click", (event) => {
    const row = event.target.closest("tbody tr")
    if (row) model.send_msg({index: Number(row.dataset.index)})
  })
  box.append(table)
  const title = "empty the log; what is on show stays, as the first event of a new one"
  const clear = element("button", {type: "button", class: "clear", title}, "Clear log")
  clear.addEventListener("click", () => model.send_msg({clear: true}))
  frame.append(clear)

  const lines = new Map()
  // Almost always the newest; after a clear or a reload they may come in any order.
  const insert = (parent, siblings, made, index) => {
    const last = siblings[siblings.length - 1]
    const next = !last || Number(last.dataset.index) < index
      ? null : [...siblings].find((each) => Number(each.dataset.index) > index)
    made.dataset.index = index
    parent.insertBefore(made, next ?? null)
  }
  const group = (number) => {
    const body = element("tbody", {role: "rowgroup"})
    insert(table, table.tBodies, body, number)
    return body
  }
  // A row's parts are made once, so that the focus stays where it is when the row is told what came of it.
  const place = (index) => {
    const button = element("button", {type: "button", "aria-label": `return to event ${index}`}, index)
    const line = element("tr", {role: "row"}, ...heads.map(() => element("td", {role: "cell"})))
    line.cells[0].append(button, element("span", {class: "branch"}))
    const number = Math.floor(index / GROUP)
    const body = [...table.tBodies].find((each) => Number(each.dataset.index) === number) ?? group(number)
    insert(body, body.rows, line, index)
    lines.set(index, line)
    return line
  }
  const put = (row) => {
    const line = lines.get(row.index) ?? place(row.index)
    line.className = `${row.kind} ${row.level}`
    line.style.setProperty("--branch", row.branch)
    line.title = row.grew ? `${row.label} (${row.grew})` : row.label
    const [first, ...others] = line.cells
    first.lastChild.textContent = row.branch ? String.fromCharCode(97 + row.branch % 26) : ""
    const texts = [row.label, row.clock, row.ratio, row.verdict]
    others.forEach((cell, i) => { cell.textContent = texts[i] })
  }
  const remove = (index) => {
    const line = lines.get(index), body = line?.parentElement
    line?.remove()
    lines.delete(index)
    if (body?.rows.length === 0) body.remove()
  }
  let marked
  const mark = (current) => {
    marked?.classList.remove("current")
    marked?.removeAttribute("aria-current")
    marked = lines.get(current)
    marked?.classList.add("current")
    marked?.setAttribute("aria-current", "true")
    box.scrollTop = box.scrollHeight
  }
  model.on("msg:custom", ({rows, gone, current, forgotten}) => {
    gone.forEach(remove)
    rows.forEach(put)
    mark(current)
    past.hidden = forgotten === 0
    past.textContent = forgotten === 1 ? "1 earlier event is kept no more"
      : `${forgotten.toLocaleString("en")} earlier events are kept no more`
  })
  model.send_msg({ready: true})
  return frame
}
