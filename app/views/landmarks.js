// Landmarks of the page's parts, and links past the controls. A link's address could not reach into a shadow root.

export function render({model}) {
  const box = document.createElement("nav")
  box.setAttribute("aria-label", "Skip")
  const around = () => box.getRootNode().host?.getRootNode()
  const part = (name) => around()?.querySelector(`:host > .${name}, .${name}`)

  const name = () => {
    for (const [kind, role, words] of model.parts) {
      const found = part(kind)
      if (!found || found.getAttribute("role") === role) continue
      found.setAttribute("role", role)
      found.setAttribute("aria-label", words)
    }
  }
  box.append(...model.skips.map(([kind, words]) => {
    const link = document.createElement("a")
    link.href = `#${kind}`
    link.textContent = words
    link.addEventListener("click", (event) => {
      event.preventDefault()
      const found = part(kind)
      if (!found) return
      found.tabIndex = -1
      found.focus()
      found.scrollIntoView({block: "nearest"})
    })
    return link
  }))
  // The parts come as they are built, and again when the page's layout changes.
  const changed = new MutationObserver(name)
  model.on("after_render", () => {
    name()
    changed.observe(around(), {childList: true})
  })
  model.on("remove", () => changed.disconnect())
  return box
}
