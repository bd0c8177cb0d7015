// The head of the page: the name, the presets, a preset saved to or loaded from a file, the other pages, the theme.

function button(words, title, act) {
  const made = element("button", {type: "button", title}, words)
  made.addEventListener("click", act)
  return made
}

// So that a reload, or the address sent to somebody else, shows the same.
function readdress(key, value) {
  const url = new URL(window.location.href)
  if (value) url.searchParams.set(key, value)
  else url.searchParams.delete(key)
  if (url.href !== window.location.href) window.history.replaceState(window.history.state, "", url)
}

// A page beside this one, so that the run on this one goes on.
function beside(words, title) {
  return element("a", {target: "_blank", rel: "noopener", title: `${title}; opens beside this page`}, words)
}

function download(text, filename) {
  const href = URL.createObjectURL(new Blob([text], {type: "application/json"}))
  element("a", {href, download: filename}).click()
  setTimeout(() => URL.revokeObjectURL(href), 1000)
}

async function send(model, chosen) {
  // A file over the limit is never sent: it could be larger than the connection takes.
  if (chosen.size > model.limit) {
    model.send_msg({file: chosen.name, size: chosen.size})
    return
  }
  let binary = ""
  for (const byte of new Uint8Array(await chosen.arrayBuffer())) binary += String.fromCharCode(byte)
  model.send_msg({file: chosen.name, size: chosen.size, base64: btoa(binary)})
}

export function render({model}) {
  const presets = element("select", {"aria-label": "Preset"})
  presets.addEventListener("change", () => model.send_msg({open: presets.value}))

  const file = element("input", {
    type: "file", accept: ".json,application/json", class: "sr", tabindex: -1, "aria-label": "Preset file",
  })
  file.addEventListener("change", () => {
    const [chosen] = file.files
    file.value = ""
    if (chosen) send(model, chosen)
  })
  const save = button("Save", "save these settings as a preset, a JSON file", () => model.send_msg({save: true}))
  const load = button("Load…", "open a preset from a JSON file", () => file.click())
  model.on("msg:custom", ({text, filename}) => download(text, filename))

  const compare = beside("Compare", "this preset and another, side by side in step")
  const claims = beside("Claims", "what was measured of claims about post-training")
  const tell = (name) => () => window.dispatchEvent(new CustomEvent(name, {detail: {}}))
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
    const asked = new URL(window.location.href).searchParams.get("preset")
    if (model.current !== (asked ?? model.first)) readdress("preset", model.current)
  }
  const link = () => {
    const shade = model.theme === "light" ? {} : {theme: model.theme}
    compare.href = `?${new URLSearchParams({page: "compare", with: model.compared, ...shade})}`
    claims.href = `?${new URLSearchParams({page: "claims", ...shade})}`
  }
  const showTheme = () => {
    themes.value = model.theme
    document.documentElement.dataset.theme = model.theme
    readdress("theme", model.theme === "light" ? "" : model.theme)
    link()
  }
  model.on(["current", "title"], showPreset)
  model.on("compared", link)
  model.on("theme", showTheme)
  showPreset()
  showTheme()
  return element("div", {class: "menu"}, element("div", {class: "bar"},
    element("h1", {}, "gradcloud"), element("span", {class: "what"}, "every arrow is a gradient, measured"),
    element("label", {class: "preset"}, "Preset", presets), element("div", {class: "files"}, save, load, share, file),
    element("nav", {"aria-label": "Pages"}, compare, claims), glossary,
    element("label", {class: "theme"}, "Theme", themes), keys))
}
