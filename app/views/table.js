// The picture as tables: filled when it is opened, the arrows a page at a time.

function filled({caption, columns, rows}) {
  const head = element("tr", {}, ...columns.map((words) => element(words ? "th" : "td", words ? {scope: "col"} : {}, words)))
  const body = rows.map(([first, ...rest]) => element("tr", {}, element("th", {scope: "row"}, first),
    ...rest.map((cell) => element("td", {}, cell))))
  return element("table", {}, element("caption", {}, caption), element("thead", {}, head),
    element("tbody", {}, ...body))
}

// A region that scrolls sideways is reached by the keyboard too.
const framed = (table, label) => element("div", {class: "wide", tabindex: 0, role: "region", "aria-label": label}, table)

export function render({model}) {
  const small = element("div", {class: "small-ones"})
  const arrows = element("div", {class: "arrows"})
  const before = element("button", {type: "button"}, "Previous page")
  const after = element("button", {type: "button"}, "Next page")
  const where = element("span", {role: "status"})
  const pager = element("div", {class: "pager", role: "group", "aria-label": "Pages of the arrows"}, before, after, where)
  const fold = element("details", {}, element("summary", {}, "The picture as a table"), small, arrows, pager)

  fold.addEventListener("toggle", () => model.send_msg({open: fold.open}))
  before.addEventListener("click", () => model.send_msg({page: model.arrows.number - 1}))
  after.addEventListener("click", () => model.send_msg({page: model.arrows.number + 1}))

  const refresh = () => {
    small.replaceChildren(...model.tables.map((each) => framed(filled(each), each.caption)))
    const page = model.arrows
    pager.hidden = page.table === undefined
    if (pager.hidden) return
    arrows.replaceChildren(framed(filled(page.table), page.table.caption))
    // A disabled button would lose the focus, and with it the keyboard's place.
    before.setAttribute("aria-disabled", page.number === 0)
    after.setAttribute("aria-disabled", page.number === page.pages - 1)
    const words = `${page.where}; page ${page.number + 1} of ${page.pages}`
    if (where.textContent !== words) where.textContent = words
  }
  model.on(["tables", "arrows"], refresh)
  refresh()
  return element("section", {class: "as-table", "aria-label": "The picture as a table"}, fold)
}
