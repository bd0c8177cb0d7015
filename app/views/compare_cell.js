// The head of a cell: which preset, what its update comes to, and the way to its dials.

// The verdict's forms, as beside the picture on the first page: told by shape before colour.
const SHAPES = {
  inside: ["circle", {cx: 14, cy: 14, r: 9, fill: "var(--inside)"}],
  near: ["path", {d: "M14 3l11 11-11 11L3 14z", fill: "var(--near)"}],
  past: ["path", {d: "M14 3l12 22H2z", fill: "var(--past)"}],
  none: ["path", {d: "M5 14h18", stroke: "var(--muted)", "stroke-width": 4}],
}
const SVG = "http://www.w3.org/2000/svg"

export function render({model}) {
  const select = element("select", {"aria-label": `Preset of ${model.letter}`})
  select.append(...model.presets.map(([value, title]) => new Option(title, value)))
  select.addEventListener("change", () => model.send_msg({open: select.value}))
  const dials = element("button", {type: "button", class: "dials"}, "Dials")
  dials.setAttribute("aria-label", `Dials of ${model.letter}`)
  dials.addEventListener("click", () => model.send_msg({dials: !model.open}))
  const escaped = (event) => { if (event.key === "Escape" && model.open) model.send_msg({dials: false}) }
  document.addEventListener("keydown", escaped)
  model.on("remove", () => document.removeEventListener("keydown", escaped))
  const shape = document.createElementNS(SVG, "svg")
  for (const [key, value] of [["viewBox", "0 0 28 28"], ["width", 17], ["height", 17], ["aria-hidden", "true"]]) {
    shape.setAttribute(key, value)
  }
  const verdict = element("b"), ratio = element("span", {class: "ratio"}), clock = element("span", {class: "clock"})
  const changed = element("span", {class: "changed"})
  const failure = element("p", {class: "failure", role: "alert"})
  const said = element("div", {class: "said"}, shape, verdict, ratio, clock)
  const letter = element("span", {class: "letter"}, model.letter)
  const box = element("section", {"aria-label": `Cell ${model.letter}`},
    element("div", {class: "which"}, letter, select, changed, dials), said, failure)

  const refresh = () => {
    select.value = model.current
    changed.textContent = model.changed ? "changed" : ""
    changed.title = model.changed ? "its dials stand elsewhere than the preset has them" : ""
    dials.setAttribute("aria-expanded", model.open)
    const [tag, attributes] = SHAPES[model.level] ?? SHAPES.none
    const drawn = document.createElementNS(SVG, tag)
    for (const [name, value] of Object.entries(attributes)) drawn.setAttribute(name, value)
    shape.replaceChildren(drawn)
    verdict.textContent = model.verdict
    ratio.textContent = model.ratio
    clock.textContent = model.clock
    said.title = model.rule
    // Set again, though it is the same, it would be read aloud again.
    if (failure.textContent !== model.failure) failure.textContent = model.failure
  }
  model.on(["current", "changed", "level", "verdict", "rule", "ratio", "clock", "failure", "open"], refresh)
  refresh()
  return box
}
