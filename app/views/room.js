// Where the words stand beside their tips: within the picture, clear of each other and of the captions over it. Words
// come with the most important first; where there is no room for one without covering another, it waits unseen.
const place = () => {
  const {x_range: X, y_range: Y, inner_width: w, inner_height: h} = figure
  const glyph = figure.renderers.find((each) => each.name === "words").glyph
  const {x, y, text, align, dx, dy} = words.data
  if (!(w > 0 && h > 0) || !text.length) return
  const size = parseFloat(glyph.text_font_size.value ?? glyph.text_font_size), line = 1.25 * size, gap = 8
  const canvas = document.createElement("canvas").getContext("2d")
  canvas.font = `bold ${size}px ${glyph.text_font.value ?? glyph.text_font}`

  const taken = []
  const plot = Bokeh.index.find_one(figure)?.el
  const stack = plot?.getRootNode()
  if (plot && stack?.querySelector) {
    const origin = plot.getBoundingClientRect()
    const captions = stack.querySelector(".caption")?.shadowRoot?.querySelectorAll(".box") ?? []
    for (const each of captions) {
      const box = each.getBoundingClientRect()
      taken.push([box.left - origin.left, box.top - origin.top, box.right - origin.left, box.bottom - origin.top])
    }
  }
  const clear = (box) => box[0] >= 2 && box[2] <= w - 2 && box[1] >= 2 && box[3] <= h - 2 && taken.every(
    (each) => box[2] <= each[0] || box[0] >= each[2] || box[3] <= each[1] || box[1] >= each[3])

  // Outward of the tip if there is room, near its height if there is room.
  const heights = [0, 1, -1, 2, -2, 3, -3, 4, -4]
  const places = Array.from(text, (each, i) => {
    const at = (x[i] - X.start) / (X.end - X.start) * w, down = (Y.end - y[i]) / (Y.end - Y.start) * h
    const long = canvas.measureText(each).width + 4
    const [out, back] = x[i] >= 0 ? ["left", "right"] : ["right", "left"]
    for (const [side, steps] of [[out, 5], [back, 5], [out, 9], [back, 9]]) {
      for (const step of heights.slice(0, steps)) {
        const from = side === "left" ? at + gap : at - gap - long, middle = down + step * line
        const box = [from, middle - line / 2, from + long, middle + line / 2]
        if (!clear(box)) continue
        taken.push(box)
        return [side, side === "left" ? gap : -gap, step * line]
      }
    }
    return null
  })
  const now = {
    align: places.map((place) => place?.[0] ?? "left"),
    dx: places.map((place) => place?.[1] ?? 1e5),
    dy: places.map((place) => place?.[2] ?? 0),
  }
  const same = (one, other) => one.every((each, i) => each === other[i])
  if (!(same(now.align, align) && same(now.dx, dx) && same(now.dy, dy))) words.data = {...words.data, ...now}
}
place()
// The captions change with the picture, and a little after it.
clearTimeout(figure.gradcloud_room)
figure.gradcloud_room = setTimeout(place, 150)
