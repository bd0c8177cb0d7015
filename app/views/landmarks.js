// Landmarks of the page's parts, and links past the controls: no address reaches into a shadow root.

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
    const skip = document.createElement("button")
    skip.type = "button"
    skip.setAttribute("role", "link")
    skip.textContent = words
    skip.addEventListener("click", () => {
      const found = part(kind)
      if (!found) return
      found.tabIndex = -1
      found.focus()
      found.scrollIntoView({block: "nearest"})
    })
    return skip
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
