// The head of the comparison. Text only, never HTML.

// A text that is set again, though it is the same, would be read aloud again.
function say(element, text) {
  if (element.textContent !== text) element.textContent = text
}

export function render({model}) {
  const sizes = element("div", {class: "sizes", role: "group", "aria-label": "Cells"})
  const choices = new Map(model.sizes.map((count) => {
    const button = element("button", {type: "button"}, `${count} cells`)
    button.addEventListener("click", () => model.send_msg({count}))
    sizes.append(button)
    return [count, button]
  }))
  const back = element("a", {href: "?"}, "to the picture")
  const keys = element("button", {type: "button", "aria-label": "Keys", title: "which keys act on the page"}, "?")
  keys.addEventListener("click", () => window.dispatchEvent(new CustomEvent("gradcloud-keys")))
  const busy = element("span", {class: "busy", role: "status"})
  const live = element("div", {class: "sr", "aria-live": "polite"})
  const shared = element("span", {class: "words"})
  const dials = element("button", {type: "button", "aria-label": "Dials of all cells"}, "All cells")
  dials.addEventListener("click", () => model.send_msg({dials: !model.open}))
  const escaped = (event) => { if (event.key === "Escape" && model.open) model.send_msg({dials: false}) }
  document.addEventListener("keydown", escaped)
  model.on("remove", () => document.removeEventListener("keydown", escaped))
  const alert = element("div", {class: "alert", role: "alert"})
  const box = element("div", {class: "head"},
    element("div", {class: "bar"}, element("h1", {}, "Compare"), sizes, busy, back, keys),
    element("div", {class: "shared"}, dials, shared), alert, live)

  const warn = () => {
    alert.hidden = !model.problems.length
    const close = element("button", {type: "button"}, "Dismiss")
    close.addEventListener("click", () => model.send_msg({dismiss: true}))
    const lines = model.problems.map((line) => element("li", {}, line))
    const told = [element("b", {}, "Not as asked"), close, element("ul", {}, ...lines)]
    alert.replaceChildren(...(alert.hidden ? [] : told))
  }
  const refresh = () => {
    for (const [count, button] of choices) button.setAttribute("aria-pressed", count === model.names.length)
    shared.textContent = [model.alike, ...model.overruled].join(". ") + "."
    dials.setAttribute("aria-expanded", model.open)
    shared.title = shared.textContent
    say(busy, model.busy)
    say(live, model.summary)
    back.href = `?${model.first}`
    // So that a reload, or the address sent to somebody else, opens the same comparison.
    const {pathname, hash, search} = window.location
    const now = `?${[model.address, ...parts(model.own, false)].join("&")}`
    if (now !== search) enter(marked(), `${pathname}${now}${hash}`)
  }
  // All of the page is its one subject; its root is where no view of its own reaches from within.
  model.on("after_render", () => {
    const whole = box.getRootNode().host?.getRootNode().host
    whole?.setAttribute("role", "main")
    whole?.setAttribute("aria-label", "Comparison")
  })
  model.on(["names", "alike", "overruled", "busy", "summary", "open", "address", "first"], refresh)
  // Apart from the rest: what is built anew, though it says the same, would be read aloud again.
  model.on("problems", warn)
  refresh()
  warn()
  return box
}
