// Where the words stand beside their tips: within the picture, clear of each other and of the captions over it. Words
// come with the most important first; where there is no room for one without covering another, it waits unseen.
const place = () => {
  const {x_range: X, y_range: Y, inner_width: w, inner_height: h} = figure
  const glyph = figure.renderers.find((each) => each.name === "words").glyph
  const {x, y, text, dx, dy} = words.data
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
    for (const each of [...captions, ...stack.querySelectorAll(".fit")]) {
      const box = each.getBoundingClientRect()
      taken.push([box.left - origin.left, box.top - origin.top, box.right - origin.left, box.bottom - origin.top])
    }
  }
  const clear = (box) => box[0] >= 2 && box[2] <= w - 2 && box[1] >= 2 && box[3] <= h - 2 && taken.every(
    (each) => box[2] <= each[0] || box[0] >= each[2] || box[3] <= each[1] || box[1] >= each[3])

  // How many of the strongest arrows a box covers; the update counts for many.
  const across = (value) => (value - X.start) / (X.end - X.start) * w
  const down = (value) => (Y.end - value) / (Y.end - Y.start) * h
  const drawn = (name) => figure.renderers.find((each) => each.name === name)?.data_source.data ?? {x: [], y: []}
  const tips = (name) => Array.from(drawn(name).x, (at, i) => [across(at), down(drawn(name).y[i])])
  const arrows = tips("cloud").slice(-600), heavy = [...tips("update"), ...tips("whole")], [x0, y0] = [across(0), down(0)]
  const crosses = ([left, top, right, bottom], [x1, y1]) => {
    // The part of the arrow, as shares of its length, that lies between the box's sides, and between top and bottom.
    let [from, to] = [0, 1]
    for (const [start, end, low, high] of [[x0, x1, left, right], [y0, y1, top, bottom]]) {
      if (start === end) {
        if (start < low || start > high) return false
        continue
      }
      const [one, other] = [(low - start) / (end - start), (high - start) / (end - start)]
      from = Math.max(from, Math.min(one, other))
      to = Math.min(to, Math.max(one, other))
    }
    return from <= to
  }
  const covered = (box) => arrows.filter((tip) => crosses(box, tip)).length
    + 200 * heavy.filter((tip) => crosses(box, tip)).length

  // Outward of the tip and near its height if there is room; else where the fewest arrows are covered: further up or
  // down, at the picture's edge, or inward.
  const heights = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6]
  const places = Array.from(text, (each, i) => {
    const at = across(x[i]), level = down(y[i]), out = x[i] >= 0
    const long = canvas.measureText(each).width + 4
    const sides = [out ? at + gap : at - gap - long, out ? w - 2 - long : 2, out ? at - gap - long : at + gap]
    let best = null
    sides.forEach((from, side) => {
      for (const step of heights) {
        const middle = level + step * line
        const box = [from, middle - line / 2, from + long, middle + line / 2]
        if (!clear(box)) continue
        const cost = covered(box) + 2 * Math.abs(step) + 4 * side
        if (best === null || cost < best.cost) best = {cost, box, place: [from - at, step * line]}
      }
    })
    if (best === null) return null
    taken.push(best.box)
    return best.place
  })
  const now = {
    dx: places.map((place) => place?.[0] ?? 1e5),
    dy: places.map((place) => place?.[1] ?? 0),
  }
  const same = (one, other) => one.every((each, i) => each === other[i])
  if (!(same(now.dx, dx) && same(now.dy, dy))) words.data = {...words.data, ...now}
}
place()
// The captions change with the picture, and a little after it.
clearTimeout(figure.gradcloud_room)
figure.gradcloud_room = setTimeout(place, 150)
