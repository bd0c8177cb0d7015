// The implicit target: why there is none, or a fold with three bars an answer and the identity in numbers.

const POLICIES = [["reference", "reference"], ["student", "student now"], ["aim", "target"]]

function bar(kind, share, text) {
  const drawn = element("i", {class: kind})
  drawn.style.width = `${100 * share}%`
  drawn.classList.toggle("nothing", share === 0)
  return element("div", {class: "bar"}, element("div", {class: "track"}, drawn), element("span", {class: "p"}, text))
}

function answer({answer, right, shares}) {
  const said = POLICIES.map(([, words], i) => `${words} ${shares[i][1]}`).join(", ")
  const name = element("div", {class: "name"}, element("b", {}, answer), ...(right ? [element("i", {}, "right")] : []))
  const three = element("div", {class: "three", "aria-hidden": "true"},
    ...POLICIES.map(([kind], i) => bar(kind, ...shares[i])))
  const spoken = element("span", {class: "sr"}, `${right ? "right: " : ": "}${said}`)
  return element("li", {}, name, spoken, three)
}

function reading({name, rule, value, parts}) {
  return element("div", {class: "reading"}, element("dt", {}, element("b", {}, name), " ", element("i", {}, rule)),
    element("dd", {}, element("b", {}, value), element("span", {}, parts)))
}

export function render({model}) {
  const none = element("p", {class: "none"})
  const prompt = element("code", {}), when = element("span", {class: "when"})
  const keep = element("input", {type: "checkbox", id: "target-keep"})
  const kept = element("label", {for: "target-keep"}, keep, "Keep this prompt")
  const status = element("p", {class: "status", role: "status"})
  const failure = element("p", {class: "failure", role: "alert"})
  const legend = element("div", {class: "legend", "aria-hidden": "true"}, ...POLICIES.map(([kind, words]) =>
    element("span", {}, element("i", {class: kind}), words)))
  const answers = element("ul", {class: "answers"}), identity = element("dl", {}), note = element("p", {class: "note"})
  const measured = element("div", {class: "measured"},
    element("div", {class: "head"}, element("span", {}, prompt, " ", when), legend, kept), answers, identity, note)
  const fold = element("details", {}, element("summary", {}, "Implicit target"),
    element("p", {class: "text"}, model.text), status, failure, measured)
  const box = element("section", {class: "implicit", "aria-label": "Implicit target"}, none, fold)

  fold.addEventListener("toggle", () => model.send_msg({open: fold.open}))
  keep.addEventListener("change", () => model.send_msg({keep: keep.checked}))

  const refresh = () => {
    none.textContent = model.none && `Implicit target: none, as ${model.none}.`
    none.hidden = !model.none
    fold.hidden = !model.shown
    status.textContent = model.status
    failure.textContent = model.failure
    keep.checked = model.keep
    const found = model.result
    measured.hidden = !found.bars
    measured.classList.toggle("stale", model.stale)
    if (!found.bars) return
    prompt.textContent = found.prompt
    when.textContent = found.when
    answers.replaceChildren(...found.bars.map(answer))
    identity.replaceChildren(...found.identity.map(reading))
    note.textContent = found.note
  }
  model.on(["none", "shown", "status", "failure", "stale", "keep", "result"], refresh)
  refresh()
  return box
}
