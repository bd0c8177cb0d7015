// The readings side by side: a real table, so that a screen reader says which cell and which reading a number is of.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children)
  return made
}

export function render({model}) {
  const head = element("thead"), body = element("tbody")
  const why = element("p", {class: "why"})
  const table = element("table", {}, element("caption", {class: "sr"}, "Readings of each cell, and how they stand to A's"),
    head, body)

  const value = ({text, word, against, why}) => {
    const cell = element("td")
    const parts = [["number", text], ["word", word], ["against", against]].filter(([, words]) => words)
    cell.append(...parts.flatMap(([name, words]) => [element("span", {class: name}, words), " "]))
    if (why) {
      cell.title = why
      cell.append(element("span", {class: "sr"}, why))
    }
    return cell
  }
  const refresh = () => {
    table.style.setProperty("--cells", model.letters.length)
    head.replaceChildren(element("tr", {}, element("th", {scope: "col"}, "Reading"),
      ...model.letters.map((letter) => element("th", {scope: "col"}, letter))))
    body.replaceChildren(...model.rows.map(({name, help, values}) => {
      const heading = element("th", {scope: "row"}, name)
      heading.title = help
      return element("tr", {}, heading, ...values.map(value))
    }))
    const reasons = model.rows.flatMap(({name, values}) => values.map((each, i) =>
      each.why && each.text === "–" ? [each.why, `${model.letters[i]}: ${name.toLowerCase()}`] : null).filter(Boolean))
    const said = new Map()
    for (const [reason, where] of reasons) said.set(reason, [...(said.get(reason) ?? []), where])
    why.textContent = [...said].map(([reason, places]) =>
      `– ${places.length > 3 ? `${places[0][0]}` : places.join(", ")}: ${reason}`).join(". ")
  }
  model.on(["letters", "rows"], refresh)
  refresh()
  return element("div", {class: "versus"}, table, why)
}
