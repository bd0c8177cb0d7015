// Play, draw, step, back, first; and the same from the keyboard, unless something else has the focus.

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M12 3v10L4 8z",
  play: "M4 3v10l9-5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  draw: "M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z",
  step: "M3 3v10l7-5zM11 3h2v10h-2z",
}
const ACTS = [
  ["first", "First", "return to where this preset began", "f"],
  ["back", "Back", "return to the event before this one", "b"],
  ["play", "Play", "draw batch after batch", "p"],
  ["draw", "Draw", "another batch at the same parameters", "d"],
  ["step", "Step", "take the update: the parameters move", "s"],
]

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  for (const [key, value] of [["viewBox", "0 0 16 16"], ["width", 14], ["height", 14], ["aria-hidden", "true"]]) {
    svg.setAttribute(key, value)
  }
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path")
  path.setAttribute("d", ICONS[name])
  path.setAttribute("fill", "currentColor")
  svg.append(path)
  return svg
}

export function render({model}) {
  const box = document.createElement("div")
  box.className = "bar"
  const buttons = new Map()
  for (const [act, label, what, key] of ACTS) {
    const button = document.createElement("button")
    button.type = "button"
    button.className = act
    button.title = `${what} (${key})`
    button.setAttribute("aria-keyshortcuts", key)
    button.append(icon(act), label)
    button.addEventListener("click", () => model.send_msg({act}))
    buttons.set(act, button)
    box.append(button)
  }
  const where = document.createElement("span")
  where.className = "where"
  const lesson = document.createElement("button")
  lesson.type = "button"
  lesson.className = "down"
  lesson.textContent = "lesson ↓"
  lesson.title = "scroll to the lesson"
  lesson.addEventListener("click", () => {
    box.getRootNode().host.getRootNode().querySelector(".lesson").scrollIntoView({behavior: "smooth"})
  })
  box.append(where, lesson)

  const refresh = () => {
    const play = buttons.get("play")
    play.replaceChildren(icon(model.playing ? "pause" : "play"), model.playing ? "Pause" : "Play")
    play.classList.toggle("on", model.playing)
    where.textContent = `step ${model.step}, draw ${model.draw}`
  }
  model.on(["playing", "step", "draw"], refresh)
  refresh()

  const keys = new Map(ACTS.map(([act, , , key]) => [key, act]))
  const pressed = (event) => {
    const target = event.composedPath()[0]
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || target.closest?.("input, select, textarea")) return
    const act = keys.get(event.key)
    if (act) model.send_msg({act})
  }
  document.addEventListener("keydown", pressed)
  model.on("remove", () => document.removeEventListener("keydown", pressed))
  return box
}
