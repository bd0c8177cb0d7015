// The event log: a row an event, newest last; a click or Enter on a row returns to it. A first line counts the events
// that are kept no more.

export function render({model}) {
  const frame = document.createElement("div"), box = document.createElement("div")
  frame.className = "event-log"
  box.className = "log"
  const table = document.createElement("table")
  const head = table.createTHead().insertRow()
  for (const words of ["#", "what was done", "step.draw", "ratio", "verdict"]) {
    const cell = document.createElement("th")
    cell.scope = "col"
    cell.textContent = words
    head.append(cell)
  }
  const past = table.createCaption()
  past.hidden = true
  const body = table.createTBody()
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr")
    if (row) model.send_msg({index: Number(row.dataset.index)})
  })
  box.append(table)
  const clear = document.createElement("button")
  clear.type = "button"
  clear.className = "clear"
  clear.textContent = "Clear log"
  clear.title = "empty the log; what is on show stays, as the first event of a new one"
  clear.addEventListener("click", () => model.send_msg({clear: true}))
  frame.append(box, clear)

  const lines = new Map()
  // A row's parts are made once, so that the focus stays where it is when the row is told what came of it.
  const place = (index) => {
    const line = document.createElement("tr")
    line.dataset.index = index
    for (let i = 0; i < 5; i++) line.insertCell()
    const button = document.createElement("button"), branch = document.createElement("span")
    button.type = "button"
    button.textContent = index
    button.setAttribute("aria-label", `return to event ${index}`)
    branch.className = "branch"
    line.cells[0].append(button, branch)
    const last = body.rows[body.rows.length - 1]
    // Almost always the newest; after a clear or a reload they may come in any order.
    const next = !last || Number(last.dataset.index) < index
      ? null : [...body.rows].find((each) => Number(each.dataset.index) > index)
    body.insertBefore(line, next ?? null)
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
    lines.get(index)?.remove()
    lines.delete(index)
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
