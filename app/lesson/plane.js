// The picture of the live page, filled from a recording: what the page's server does there is done here.

async function plane(target, {item, themes, models}, recording) {
  await Bokeh.embed.embed_item(item, target)
  const document_ = Bokeh.documents[0]
  const source = (name) => document_.get_model_by_id(models[name])
  const [figure, head, shaft] = ["plane", "head", "shaft"].map(source), listeners = []
  let cloud = null, arrows = null, theme = themes.light, picked = null

  const widen = () => {
    const {stroke, update, paper} = theme
    source("arrows").data = {...arrows, width: arrows.width.map((width) => width * stroke)}
    head.setv({size: stroke * cloud.head, fill_color: cloud.trace ? paper : update, line_width: stroke * (cloud.trace ? 1.5 : 1)})
    shaft.line_width = stroke * (cloud.trace ? 1.5 : 5)
  }
  const row = () => picked === null ? -1 : arrows.site.indexOf(picked)
  const hover = document_.get_model_by_name("hover")
  const formatters = hover.formatters instanceof Map ? hover.formatters : new Map(Object.entries(hover.formatters))
  const said = (name, i) => formatters.get(`@${name}`).format(arrows[name][i], "", {})
  const pull = (i) => arrows.other[i] === "none" ? arrows.token[i] : `${arrows.token[i]} → ${arrows.raised[i]}`
  // The longest are drawn last.
  const longest = (count) => arrows.x.map((_, i) => i).reverse().slice(0, count)
  const point = () => {
    const known = (value) => value > recording.head.missing / 2 ? value : NaN
    const chosen = row() < 0 ? [] : [row()]
    source("selected").data = {
      x: chosen.map((i) => arrows.x[i]), y: chosen.map((i) => arrows.y[i]), text: chosen.map(pull),
      whole_x: chosen.map((i) => known(arrows.whole_x[i])), whole_y: chosen.map((i) => known(arrows.whole_y[i])),
    }
    const named = [...chosen, ...longest(recording.head.named).filter((i) => !chosen.includes(i))], {noted} = cloud
    source("words").data = {
      x: [...noted.x, ...named.map((i) => arrows.x[i])], y: [...noted.y, ...named.map((i) => arrows.y[i])],
      text: [...noted.text, ...named.map(pull)],
      dx: [...noted.dx, ...named.map(() => 8)], dy: [...noted.dy, ...named.map(() => 0)],
    }
    for (const heard of listeners) heard(chosen.length > 0)
  }

  const shown = {
    // Show a picture; what is picked out stays where the words are the same.
    show(next) {
      if (cloud !== null && next.batch !== cloud.batch) picked = null
      cloud = next
      arrows = recording.arrows(cloud)
      source("unclipped").data = recording.former(cloud)
      source("ring").data = recording.ring(cloud)
      for (const name of ["trail", "update", "whole"]) source(name).data = cloud[name]
      widen()
      point()
    },
    wear(name) {
      theme = themes[name]
      for (const [id, values] of theme.values) document_.get_model_by_id(id).setv(values)
      if (cloud !== null) widen()
    },
    pick(site) {
      picked = picked === site ? null : site
      if (cloud !== null) point()
    },
    picked: () => row() >= 0,
    // What the hover tells of the arrow that is picked out, as HTML, for who has no pointer to hover with.
    card() {
      const i = row(), plain = (word) => word.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)
      return i < 0 ? "" : hover.tooltips.replace(/@(\w+)(\{custom\})?/g, (_, name, custom) => custom
        ? said(name, i) : plain(arrows[name][i]))
    },
    // The longest arrows in words, the longest first.
    longest: (count) => longest(count)
      .map((i) => ({site: arrows.site[i], words: `${pull(i)}, ${said("share", i)} %`, on: arrows.site[i] === picked})),
    onPick: (heard) => { listeners.push(heard) },
    // What lies over the canvas and takes the pointer; built a little after the figure.
    canvas: () => Bokeh.index.find_one(figure)?.canvas_view?.events_el,
  }
  source("scale").data = recording.head.scale
  pointing({
    model: {suffix: "", linked: false, on: () => {}, send_msg: ({site}) => shown.pick(site)},
    view: {model: {document: document_}},
  })
  target.after(fit({model: {suffix: "", scale: "view", on: () => {}}, view: {model: {document: document_}}}))
  return shown
}
