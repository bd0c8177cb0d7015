// The share dialog: everything that leaves the page, of what was on show when it was opened.

const PRESS = "Selected: press Ctrl-C, or ⌘C on a Mac."

export function render({model}) {
  const button = (words, act, attributes = {}) => {
    const made = element("button", {type: "button", ...attributes}, words)
    made.addEventListener("click", act)
    return made
  }
  const check = (words, attributes = {}, ...before) => {
    const box = element("input", {type: "checkbox", ...attributes})
    return [box, element("label", {class: "check"}, box, ...before, words)]
  }
  const choose = (name, options) => element("select", {"aria-label": name}, ...options.map(([key, words]) => new Option(words, key)))
  const section = (heading, ...parts) => element("section", {role: "group", "aria-label": heading}, element("h3", {}, heading), ...parts)
  const of = (name) => model.kinds.filter(([, section]) => section === name).map(([key, , label]) => [key, label])
  const here = () => window.location.href.split(/[?#]/)[0]
  // Until the server has answered, what it said of an opening before this one is not of what is on show.
  let opening = null
  const answered = () => model.linked === opening

  // One file at a time. A button that were disabled would lose the focus: one that says so keeps it.
  const makers = []
  let pressed = null
  const maker = (words, order) => {
    const made = button(words, () => {
      pressed = made
      if (!model.busy) model.send_msg(order())
    })
    makers.push(made)
    return made
  }

  const copied = element("p", {class: "copied", role: "status"})
  const copy = async (field, what) => {
    copied.textContent = ""
    try {
      await navigator.clipboard.writeText(field.value)
      copied.textContent = `${what} copied.`
    } catch {
      // Without https, or in a frame, a browser may keep the clipboard to itself.
      field.focus()
      field.select()
      copied.textContent = PRESS
    }
  }

  // 1. The link.
  const link = element("input", {type: "text", readonly: "", "aria-label": "Address", spellcheck: "false", autofocus: ""})
  const [log, logged] = check("with the log", {checked: ""})
  const copyLink = button("Copy link", () => copy(link, "Link"))
  const linkNote = element("p", {class: "note"})
  const session = maker("Save the session instead", () => ({make: "session"}))
  const showLink = () => {
    const wanted = log.checked && model.logged ? model.logged : model.plain
    link.value = !answered() ? "" : model.plain_problem ? "" : wanted ? `${here()}?${wanted}` : here()
    log.disabled = !answered() || !model.logged
    copyLink.disabled = !link.value
    const problem = answered() ? model.plain_problem || model.log_problem : ""
    linkNote.textContent = problem && `${problem[0].toUpperCase()}${problem.slice(1)}; a session's file holds it all.`
    linkNote.hidden = session.hidden = !problem
  }
  log.addEventListener("change", showLink)

  // 2. A frame for a slide.
  const html = element("textarea", {readonly: "", rows: 3, "aria-label": "Frame's HTML", spellcheck: "false"})
  const hide = model.parts.map(([key, words]) => [key, ...check(` ${words}`, {}, element("code", {}, key))])
  const shape = choose("Shape", model.shapes.map((each) => [each, each]))
  const [narrowest, first, widest] = model.widths
  const width = element("input", {type: "number", id: "share-width", min: narrowest, max: widest, step: 10, value: first})
  const copyHtml = button("Copy frame", () => copy(html, "Frame"))
  const htmlProblem = element("p", {class: "note", role: "alert"})
  const frame = () => model.send_msg({
    page: here(), shape: shape.value, width: Math.round(Number(width.value)),
    hidden: hide.filter(([, box]) => box.checked).map(([key]) => key),
  })
  const showHtml = () => {
    html.value = answered() ? model.html : ""
    copyHtml.disabled = !html.value
    htmlProblem.textContent = model.html_problem && `${model.html_problem}.`
  }
  for (const each of [shape, width, ...hide.map(([, box]) => box)]) each.addEventListener("change", frame)

  // 3 to 6. Files.
  const reasons = new Map()
  // What cannot be made here stays in sight, with the reason.
  const kinds = (name, heading) => {
    const chosen = choose(heading, of(name)), note = element("p", {class: "note"})
    reasons.set(chosen, note)
    return [chosen, note]
  }
  const several = (name, heading) => {
    const [least, most] = model.frames
    const count = element("input", {type: "number", id: `share-${name}`, min: least, max: most, step: 1, value: Math.min(most, 24)})
    const along = choose(`${heading}: frames along`, model.along.map((each) => [each, each]))
    return [() => ({frames: Math.round(Number(count.value)), along: along.value}),
      element("label", {for: count.id, class: "row"}, "Frames", count), along,
      element("span", {class: "limits"}, `${least} to ${most}`)]
  }
  const files = of("files").map(([key, label]) => maker(`Save ${label.toLowerCase()}`, () => ({make: key})))

  const [picture, pictureNote] = kinds("picture", "Kind of picture")
  const scale = choose("Size of the picture", model.scales.map((each) => [each, `${each}×, ${1280 * each} by ${720 * each}`]))
  picture.addEventListener("change", () => { scale.hidden = picture.value !== "png" })
  const save = maker("Save picture", () => ({make: picture.value, scale: Number(scale.value)}))

  const [numbers, numbersNote] = kinds("data", "Kind of data")
  const data = maker("Save data", () => ({make: numbers.value}))

  const [film, filmNote] = kinds("moving", "Kind of film")
  const [filmed, ...filmFrames] = several("moving", "Film")
  const shoot = maker("Make film", () => ({make: film.value, ...filmed()}))

  const [recorded, ...lessonFrames] = several("lesson", "Lesson")
  const record = maker("Make lesson", () => ({make: "lesson", ...recorded()}))

  const row = (...parts) => element("div", {class: "row"}, ...parts)
  const note = (words) => element("p", {class: "note"}, words)
  const title = element("p", {class: "title"})
  const bar = element("progress", {"aria-label": "frames made"})
  const told = element("p", {class: "told", role: "status"})
  const cancel = button("Cancel", () => model.send_msg({cancel: true}))
  const close = button("Close", () => dialog.close(), {class: "close"})
  const dialog = element("dialog", {"aria-labelledby": "share-heading", "aria-describedby": "share-title"},
    element("div", {class: "head"}, element("h2", {id: "share-heading"}, "Share"), title, close),
    element("div", {class: "body"},
      section("Link", row(link, copyLink), row(logged), linkNote, session),
      section("Frame for a slide", row(element("label", {class: "row"}, "Shape", shape),
        element("label", {for: "share-width", class: "row"}, "Width", width), copyHtml), html, htmlProblem,
      element("fieldset", {}, element("legend", {}, "Leave out"), ...hide.map(([, , label]) => label)),
      note("The server has to run while the slide is shown. Where browsers reach it by another name than its own, as "
        + "behind a proxy, it is started with --origin and that name.")),
      section("Files", row(...files), note("A preset is settings with a lesson; a session is a preset with its log.")),
      section("Picture", row(picture, scale, save), pictureNote),
      section("Data of the frame", row(numbers, data), numbersNote),
      section("Film", row(film, ...filmFrames, shoot), filmNote,
        note("Draws are further batches at these parameters; steps are updates that are really taken.")),
      section("Lesson", row(...lessonFrames, record),
        note("One HTML file that plays without a server and without a network, clip off and on: a recording of both."),
        note("Every frame of a film or a lesson is measured in full, which takes seconds where the batch is large."))),
    element("div", {class: "foot"}, bar, told, copied, cancel))
  title.id = "share-title"

  const showKinds = () => {
    for (const [chosen, said] of reasons) {
      const missing = [...chosen.options].filter((each) => model.reasons[each.value])
      for (const each of chosen.options) each.disabled = missing.includes(each)
      if (chosen.selectedOptions[0]?.disabled) chosen.value = [...chosen.options].find((each) => !each.disabled)?.value ?? ""
      said.textContent = [...new Set(missing.map((each) => `${model.reasons[each.value]}.`))].join(" ")
      said.hidden = !missing.length
    }
  }
  const showWork = () => {
    for (const each of makers) each.setAttribute("aria-disabled", model.busy)
    if (!model.busy && cancel.getRootNode().activeElement === cancel) pressed?.focus()
    bar.hidden = cancel.hidden = !model.busy
    if (model.total) {
      bar.max = model.total
      bar.value = model.done
    } else bar.removeAttribute("value")
    if (told.textContent !== model.told) told.textContent = model.told
  }
  const open = () => {
    if (dialog.open) return
    copied.textContent = ""
    opening = String(Math.random())
    showLink()
    showHtml()
    model.send_msg({opened: opening})
    frame()
    dialog.showModal()
  }
  dialog.addEventListener("click", (event) => { if (event.composedPath()[0] === dialog) dialog.close() })
  // What is typed here means nothing to the page.
  dialog.addEventListener("keydown", (event) => event.stopPropagation())
  model.on("msg:custom", ({name, mime, data}) => download(name, mime, data))
  model.on("title", () => { title.textContent = model.title })
  model.on(["plain", "logged", "linked", "plain_problem", "log_problem"], showLink)
  model.on(["linked", "html", "html_problem"], showHtml)
  model.on("reasons", showKinds)
  model.on(["busy", "done", "total", "told"], showWork)
  window.addEventListener("gradcloud-share", open)
  model.on("remove", () => window.removeEventListener("gradcloud-share", open))
  title.textContent = model.title
  showLink()
  showHtml()
  showKinds()
  showWork()
  return dialog
}
