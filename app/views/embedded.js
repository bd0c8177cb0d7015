// The page as a guest in another: wheel and keys are the other page's until somebody presses into this one, and nothing
// plays that nobody can see. `data-armed` and `data-unseen` on the document say how that stands.

const SHOWN = 2200 // milliseconds that a hint stays
const BEAT = 1000
// Milliseconds without a frame drawn, after which nobody can see it: a frame that is not displayed draws none, and its
// observer may not be told.
const STALLED = 3000

export function render({model}) {
  const root = document.documentElement
  const hint = element("div", {class: "hint", role: "status"})
  hint.hidden = true
  let timer = null
  const say = (words) => {
    hint.textContent = words
    hint.hidden = false
    clearTimeout(timer)
    timer = setTimeout(() => { hint.hidden = true }, SHOWN)
  }

  const armed = () => root.dataset.armed !== undefined
  const arm = () => {
    if (armed()) return
    root.dataset.armed = ""
    say("keys and wheel act here; Esc gives them back")
  }
  const disarm = () => {
    delete root.dataset.armed
    hint.hidden = true
  }
  const within = (event, selector) => event.composedPath().some((each) => each.matches?.(selector))
  const pressed = (event) => { if (event.isTrusted) arm() }
  // A finger that scrolls the page around has not pressed into this one.
  const cancelled = (event) => { if (event.pointerType === "touch") disarm() }
  const turned = (event) => {
    if (armed() || !within(event, ".plane")) return
    // Unheard, and so not prevented: the page around scrolls.
    event.stopPropagation()
    say("press here to zoom with the wheel")
  }
  const left = (event) => {
    if (event.key !== "Escape" || !armed() || within(event, "dialog, input, select, textarea")) return
    disarm()
    document.activeElement?.blur()
    if (window.parent !== window) window.parent.focus()
  }

  let sighted = false, stalled = false, asked = null
  const tell = () => {
    const unseen = !sighted || stalled
    if (unseen === (root.dataset.unseen !== undefined)) return
    if (unseen) root.dataset.unseen = ""
    else delete root.dataset.unseen
    window.dispatchEvent(new CustomEvent("gradcloud-seen"))
  }
  const observer = new IntersectionObserver((entries) => {
    const {width, height} = entries.at(-1).intersectionRect
    sighted = width > 0 && height > 0
    tell()
  })
  const beat = () => {
    if (asked === null) {
      asked = performance.now()
      requestAnimationFrame(() => {
        asked = null
        stalled = false
        tell()
      })
    } else if (performance.now() - asked > STALLED) {
      stalled = true
      tell()
    }
  }
  const beats = setInterval(beat, BEAT)
  tell()
  observer.observe(root)

  const options = {capture: true, passive: true}
  window.addEventListener("pointerdown", pressed, options)
  window.addEventListener("pointercancel", cancelled, options)
  window.addEventListener("wheel", turned, options)
  window.addEventListener("keydown", left)
  window.addEventListener("blur", disarm)
  model.on("remove", () => {
    clearTimeout(timer)
    clearInterval(beats)
    observer.disconnect()
    window.removeEventListener("pointerdown", pressed, options)
    window.removeEventListener("pointercancel", cancelled, options)
    window.removeEventListener("wheel", turned, options)
    window.removeEventListener("keydown", left)
    window.removeEventListener("blur", disarm)
  })
  return hint
}
