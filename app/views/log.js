// The event log: a row an event, newest last; a click or Enter on a row returns to it.

export function render({model}) {
  const box = document.createElement("div")
  box.className = "log"
  const table = document.createElement("table")
  const head = table.createTHead().insertRow()
  for (const words of ["#", "what was done", "step.draw", "ratio", "verdict"]) {
    const cell = document.createElement("th")
    cell.scope = "col"
    cell.textContent = words
    head.append(cell)
  }
  const body = table.createTBody()
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr")
    if (row) model.send_msg({index: Number(row.dataset.index)})
  })
  box.append(table)

  const put = (row) => {
    const line = body.rows[row.index] ?? body.insertRow()
    line.dataset.index = row.index
    line.className = `${row.kind} ${row.level}`
    line.style.setProperty("--branch", row.branch)
    const button = document.createElement("button")
    button.type = "button"
    button.textContent = row.index
    button.setAttribute("aria-label", `return to event ${row.index}`)
    const cells = [button, row.label, row.clock, row.ratio, row.verdict]
    line.replaceChildren(...cells.map((content) => {
      const cell = document.createElement("td")
      cell.append(content)
      return cell
    }))
    const branch = document.createElement("span")
    branch.className = "branch"
    branch.textContent = row.branch ? String.fromCharCode(97 + row.branch % 26) : ""
    line.cells[0].append(branch)
    line.title = row.grew ? `${row.label} (${row.grew})` : row.label
  }
  const mark = (current) => {
    for (const row of body.rows) {
      const here = Number(row.dataset.index) === current
      row.classList.toggle("current", here)
      if (here) row.setAttribute("aria-current", "true")
      else row.removeAttribute("aria-current")
    }
    box.scrollTop = box.scrollHeight
  }
  model.on("msg:custom", ({rows, current}) => {
    rows.forEach(put)
    mark(current)
  })
  model.send_msg({ready: true})
  return box
}
