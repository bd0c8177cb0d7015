// A button that shows all of the picture again; it is there only while the picture is zoomed or moved.

// Shares of the picture's width below which it has not been moved: what rounding leaves.
const NEAR = 1e-4

export function render({model, view}) {
  const named = (name) => view.model.document.get_model_by_name(name + model.suffix)
  const [plot, seen] = [named("plane"), view.model.document.get_model_by_name(model.scale)]
  const {x_range: X, y_range: Y} = plot
  const button = document.createElement("button")
  button.type = "button"
  button.className = "fit"
  button.textContent = "Fit"
  button.title = "show all of the picture again"
  button.setAttribute("aria-label", "Fit: show all of the picture again")
  button.hidden = true

  const look = () => {
    const w = plot.inner_width, h = plot.inner_height, half = seen.tags[0]
    if (!(w > 0 && h > 0)) return
    const reach = (X.end - X.start) / w * Math.min(w, h) / 2
    const off = Math.max(Math.abs(reach - half), Math.abs(X.start + X.end) / 2, Math.abs(Y.start + Y.end) / 2)
    // Who came by keyboard keeps his place on the page until he leaves it.
    button.hidden = off <= NEAR * half && !button.matches(":focus-visible")
  }
  // Ranges and sizes change one after the other: only when all have is there something to compare.
  let waiting = null
  const soon = () => {
    clearTimeout(waiting)
    waiting = setTimeout(look, 50)
  }
  button.addEventListener("blur", soon)
  button.addEventListener("click", () => { seen.data = {x: [0], y: [0], half: [seen.tags[0]]} })
  const heard = [...[X, Y].flatMap((range) => [range.properties.start, range.properties.end]),
    plot.properties.inner_width, plot.properties.inner_height, seen.properties.tags].map((each) => each.change)
  for (const each of heard) each.connect(soon)
  model.on("remove", () => {
    clearTimeout(waiting)
    for (const each of heard) each.disconnect(soon)
  })
  soon()
  return button
}
