// The dials as native controls: a label, a keyboard and a screen reader come with them.

const STEPS = 200 // positions of a slider whose scale is logarithmic

// How a kind of control is built: `input` takes the focus; `get` and `set` convert to and from the setting's value.
const KINDS = {
  slider(field) {
    const input = element("input", {type: "range", min: field.low, max: field.high, step: field.step})
    return {input, get: () => Number(input.value), set: (value) => { input.value = value }, say: (v) => v.toFixed(2)}
  },
  log(field) {
    const input = element("input", {type: "range", min: 0, max: STEPS, step: 1})
    const ratio = Math.log(field.high / field.low)
    return {
      input,
      get: () => Number((field.low * Math.exp(ratio * input.value / STEPS)).toPrecision(2)),
      set: (value) => { input.value = Math.round(STEPS * Math.log(value / field.low) / ratio) },
      say: (value) => value >= 1e-3 ? String(Number(value.toPrecision(4))) : value.toExponential(1).replace("-", "−"),
    }
  },
  steps(field) {
    const input = element("input", {type: "range", min: 0, step: 1})
    let ladder = []
    return {
      input,
      get: () => ladder[Number(input.value)],
      set: (value, model) => {
        ladder = model.ladders[field.name]
        input.max = ladder.length - 1
        input.value = ladder.indexOf(value)
      },
      say: String,
    }
  },
  choice(field) {
    const options = field.choices.map(([value, words]) => element("option", {value}, words))
    const input = element("select", {}, ...options)
    return {input, get: () => input.value, set: (value) => { input.value = value }}
  },
  switch() {
    const input = element("input", {type: "checkbox", role: "switch"})
    return {input, get: () => input.checked, set: (value) => { input.checked = value }}
  },
  number(field) {
    const input = element("input", {type: "number", min: field.low, max: field.high, step: "any"})
    return {
      input,
      get: () => input.value.trim() === "" ? null : Number(input.value),
      set: (value) => { input.value = value },
    }
  },
}

export function render({model}) {
  const controls = new Map()
  let held = null

  const send = (name, done) => {
    const value = controls.get(name).get()
    if (value !== null) model.send_msg({name, value, done})
  }

  const build = (field) => {
    const made = KINDS[field.kind](field)
    const id = `dial-${field.name}`
    made.input.id = id
    made.input.setAttribute("aria-description", field.help)
    const output = made.say ? element("output", {for: id}) : null
    const label = element("label", {for: id}, field.label)
    const head = element("div", {class: "head"}, label, ...(output ? [output] : []))
    const about = {class: `field ${field.kind} ${field.name}`, title: field.help, "data-name": field.name}
    const box = element("div", about, head, made.input)
    if (field.ends) {
      const ends = field.ends.map((words) => element("span", {}, words))
      box.append(element("div", {class: "ends", "aria-hidden": "true"}, ...ends))
    }
    const hint = element("div", {class: "hint"})
    box.append(hint)
    controls.set(field.name, {...made, field, output, box, hint})
    const live = field.kind === "slider" || field.kind === "log" || field.kind === "steps"
    const done = () => {
      held = null
      if (made.get() === null) refresh()
      else send(field.name, true)
    }
    if (live) {
      made.input.addEventListener("input", () => {
        held = field.name
        show(field.name, made.get())
        send(field.name, false)
      })
      // A slider that is let go where it was taken up has not changed, and says nothing of it.
      for (const end of ["pointerup", "pointercancel", "keyup", "blur"]) {
        made.input.addEventListener(end, () => setTimeout(() => { if (held === field.name) done() }))
      }
    }
    made.input.addEventListener("change", done)
    return box
  }

  const show = (name, value) => {
    const {output, say, field, input} = controls.get(name)
    if (!output) return
    const text = `${say(value)}${field.unit ? " " + field.unit : ""}`
    output.textContent = field.symbol ? `${field.symbol} = ${text}` : text
    input.setAttribute("aria-valuetext", field.ends ? `${text}, from ${field.ends[0]} to ${field.ends[1]}` : text)
  }

  const refresh = () => {
    for (const [name, control] of controls) {
      if (name === held) continue
      const value = model.values[name], why = model.idle[name]
      control.set(value, model)
      show(name, value)
      control.input.disabled = why !== undefined
      control.box.classList.toggle("idle", why !== undefined)
      control.box.title = why ?? control.field.help
      control.hint.textContent = model.hints[name] ?? ""
    }
    note.textContent = model.note
  }

  const main = element("div", {class: "main"}, ...model.fields.filter((field) => !field.group).map(build))
  const groups = [...new Set(model.fields.map((field) => field.group).filter(Boolean))].map((group) =>
    element("fieldset", {}, element("legend", {}, group),
      ...model.fields.filter((field) => field.group === group).map(build)))
  const more = element("details", {}, element("summary", {}, "more"), ...groups)
  const note = element("p", {class: "note", role: "status"})
  // What a tour points at is shown, also where it was folded away or scrolled out of sight.
  const point = () => {
    for (const [name, control] of controls) control.box.classList.toggle("lit", name === model.spotlight)
    const lit = controls.get(model.spotlight)?.box
    if (!lit) return
    if (more.contains(lit)) more.open = true
    // Where the dials stand below the tour, to scroll to them would hide what it says.
    if (matchMedia("(min-width: 1001px)").matches) lit.scrollIntoView({block: "nearest"})
  }
  model.on(["values", "idle", "hints", "note"], refresh)
  model.on("spotlight", point)
  refresh()
  point()
  const box = element("div", {class: "dials"}, main, note, ...(groups.length ? [more] : []))
  return box
}
