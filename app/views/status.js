// What the page has to say: what it is doing, what failed, what was wrong with an input. Text only, never HTML.

export function render({model}) {
  const box = document.createElement("div")
  box.className = "messages"
  const busy = document.createElement("div")
  busy.className = "busy"
  busy.setAttribute("role", "status")
  const alert = document.createElement("div")
  alert.className = "alert"
  alert.setAttribute("role", "alert")
  const live = document.createElement("div")
  live.className = "sr"
  live.setAttribute("aria-live", "polite")
  box.append(busy, alert, live)

  const refresh = () => {
    busy.textContent = model.busy
    busy.hidden = !model.busy
    live.textContent = model.summary
    const lines = model.problems.map((text) => {
      const line = document.createElement("li")
      line.textContent = text
      return line
    })
    alert.replaceChildren()
    alert.hidden = !lines.length && !model.failure
    if (alert.hidden) return
    const head = document.createElement("b")
    head.textContent = model.failure ? "No new picture" : "Nothing was changed"
    const close = document.createElement("button")
    close.type = "button"
    close.textContent = "Dismiss"
    close.addEventListener("click", () => model.send_msg({dismiss: true}))
    alert.append(head, close)
    if (model.failure) {
      const why = document.createElement("p")
      why.textContent = model.failure
      alert.append(why)
    }
    if (lines.length) {
      const list = document.createElement("ul")
      list.append(...lines)
      alert.append(list)
    }
  }
  model.on(["busy", "failure", "problems", "summary"], refresh)
  refresh()
  return box
}
