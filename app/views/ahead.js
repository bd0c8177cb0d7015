// Look ahead: what to run and against what, how far it has come, the rule for a collapse, and the way to a step.

// A run's line as the curves draw it: its form tells it apart as well as its colour.
function swatch(role, dash) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  for (const [key, value] of [["width", 30], ["height", 10], ["aria-hidden", "true"]]) svg.setAttribute(key, value)
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path")
  for (const [key, value] of [["d", "M1 5H29"], ["stroke", `var(--${role})`], ["stroke-width", 2], ["stroke-dasharray", dash]])
    line.setAttribute(key, value)
  svg.append(line)
  return svg
}

export function render({model}) {
  const steps = element("input", {type: "number", id: "ahead-steps", min: model.fewest, max: model.most, step: 1})
  steps.value = 100
  const compared = element("select", {"aria-label": "Compare the run with"})
  const go = element("button", {type: "button", class: "go"})
  const order = element("div", {class: "order"},
    element("label", {for: "ahead-steps"}, "Take this step"), steps,
    element("span", {title: "each step takes the first batch drawn at its parameters"}, "times (each from draw 0), compared with"),
    compared, go)
  const problem = element("p", {class: "problem", role: "alert"})
  const lines = element("div", {class: "runs"})
  const summary = element("p", {class: "summary", "aria-live": "polite"})

  const share = element("input", {type: "range", id: "ahead-share", min: 0.1, max: 0.9, step: 0.05})
  const said = element("span", {class: "rule"})
  const rule = element("div", {class: "marks"}, element("label", {for: "ahead-share"}, "Collapse rule"), share, said)

  const which = element("select", {id: "ahead-which", "aria-label": "Run whose step to show"})
  const at = element("input", {type: "range", id: "ahead-at", min: 0, step: 1})
  const where = element("output", {for: "ahead-at"})
  const open = element("button", {type: "button", class: "open"}, "Show it on the plane")
  const pick = element("div", {class: "pick"}, element("label", {for: "ahead-at"}, "Step"), at, where, which, open)
  const below = element("div", {class: "below"}, rule, pick)
  let held = false

  go.addEventListener("click", () => {
    steps.value = Math.round(Number(steps.value))
    model.send_msg(model.running ? {stop: true} : {steps: Number(steps.value), compared: compared.value})
  })
  share.addEventListener("input", () => model.send_msg({share: Number(share.value)}))
  at.addEventListener("input", () => { held = true; place() })
  which.addEventListener("change", () => { at.value = 0; place() })
  open.addEventListener("click", () => model.send_msg({run: Number(which.value), record: Number(at.value)}))

  const place = () => {
    const recorded = model.runs[Number(which.value) || 0]?.recorded ?? []
    at.max = Math.max(0, recorded.length - 1)
    at.disabled = open.disabled = !recorded.length
    if (!held) at.value = at.max
    const step = recorded[Number(at.value)]
    where.textContent = step === undefined ? "" : String(step)
    at.setAttribute("aria-valuetext", step === undefined ? "none yet" : `step ${step}`)
  }

  const offer = () => {
    const wanted = compared.value || model.compared
    compared.replaceChildren(...model.comparisons.map(([key, words]) => new Option(words, key)))
    compared.value = model.comparisons.some(([key]) => key === wanted) ? wanted : model.comparisons[0]?.[0] ?? ""
  }

  const line = (run) => {
    const bar = element("progress", {max: run.steps, value: run.taken, "aria-label": `run ${run.letter}`})
    return element("div", {class: "run"}, swatch(run.role, run.dash), element("b", {}, run.letter),
      element("span", {class: "name", title: run.name}, run.name), bar, element("span", {class: "far"}, run.far))
  }

  const refresh = () => {
    go.textContent = model.running ? "Stop" : "Run ahead"
    go.classList.toggle("on", model.running)
    problem.textContent = model.problem
    lines.replaceChildren(...model.runs.map(line))
    const chosen = which.value
    which.replaceChildren(...model.runs.map((run, i) => new Option(`of ${run.letter}`, i)))
    which.value = chosen !== "" && Number(chosen) < model.runs.length ? chosen : "0"
    which.hidden = model.runs.length < 2
    below.hidden = !model.runs.length
    if (summary.textContent !== model.summary) summary.textContent = model.summary
    place()
  }
  const begun = () => { held = false; refresh() }
  const ruled = () => {
    said.textContent = model.rule
    if (document.activeElement !== share) share.value = model.share
  }
  model.on("comparisons", offer)
  model.on("order", begun)
  model.on(["runs", "running", "problem", "summary"], refresh)
  model.on(["rule", "share"], ruled)
  share.value = model.share
  offer()
  ruled()
  refresh()
  return element("section", {class: "look", "aria-label": "Look ahead"},
    element("div", {class: "head"}, element("h2", {}, "Look ahead"), order), problem, lines, summary, below)
}
