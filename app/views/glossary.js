// The glossary: a native dialog, which holds the focus and gives it back; a search box; an address for each entry.

const ADDRESS = /^#term-([a-z0-9-]{1,60})$/

export function render({model}) {
  const search = element("input", {type: "search", id: "glossary-search", autocomplete: "off", spellcheck: "false"})
  const count = element("span", {class: "count", role: "status"})
  const close = element("button", {type: "button"}, "Close")
  const list = element("dl", {tabindex: 0, "aria-label": "Words"})
  const dialog = element("dialog", {"aria-labelledby": "glossary-title"},
    element("div", {class: "head"}, element("h2", {id: "glossary-title"}, "Glossary"),
      element("label", {for: "glossary-search"}, "Find", search), count, close), list)
  let asked = false, wanted = ""

  const entry = ({key, term, also, text, formula, unit, where, source}) => {
    const name = element("dt", {id: `term-${key}`, tabindex: -1}, element("b", {}, term))
    if (also.length) name.append(" ", element("span", {class: "also"}, also.join(" · ")))
    const link = element("a", {href: `#term-${key}`, "aria-label": `address of the entry ${term}`}, "#")
    link.addEventListener("click", (event) => { event.preventDefault(); address(key) })
    name.append(link)
    const said = element("dd", {}, element("p", {}, text))
    if (formula) {
      const drawn = element("div", {class: "formula"})
      // The program's own formulas; nothing of a visitor's gets here.
      drawn.innerHTML = formula
      said.append(drawn)
    }
    const facts = [unit && `Unit: ${unit}.`, `On the page: ${where}.`, source && `Source: ${source}.`].filter(Boolean)
    said.append(element("p", {class: "facts"}, facts.join(" ")))
    const box = element("div", {class: "entry", "data-key": key}, name, said)
    box.sought = [term, ...also, text].join(" ").toLowerCase()
    // A word that begins with what is sought comes before one that only mentions it.
    box.names = [term, ...also].map((each) => each.toLowerCase())
    return box
  }
  const filter = () => {
    const sought = search.value.trim().toLowerCase()
    let shown = 0
    for (const box of list.children) {
      box.hidden = !box.sought.includes(sought)
      box.style.order = sought && !box.names.some((name) => name.startsWith(sought)) ? 1 : 0
      shown += !box.hidden
    }
    const total = list.children.length
    list.scrollTop = 0
    count.textContent = !total ? "fetching the words" : sought ? `${shown} of ${total}` : `${total} words`
  }
  const address = (key) => {
    const url = new URL(window.location.href)
    url.hash = key ? `term-${key}` : ""
    const text = key ? url.href : url.href.replace(/#$/, "")
    if (text !== window.location.href) window.history.replaceState(window.history.state, "", text)
  }
  const go = () => {
    if (!wanted || !list.children.length) return
    const box = [...list.children].find((each) => each.dataset.key === wanted)
    for (const each of list.children) each.classList.toggle("here", each === box)
    if (box) {
      box.scrollIntoView({block: "start"})
      box.querySelector("dt").focus({preventScroll: true})
      address(wanted)
    }
    wanted = ""
  }
  const open = (key) => {
    wanted = key ?? ""
    if (!asked) {
      asked = true
      model.send_msg({wanted: true})
    }
    search.value = ""
    filter()
    if (!dialog.open) dialog.showModal()
    if (wanted) go()
    else search.focus()
  }
  model.on("msg:custom", ({entries}) => {
    list.replaceChildren(...entries.map(entry))
    filter()
    go()
  })
  search.addEventListener("input", filter)
  close.addEventListener("click", () => dialog.close())
  dialog.addEventListener("close", () => address(""))
  // Beside the box is the page, and a click on the page leaves the dialog.
  dialog.addEventListener("click", (event) => { if (event.composedPath()[0] === dialog) dialog.close() })
  // What is typed here means nothing to the page. A search box would take Escape for itself.
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation()
    if (event.key !== "Escape") return
    event.preventDefault()
    dialog.close()
  })

  const clicked = (event) => {
    const from = event.composedPath().find((each) => each.dataset?.term !== undefined)
    if (from) open(from.dataset.term)
  }
  const told = (event) => open(typeof event.detail === "string" ? event.detail : event.detail?.term)
  const addressed = () => {
    const found = ADDRESS.exec(window.location.hash)
    if (found) open(found[1])
  }
  document.addEventListener("click", clicked)
  window.addEventListener("gradcloud-glossary", told)
  window.addEventListener("hashchange", addressed)
  // A dialog takes the focus, which in a frame is the other page's.
  if (document.documentElement.dataset.embed === undefined) model.on("after_render", addressed)
  model.on("remove", () => {
    document.removeEventListener("click", clicked)
    window.removeEventListener("gradcloud-glossary", told)
    window.removeEventListener("hashchange", addressed)
  })
  return dialog
}
