// First, back, play, draw, step, newest; how fast it plays, and where it stands.

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M12 3v10L4 8z",
  play: "M4 3v10l9-5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  draw: "M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z",
  step: "M3 3v10l7-5zM11 3h2v10h-2z",
  newest: "M11 3h2v10h-2zM3 3v10l4-2.9V13l4-5-4-5v2.9z",
  reset: "M8 3a5 5 0 1 1-4.6 3l1.5.6A3.4 3.4 0 1 0 8 4.600V7L4 3.800 8 .6z",
}
// The class says whether the word gives way to its icon where there is little room.
const BUTTONS = [
  ["first", "First", "brief"],
  ["back", "Back", "brief"],
  ["play", "Play", ""],
  ["draw", "Draw", ""],
  ["step", "Step", ""],
  ["newest", "Newest", "brief"],
]

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  for (const [key, value] of [["viewBox", "0 0 16 16"], ["width", "1.1em"], ["height", "1.1em"], ["aria-hidden", "true"]]) {
    svg.setAttribute(key, value)
  }
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path")
  path.setAttribute("d", ICONS[name])
  path.setAttribute("fill", "currentColor")
  svg.append(path)
  return svg
}

function words(text) {
  const made = document.createElement("span")
  made.className = "words"
  made.textContent = text
  return made
}

export function render({model}) {
  const box = document.createElement("div")
  box.className = "player"
  const bar = document.createElement("div")
  bar.className = "bar"
  bar.setAttribute("role", "group")
  bar.setAttribute("aria-label", "Player")
  box.append(bar)

  const made = (act, label, room) => {
    const button = document.createElement("button")
    button.type = "button"
    button.className = `${act} ${room}`
    button.title = model.buttons[act].title
    button.setAttribute("aria-keyshortcuts", model.buttons[act].aria)
    button.append(icon(act), words(label))
    // Play says what it was when it was pressed: something else may have paused meanwhile, or begun to play.
    button.addEventListener("click", () => model.send_msg(act === "play" ? {act, playing: model.playing} : {act}))
    return button
  }
  const buttons = new Map(BUTTONS.map(([act, label, room]) => [act, made(act, label, room)]))
  const play = buttons.get("play")

  const speed = document.createElement("select")
  speed.className = "speed"
  speed.setAttribute("aria-label", "Speed")
  speed.title = "how fast it plays, where the frames come as fast"
  speed.append(...model.speeds.map((times) => new Option(`×${times}`, times)))
  speed.addEventListener("change", () => model.send_msg({speed: Number(speed.value)}))

  const where = document.createElement("span")
  where.className = "where"
  const lesson = document.createElement("button")
  lesson.type = "button"
  lesson.className = "down last"
  lesson.title = "scroll to the lesson"
  lesson.append(words("lesson"), "↓")
  lesson.addEventListener("click", () => {
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches
    const found = box.getRootNode().host.getRootNode().querySelector(".lesson")
    found.scrollIntoView({behavior: still ? "instant" : "smooth"})
  })
  bar.append(...buttons.values(), speed, where, made("reset", "Reset", "last"))
  if (model.lesson) bar.append(lesson)

  const refresh = () => {
    // In their places: a press during which what was pressed is replaced is no click.
    play.querySelector("path").setAttribute("d", ICONS[model.playing ? "pause" : "play"])
    play.querySelector(".words").textContent = model.playing ? "Pause" : "Play"
    play.classList.toggle("on", model.playing)
    speed.value = model.speed
    where.textContent = `step ${model.step}, draw ${model.draw}`
  }
  model.on(["playing", "step", "draw", "speed"], refresh)
  refresh()
  return box
}
