// The readings side by side: a real table, so that a screen reader says which cell and which reading a number is of.

export function render({model}) {
  const head = element("thead"), body = element("tbody")
  const why = element("p", {class: "why"})
  const caption = element("caption", {class: "sr"}, "Readings of each cell, and how they stand to A's")
  const table = element("table", {}, caption, head, body)

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
    // Each reason once, with the places that it explains.
    const reasons = new Map()
    for (const {name, values} of model.rows) {
      values.forEach(({text, why: reason}, i) => {
        if (reason && text === "–") reasons.set(reason, [...(reasons.get(reason) ?? []), [model.letters[i], name]])
      })
    }
    why.textContent = [...reasons].map(([reason, places]) => {
      const [letter, name] = places[0], rest = places.length - 1
      return `${letter}, ${name.toLowerCase()}${rest ? ` and ${rest} more` : ""}: ${reason}`
    }).join("; ")
  }
  model.on(["letters", "rows"], refresh)
  refresh()
  return element("div", {class: "versus"}, table, why)
}
