// The head of the page: the name, the presets, what saves, loads and shares, the other pages, the theme.

function button(words, title, act) {
  const made = element("button", {type: "button", title}, words)
  made.addEventListener("click", act)
  return made
}

// A page beside this one, so that the run on this one goes on.
function beside(words, title) {
  return element("a", {target: "_blank", rel: "noopener", title: `${title}; opens beside this page`}, words)
}

// Two kinds of file to save, below the button that offers them.
function saving(tell) {
  const choice = (kind, words, title) => {
    const made = button(words, title, () => { list.hidePopover(); tell("gradcloud-save", {kind})() })
    return made
  }
  const list = element("div", {popover: "", id: "saving", role: "group", "aria-label": "Save as"},
    choice("preset", "Preset", "these settings and the lesson, a JSON file"),
    choice("session", "Session", "the log as well, each event to return to, a JSON file"))
  const open = element("button", {type: "button", popovertarget: "saving", title: "save a preset or the session as a file"}, "Save")
  list.addEventListener("beforetoggle", () => {
    const {left, bottom} = open.getBoundingClientRect()
    list.style.left = `${left}px`
    list.style.top = `${bottom + 2}px`
  })
  return [open, list]
}

// What of the address the page of comparison takes over for its first cell, once the address is at this preset.
function settings(preset) {
  const asked = new URLSearchParams(window.location.search)
  const view = asked.get("preset") === preset ? asked.get("view") ?? "" : ""
  const [version, ...said] = view.split(";").filter((each) => !/^(log|side|token)=/.test(each))
  return said.length ? `&view-a=${[version, ...said].map(encodeURIComponent).join(";").replaceAll("%3D", "=")}` : ""
}

export function render({model}) {
  const presets = element("select", {"aria-label": "Preset"})
  presets.addEventListener("change", () => model.send_msg({open: presets.value}))

  const tell = (name, detail = {}) => () => window.dispatchEvent(new CustomEvent(name, {detail}))
  const load = button("Load…", "open a preset, a session or an exported file; one may also be dropped on the page or pasted",
    tell("gradcloud-load"))

  const compare = beside("Compare", "this preset and another, side by side in step")
  const claims = beside("Claims", "what was measured of claims about post-training")
  const glossary = button("Glossary", "every word and symbol of this page", tell("gradcloud-glossary"))
  const share = button("Share", "the link, a frame for a slide, pictures, numbers, films and lessons of what is on show",
    tell("gradcloud-share"))
  const keys = button("?", model.keys.title, tell("gradcloud-keys"))
  keys.setAttribute("aria-label", "Keys")
  keys.setAttribute("aria-keyshortcuts", model.keys.aria)

  const themes = element("select", {"aria-label": "Theme"}, ...model.themes.map((name) => new Option(name, name)))
  themes.addEventListener("change", () => model.send_msg({theme: themes.value}))

  const showPreset = () => {
    const option = ([value, title, key]) => new Option(key ? `${title} (${key})` : title, value)
    const groups = model.families.map(([label, members]) => element("optgroup", {label}, ...members.map(option)))
    presets.replaceChildren(...groups, ...(model.current === "" ? [new Option(model.title, "")] : []))
    presets.value = model.current
  }
  const link = () => {
    const shade = model.theme === "light" ? {} : {theme: model.theme}
    compare.href = `?${new URLSearchParams({page: "compare", with: model.compared, ...shade})}${settings(model.current)}`
    claims.href = `?${new URLSearchParams({page: "claims", ...shade})}`
  }
  const showTheme = () => {
    themes.value = model.theme
    document.documentElement.dataset.theme = model.theme
    link()
  }
  // The address has what is on show, by the time that somebody gets to a link.
  for (const coming of ["pointerenter", "focus"]) compare.addEventListener(coming, link)
  model.on(["current", "title"], showPreset)
  model.on("compared", link)
  model.on("theme", showTheme)
  showPreset()
  showTheme()
  return element("div", {class: "menu"}, element("div", {class: "bar"},
    element("h1", {}, "gradcloud"), element("span", {class: "what"}, "every arrow is a gradient, measured"),
    element("label", {class: "preset"}, "Preset", presets), element("div", {class: "files"}, ...saving(tell), load, share),
    element("nav", {"aria-label": "Pages"}, compare, claims), glossary,
    element("label", {class: "theme"}, element("span", {}, "Theme"), themes), keys))
}
