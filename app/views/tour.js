// A guided tour: a step's words, its numbers as buttons that point at where they stand, and the ways on and back.

export function render({model}) {
  const button = (words, message) => {
    const made = element("button", {type: "button"}, words)
    made.addEventListener("click", () => model.send_msg(message()))
    return made
  }
  const level = element("select", {"aria-label": "Tour for"})
  level.append(...model.levels.map(([name, words]) => new Option(words, name)))
  level.addEventListener("change", () => model.send_msg({level: level.value}))
  level.addEventListener("keydown", (event) => event.stopPropagation())
  const where = element("span", {class: "where"})
  const title = element("h3"), text = element("p"), formula = element("div", {class: "formula"})
  const told = element("div", {class: "told", "aria-live": "polite", "aria-atomic": "true"}, title, text, formula)
  const away = element("p", {class: "away", role: "status"}, "Something else is on show: press Show me.")
  // A card that is too low for its text is scrolled from the keyboard as well.
  const page = element("div", {class: "page", role: "group", "aria-label": "Step of the tour", tabindex: 0}, told)
  const look = button("", () => ({look: model.look}))
  look.className = "look"
  const back = button("Previous", () => ({move: -1}))
  const show = button("Show me", () => ({show: true}))
  // Told as moves, so that two quick presses are two steps also where answers come late.
  const next = button("", () => ({move: 1}))
  show.title = "do what this step does, and point at what it is about"

  const piece = ([words, what, place]) => {
    if (what === undefined) return words
    if (place) {
      const made = button(words, () => ({look: place}))
      made.className = "number"
      made.title = `${what}; click to see where it stands`
      return made
    }
    const made = element("a", {class: "number", href: "?page=claims", target: "_blank", rel: "noopener"}, words)
    made.title = `${what}; opens the claims beside this page`
    return made
  }
  const tell = () => {
    level.value = model.level
    where.textContent = `${model.place + 1} of ${model.count}`
    title.textContent = model.title
    text.replaceChildren(...model.text.map(piece))
    // The program's own formulas; nothing of a visitor's gets here.
    formula.innerHTML = model.formula
    formula.hidden = !model.formula
    page.scrollTop = 0
  }
  const refresh = () => {
    const last = model.place + 1 === model.count
    look.hidden = !model.called
    look.textContent = `Look at: ${model.called}`
    look.title = `point at ${model.called}`
    back.disabled = model.place === 0
    next.textContent = last && model.harder ? `Next: ${model.harder}` : "Next"
    next.disabled = last && !model.harder
    show.classList.toggle("wanted", !model.here)
    away.hidden = model.here
  }
  // Several params change with a step; they are told once, when all have come.
  let due = false
  const soon = () => {
    if (due) return
    due = true
    queueMicrotask(() => { due = false; tell() })
  }
  model.on(["level", "place", "count", "title", "text", "formula"], soon)
  model.on(["place", "count", "look", "called", "here", "harder"], refresh)
  tell()
  refresh()
  return element("section", {class: "tour", "aria-label": "Guided tour"},
    element("div", {class: "head"}, element("label", {}, "For", level), look, where),
    away, page, element("div", {class: "foot"}, back, show, next))
}
