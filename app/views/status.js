// What the page has to say: what it is doing, what failed, what was wrong with an input. Text only, never HTML.

// A text that is set again, though it is the same, would be read aloud again.
function say(element, text) {
  if (element.textContent !== text) element.textContent = text
}

// What lies over the canvas and takes the pointer and the focus.
function canvas() {
  const plane = window.Bokeh?.documents[0]?.get_model_by_name("plane")
  return plane && Bokeh.index.find_one(plane)?.canvas_view?.events_el
}

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
  live.className = "sr live"
  live.setAttribute("aria-live", "polite")
  box.append(busy, alert, live)

  let gone = false
  const describe = () => {
    const drawn = canvas()
    if (drawn) {
      drawn.setAttribute("role", "img")
      drawn.setAttribute("aria-label", model.summary)
    } else if (!gone) {
      // It is built while this is.
      setTimeout(describe, 100)
    }
  }
  const speak = () => {
    busy.hidden = !model.busy
    say(busy, model.busy)
    say(live, model.spoken)
  }
  const warn = () => {
    const lines = model.problems.map((text) => {
      const line = document.createElement("li")
      line.textContent = text
      return line
    })
    alert.replaceChildren()
    alert.hidden = !lines.length && !model.failure
    if (alert.hidden) return
    const head = document.createElement("b")
    const told = model.partly ? "Some of the link was left out" : "Nothing was changed"
    head.textContent = model.failure ? "No new picture" : told
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
  model.on(["busy", "spoken"], speak)
  model.on(["failure", "problems", "partly"], warn)
  model.on("summary", describe)
  model.on("remove", () => { gone = true })
  speak()
  warn()
  describe()
  return box
}
