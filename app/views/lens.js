// The token lens: shades, points and moves between tokens; the server is told only what is picked out and what is wanted.
// One tab stop: the arrow keys move between tokens. Pointing stays in the browser, between this and the picture.

const STRONGEST_SHADE = 50
const PULLS_AT_FIRST = 3

export function render({model}) {
  const by = element("select", {id: "lens-by"}, ...model.quantities.map(([key, words]) => new Option(words, key)))
  const legend = element("div", {class: "legend", role: "img"})
  const missing = element("p", {class: "missing"})
  const list = element("ol", {class: "pulls"})
  const why = element("p", {class: "missing"})
  const all = element("button", {type: "button", class: "all", "aria-expanded": false})
  const fold = element("details", {open: ""}, element("summary", {}, "Strongest pulls"), list, all, why)
  const help = element("p", {class: "sr", id: "lens-help"},
    "Arrow keys move between tokens and answers, Enter picks a token out, Escape lets it go.")
  const box = element("div", {class: "answers", role: "listbox", "aria-label": "Tokens of the answers",
    "aria-describedby": "lens-help"})
  const counted = element("span", {class: "counted"})
  const more = element("button", {type: "button", class: "more"}, "More answers")
  const scroller = element("div", {class: "scroll"}, fold, help, box, element("div", {class: "foot"}, counted, more))
  const pointedAt = element("p", {class: "pointed-at"})
  const kept = element("p", {class: "kept", role: "status"})
  const root = element("section", {class: "tokens", "aria-label": "Tokens"},
    element("div", {class: "by"}, element("label", {for: "lens-by"}, "Shade by"), by), legend, missing, scroller,
    element("div", {class: "told"}, pointedAt, kept))

  let rows = []
  let tokens = []
  let bySite = new Map()
  let pointed = null
  let asked = 0

  const say = (message) => model.send_msg({batch: model.batch, ...message})
  const dispatch = (site) => window.dispatchEvent(new CustomEvent("gradcloud-point", {detail: {site, from: "lens"}}))
  const pick = (site) => say({pick: site === model.selected ? -1 : site})

  // Within the lens alone: scrollIntoView would move the page as well.
  const reveal = (token) => {
    const inner = token.getBoundingClientRect(), outer = scroller.getBoundingClientRect()
    if (inner.top < outer.top || inner.bottom > outer.bottom)
      scroller.scrollTop += (inner.top + inner.bottom - outer.top - outer.bottom) / 2
  }

  const mark = (site) => {
    bySite.get(pointed)?.classList.remove("pointed")
    pointed = site
    bySite.get(site)?.classList.add("pointed")
    const token = bySite.get(site)
    pointedAt.textContent = token ? `${token.textContent}: ${token.dataset.said}` : ""
  }
  const point = (site) => {
    if (site === pointed) return
    mark(site)
    dispatch(site)
  }
  const heard = ({detail}) => {
    if (!detail || detail.from === "lens" || !root.checkVisibility()) return
    const site = Number.isInteger(detail.site) ? detail.site : null
    mark(site)
    clearTimeout(asked)
    if (site === null) return
    const token = bySite.get(site)
    if (token) reveal(token)
    else asked = setTimeout(() => say({where: site}), 120)
  }
  window.addEventListener("gradcloud-point", heard)
  model.on("remove", () => window.removeEventListener("gradcloud-point", heard))
  model.on("msg:custom", ({site, words}) => {
    if (site === pointed) pointedAt.textContent = words
  })

  const siteOf = (event) => {
    const found = event.target.closest("[data-site]")
    return found ? Number(found.dataset.site) : null
  }
  for (const area of [box, list]) {
    area.addEventListener("mouseover", (event) => point(siteOf(event)))
    area.addEventListener("mouseleave", () => point(null))
    area.addEventListener("focusin", (event) => point(siteOf(event)))
    area.addEventListener("focusout", () => point(null))
    area.addEventListener("click", (event) => {
      const site = siteOf(event)
      if (site !== null) pick(site)
    })
  }

  const stop = (token) => {
    for (const each of tokens) each.tabIndex = each === token ? 0 : -1
  }
  const go = (token) => {
    if (!token) return
    stop(token)
    token.focus({preventScroll: true})
    reveal(token)
  }
  box.addEventListener("keydown", (event) => {
    const token = event.target.closest(".token")
    if (!token || event.altKey || event.metaKey) return
    const across = rows.findIndex((row) => row.includes(token)), at = rows[across].indexOf(token)
    const along = (row, i) => row?.[Math.max(0, Math.min(i, row.length - 1))]
    const beyond = (step) => {
      for (let i = across + step; i >= 0 && i < rows.length; i += step) if (rows[i].length) return along(rows[i], at)
    }
    const ends = event.ctrlKey ? tokens : rows[across]
    const acts = {
      ArrowRight: () => go(along(rows[across], at + 1)), ArrowLeft: () => go(along(rows[across], at - 1)),
      ArrowDown: () => go(beyond(1)), ArrowUp: () => go(beyond(-1)),
      Home: () => go(ends[0]), End: () => go(ends.at(-1)),
      Enter: () => pick(Number(token.dataset.site)), " ": () => pick(Number(token.dataset.site)),
      Escape: () => say({pick: -1}),
    }
    const act = acts[event.key]
    if (!act) return
    event.preventDefault()
    event.stopPropagation()
    act()
  })
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && model.selected >= 0 && event.target !== by) {
      event.stopPropagation()
      say({pick: -1})
    }
  })
  more.addEventListener("click", () => say({more: true}))
  all.addEventListener("click", () => {
    all.setAttribute("aria-expanded", all.getAttribute("aria-expanded") !== "true")
    unfold()
  })

  const shade = (marked, value, signed) => {
    marked.classList.remove("with", "against", "plain")
    if (value === null || value === undefined) return
    marked.classList.add(!signed ? "plain" : value < 0 ? "against" : "with")
    marked.classList.toggle("faint", Math.abs(value) < 0.1)
    marked.style.setProperty("--shade", `${(STRONGEST_SHADE * Math.abs(value)).toFixed(1)}%`)
  }
  const paint = () => {
    const column = model.columns[by.value]
    if (!column) return
    const signed = model.signed.includes(by.value)
    tokens.forEach((token, i) => {
      token.dataset.said = column.said[i] ?? ""
      shade(token, column.shades[i], signed)
      token.setAttribute("aria-label", `${token.textContent}, ${token.dataset.said}`)
    })
    legend.replaceChildren(...column.ticks.map(([value, words]) => {
      const swatch = element("i", {})
      shade(swatch, value, signed)
      return element("span", {}, swatch, words)
    }))
    const ends = column.ticks.length > 1 ? `from ${column.ticks[0][1]} to ${column.ticks.at(-1)[1]}` : ""
    legend.setAttribute("aria-label", ends ? `Scale of the shades: ${ends}` : "No scale")
    missing.textContent = column.missing
  }

  const token = (word, site) => {
    if (site === null) return element("span", {class: "bare"}, word)
    const made = element("span", {class: "token", role: "option", tabindex: -1, "data-site": site}, word)
    tokens.push(made)
    rows.at(-1).push(made)
    bySite.set(site, made)
    return made
  }
  const answer = ({place, prompt, words, verdict, facts, pull}) => {
    rows.push([])
    const sign = {right: "✓ right", wrong: "✗ wrong"}[verdict] ?? "partly right"
    const head = element("div", {class: "head", "aria-hidden": "true"}, element("span", {class: "place"}, `${place}`),
      element("b", {class: verdict}, sign), ` ${facts}`, element("span", {class: "pull"}, pull))
    const text = element("div", {class: "text"}, element("span", {class: "prompt", "aria-hidden": "true"}, prompt))
    for (const [word, site] of words) text.append(" ", token(word, site))
    return element("div", {class: "answer", role: "group",
      "aria-label": `answer ${place} to ${prompt} ${verdict}; ${facts}; ${pull}`}, head, text)
  }
  const place = () => {
    const focused = root.getRootNode().activeElement
    const across = rows.findIndex((row) => row.includes(focused)), at = rows[across]?.indexOf(focused)
    rows = []
    tokens = []
    bySite = new Map()
    box.replaceChildren(...model.answers.map(answer))
    counted.textContent = model.counted
    more.hidden = !model.more
    choose()
    paint()
    const again = rows[across]?.[at]
    if (again) go(again)
    if (pointed !== null) mark(bySite.has(pointed) ? pointed : null)
  }
  const choose = () => {
    for (const each of tokens) each.setAttribute("aria-selected", Number(each.dataset.site) === model.selected)
    for (const each of list.querySelectorAll("button"))
      each.setAttribute("aria-pressed", Number(each.dataset.site) === model.selected)
    const {named, phrases} = model.details
    if (named) kept.replaceChildren(element("b", {}, named), `: ${phrases.join("; ")}.`)
    else kept.replaceChildren("Click a token, or press Enter on it, to keep its numbers here.")
    const chosen = bySite.get(model.selected)
    if (!tokens.some((each) => each.tabIndex === 0) || chosen) stop(chosen ?? tokens[0])
  }
  const unfold = () => {
    const open = all.getAttribute("aria-expanded") === "true"
    Array.from(list.children).forEach((line, i) => { line.hidden = !open && i >= PULLS_AT_FIRST })
    all.hidden = model.pulls.length <= PULLS_AT_FIRST
    all.textContent = open ? "Fewer" : `All ${model.pulls.length}`
  }
  const strongest = () => {
    const focused = Array.from(list.querySelectorAll("button")).indexOf(root.getRootNode().activeElement)
    list.replaceChildren(...model.pulls.map(({site, word, after, rest, against}) => {
      const button = element("button", {type: "button", "data-site": site}, element("b", {}, word),
        ...(after ? [" after ", element("q", {}, after)] : [" at the beginning"]), `: ${rest}`)
      button.classList.toggle("against", against)
      return element("li", {}, button)
    }))
    unfold()
    if (focused >= 0) list.querySelectorAll("button")[focused]?.focus({preventScroll: true})
    why.textContent = model.why && `No token pulls: ${model.why}.`
  }
  const chosen = () => {
    choose()
    const it = bySite.get(model.selected)
    const active = root.getRootNode().activeElement
    if (it && !list.contains(active)) reveal(it)
  }

  by.addEventListener("change", paint)
  // The answers come together with their columns: they are placed once, when all are there.
  let due = false
  model.on(["answers", "columns", "counted", "more"], () => {
    if (due) return
    due = true
    queueMicrotask(() => { due = false; place() })
  })
  model.on(["pulls", "why"], strongest)
  model.on(["selected", "details"], chosen)
  model.on("stale", () => root.classList.toggle("stale", model.stale))
  strongest()
  place()
  return root
}
