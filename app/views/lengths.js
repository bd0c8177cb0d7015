// The batch law: a button that measures it, how far that has come, and what it came to.

export function render({model}) {
  const box = document.createElement("section")
  box.className = "law"
  box.setAttribute("aria-label", "Batch law")
  const go = document.createElement("button")
  go.type = "button"
  go.title = "measure how long the update is at each batch size, under these settings and at the start"
  const bar = document.createElement("progress")
  bar.setAttribute("aria-label", "batches measured")
  const far = document.createElement("span")
  far.className = "far"
  const summary = document.createElement("p")
  summary.setAttribute("aria-live", "polite")
  const head = document.createElement("div")
  head.className = "head"
  head.append(go, bar, far)
  box.append(head, summary)
  go.addEventListener("click", () => model.send_msg(model.running ? {stop: true} : {start: true}))

  const refresh = () => {
    go.textContent = model.running ? "Stop measuring" : "Batch law"
    go.classList.toggle("on", model.running)
    bar.max = model.total
    bar.value = model.taken
    bar.hidden = far.hidden = !model.running
    far.textContent = `batch ${model.taken} of ${model.total}`
    if (summary.textContent !== model.summary) summary.textContent = model.summary
  }
  model.on(["running", "taken", "total", "summary"], refresh)
  refresh()
  return box
}
