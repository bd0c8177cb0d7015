// Tabs, with the arrow keys that a tab list has.

export function render({model}) {
  const box = document.createElement("div")
  box.className = "tabs"
  box.setAttribute("role", "tablist")
  box.setAttribute("aria-label", "Beside the picture")
  const tabs = model.tabs.map(([key, words]) => {
    const tab = document.createElement("button")
    tab.type = "button"
    tab.setAttribute("role", "tab")
    tab.textContent = words
    tab.dataset.key = key
    tab.addEventListener("click", () => model.send_msg({chosen: key}))
    return tab
  })
  box.append(...tabs)
  box.addEventListener("keydown", (event) => {
    const move = {ArrowRight: 1, ArrowLeft: -1}[event.key]
    if (!move) return
    event.preventDefault()
    event.stopPropagation()
    const at = tabs.indexOf(event.target)
    const next = tabs[(at + move + tabs.length) % tabs.length]
    next.focus()
    next.click()
  })
  const refresh = () => {
    for (const tab of tabs) {
      const chosen = tab.dataset.key === model.chosen
      tab.setAttribute("aria-selected", chosen)
      tab.tabIndex = chosen ? 0 : -1
    }
  }
  model.on("chosen", refresh)
  refresh()
  return box
}
