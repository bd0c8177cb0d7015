// Keys that act on the whole page. A control that has the focus keeps its own keys.

const TAKES_KEYS = "input, select, textarea, dialog, [contenteditable]:not([contenteditable=false]), [role=slider], "
  + "[role=grid], [role=listbox], [role=option], [role=textbox], [role=combobox], [role=spinbutton], [role=menu], [role=tree]"
const TAKES_ARROWS = "[role=tab], [role=tablist], [role=radiogroup], [role=toolbar]"
const TAKES_SPACE = "button, summary, [role=button], [role=tab], [role=switch], [role=checkbox]"
const MOVES = ["ArrowLeft", "ArrowRight", "Home", "End"]
const PAUSE = 200 // milliseconds between two acts of a key that is held
const OPENING = 500 // milliseconds from one preset to the next
const STORED = "gradcloud-keys"

// In a frame without a storage of its own, what is chosen holds until the page is left.
function stored() {
  try { return window.localStorage.getItem(STORED) !== "off" } catch { return true }
}
function store(on) {
  try { window.localStorage.setItem(STORED, on ? "on" : "off") } catch { /* see above */ }
}

// Every root of the page: components live in shadow roots, into which no selector looks.
function modal(root = document) {
  if (root.querySelector("dialog:modal")) return true
  return [...root.querySelectorAll("*")].some((each) => each.shadowRoot && modal(each.shadowRoot))
}

function scrolls(element) {
  if (!(element instanceof HTMLElement) || element === document.body || element === document.documentElement) return false
  const more = element.scrollHeight > element.clientHeight || element.scrollWidth > element.clientWidth
  return more && /auto|scroll/.test(getComputedStyle(element).overflow)
}

export function render({model}) {
  let on = stored()
  const list = (heading, shortcuts) => element("section", {}, element("h3", {}, heading),
    element("table", {}, ...shortcuts.map(({said, what}) => element("tr", {},
      element("th", {scope: "row"}, element("kbd", {}, said)), element("td", {}, what)))))
  const presets = model.shortcuts.filter(({act}) => act.startsWith("preset "))
  const others = model.shortcuts.filter((each) => !presets.includes(each))
  const lists = element("div", {class: "lists"}, list("What is on show", others))
  if (presets.length) lists.append(list("Presets", presets))

  const check = element("input", {type: "checkbox"})
  check.checked = on
  check.addEventListener("change", () => { on = check.checked; store(on) })
  const close = element("button", {type: "button", class: "close"}, "Close")
  const dialog = element("dialog", {"aria-labelledby": "keys"},
    element("div", {class: "head"}, element("h2", {id: "keys"}, "Keys"), close), lists,
    element("label", {}, check, "Keys act on the page"),
    element("p", {class: "small"}, "A slider, menu or field that has the focus keeps its keys to itself; Esc leaves it."))
  close.addEventListener("click", () => dialog.close())
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close() })
  const open = () => { if (!dialog.open) dialog.showModal() }

  const shortcuts = new Map(model.shortcuts.map((each) => [each.key, each]))
  let acted = 0, opened = -OPENING, waiting = null, timer = null
  const send = (act) => {
    clearTimeout(timer)
    const before = waiting
    waiting = null
    if (act.startsWith("preset ")) {
      // A preset replaces all that is on show: of several that are pressed at once only the last is worth its time.
      const rest = opened + OPENING - performance.now()
      if (rest > 0) {
        waiting = act
        timer = setTimeout(() => send(act), rest)
        return
      }
      opened = performance.now()
    } else if (before) model.send_msg({act: before})
    model.send_msg({act})
  }
  const pressed = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    const [target, ...around] = event.composedPath()
    const inside = (selector) => [target, ...around].some((each) => each.matches?.(selector))
    if (event.key === "Escape" && target.matches?.("input, select, textarea") && !inside("dialog")) target.blur()
    // In a frame, keys are the other page's until somebody presses into this one.
    const {embed, armed} = document.documentElement.dataset
    if (embed !== undefined && armed === undefined) return
    const letter = event.key.length === 1 && event.key !== " "
    const shortcut = shortcuts.get(letter ? event.key.toLowerCase() : event.key)
    if (!shortcut || !on || (event.shiftKey && !letter)) return
    if (inside(TAKES_KEYS) || (event.key === " " && inside(TAKES_SPACE))) return
    if (MOVES.includes(event.key) && (inside(TAKES_ARROWS) || scrolls(target))) return
    if (modal()) return
    event.preventDefault()
    if (event.repeat && !(shortcut.repeats && event.timeStamp - acted >= PAUSE)) return
    acted = event.timeStamp
    if (shortcut.act === "help") open()
    else send(shortcut.act)
  }
  document.addEventListener("keydown", pressed)
  window.addEventListener("gradcloud-keys", open)
  model.on("remove", () => {
    clearTimeout(timer)
    document.removeEventListener("keydown", pressed)
    window.removeEventListener("gradcloud-keys", open)
  })
  return dialog
}
