// The head of the page: the name, the presets, and a preset saved to or loaded from a file.

export function render({model}) {
  const box = document.createElement("div")
  box.className = "bar"
  const name = document.createElement("h1")
  name.textContent = "gradcloud"
  const what = document.createElement("span")
  what.className = "what"
  what.textContent = "every arrow is a gradient, measured"

  const label = document.createElement("label")
  label.textContent = "Preset"
  const select = document.createElement("select")
  select.setAttribute("aria-label", "Preset")
  label.append(select)
  select.addEventListener("change", () => model.send_msg({open: select.value}))

  const button = (words, act) => {
    const made = document.createElement("button")
    made.type = "button"
    made.textContent = words
    made.addEventListener("click", act)
    return made
  }
  const file = document.createElement("input")
  file.type = "file"
  file.accept = ".json,application/json"
  file.className = "sr"
  file.tabIndex = -1
  file.setAttribute("aria-label", "Preset file")
  file.addEventListener("change", async () => {
    const [chosen] = file.files
    file.value = ""
    if (!chosen) return
    // A file over the limit is never sent: it could be larger than the connection takes.
    if (chosen.size > model.limit) {
      model.send_msg({file: chosen.name, size: chosen.size})
      return
    }
    const bytes = new Uint8Array(await chosen.arrayBuffer())
    let binary = ""
    for (const byte of bytes) binary += String.fromCharCode(byte)
    model.send_msg({file: chosen.name, size: chosen.size, base64: btoa(binary)})
  })
  const load = button("Load…", () => file.click())
  load.title = "open a preset from a JSON file"
  const claims = document.createElement("a")
  claims.href = "?page=claims"
  // In a page of its own, so that the run on this one goes on.
  claims.target = "_blank"
  claims.rel = "noopener"
  claims.textContent = "Claims"
  claims.title = "what was measured of claims about post-training; opens beside this page"
  const save = button("Save", () => model.send_msg({save: true}))
  save.title = "save these settings as a preset, a JSON file"
  model.on("msg:custom", ({text, filename}) => {
    const link = document.createElement("a")
    link.href = URL.createObjectURL(new Blob([text], {type: "application/json"}))
    link.download = filename
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 1000)
  })

  const refresh = () => {
    const options = model.presets.map(([value, title]) => new Option(title, value))
    if (model.current === "") options.push(new Option(model.title, ""))
    select.replaceChildren(...options)
    select.value = model.current
    // So that a reload, or the address sent to somebody else, opens the same preset.
    const url = new URL(window.location.href), asked = url.searchParams.get("preset")
    if (model.current === (asked ?? model.first)) return
    if (model.current) url.searchParams.set("preset", model.current)
    else url.searchParams.delete("preset")
    window.history.replaceState(null, "", url)
  }
  model.on(["current", "title"], refresh)
  refresh()
  box.append(name, what, label, save, load, claims, file)
  return box
}
