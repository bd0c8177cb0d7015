// What the plane points at: the arrow under the pointer, or the one whose word the lens points at. It stays with its
// token when the picture changes, and goes when that token does.

const REACH = 8
// Below this, a number stands for one that is not known.
const MISSING = -1e30

export function render({model, view}) {
  const named = (name) => view.model.document.get_model_by_name(name + model.suffix)
  const [plot, arrows, pointed] = ["plane", "arrows", "pointed"].map(named)
  let row = null
  let own = null

  const fill = (i) => {
    const {x, y, whole_x, whole_y, site, before, token} = arrows.data
    row = i === null ? null : {site: site[i], words: `${before[i]} ${token[i]}`}
    const known = (value) => value > MISSING ? value : NaN
    pointed.data = i === null
      ? {x: [], y: [], whole_x: [], whole_y: []}
      : {x: [x[i]], y: [y[i]], whole_x: [known(whole_x[i])], whole_y: [known(whole_y[i])]}
  }
  const at = (site) => {
    const i = site === null ? -1 : arrows.data.site.indexOf(site)
    return i < 0 ? null : i
  }
  const point = (site) => {
    if (site !== (row?.site ?? null)) fill(at(site))
  }
  const renewed = () => {
    if (row === null) return
    const i = at(row.site)
    const same = i !== null && `${arrows.data.before[i]} ${arrows.data.token[i]}` === row.words
    fill(same ? i : null)
  }

  // The strongest arrow, the last in the order of drawing, whose tip is within reach.
  const under = (x, y, reach) => {
    const across = (plot.x_range.end - plot.x_range.start) / plot.inner_width
    for (let i = arrows.data.x.length - 1; i >= 0; i--) {
      if (Math.hypot(arrows.data.x[i] - x, arrows.data.y[i] - y) <= reach * across) return arrows.data.site[i]
    }
    return null
  }
  const hovered = (site) => {
    if (site === own) return
    own = site
    point(site)
    if (model.linked) window.dispatchEvent(new CustomEvent("gradcloud-point", {detail: {site, from: "plane"}}))
  }
  const heard = ({detail}) => {
    if (detail && detail.from !== "plane") point(Number.isInteger(detail.site) ? detail.site : null)
  }

  const coarse = window.matchMedia("(pointer: coarse)").matches ? 2 : 1
  plot.on_event("mousemove", ({x, y}) => hovered(under(x, y, REACH)))
  plot.on_event("mouseleave", () => hovered(null))
  plot.on_event("tap", ({x, y}) => {
    const site = under(x, y, REACH * coarse)
    if (site !== null) model.send_msg({site})
  })
  arrows.properties.data.change.connect(renewed)
  if (model.linked) window.addEventListener("gradcloud-point", heard)
  model.on("remove", () => {
    window.removeEventListener("gradcloud-point", heard)
    arrows.properties.data.change.disconnect(renewed)
  })
}
