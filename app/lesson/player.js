// The page around the picture: what is said of it, and everything that moves it.

const PATHS = {play: "M4 3v10l9-5z", pause: "M4 3h3v10H4zM9 3h3v10H9z"}
const TAKES_KEYS = "input, select, textarea, dialog, [contenteditable]"
const TAKES_SPACE = "button, summary, a, [role=switch]"
// Arrows that the list has.
const LONGEST = 12

const part = (id) => document.getElementById(id)
const data = (id) => JSON.parse(part(id).textContent)
const say = (element, text) => { if (element.textContent !== text) element.textContent = text }

// A part with style sheets of its own, as the live page has them; what it shows comes from frames, never from a preset.
function shaded(host, style) {
  const root = host.attachShadow({mode: "open"}), sheet = document.createElement("style"), body = document.createElement("div")
  sheet.textContent = style
  root.append(sheet, body)
  return body
}

async function begin() {
  const page = data("page")
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser cannot unpack the recording; one from 2023 or later can (Safari from 16.4 on)")
  }
  const recording = await unpacked(part("recording").textContent), {frames, clouds, pace, idle} = recording.head
  const picture = await plane(part("figure"), page.figure, recording)
  const gauges = shaded(part("gauges"), page.styles.gauges), caption = shaded(part("caption"), page.styles.caption)
  const [play, clip, scrub, speed, theme] = ["play", "clip", "scrub", "speed", "theme"].map(part)
  let at = 0, timer = null

  const cloud = () => clouds[frames[at].clouds[Number(clip.checked)]]
  const describe = () => {
    const canvas = picture.canvas()
    if (!canvas) {
      setTimeout(describe, 50)
      return
    }
    canvas.setAttribute("role", "img")
    canvas.setAttribute("aria-label", cloud().summary)
  }
  // Buttons stay and change their words: one that is pressed while the frame changes is still there.
  const buttons = Array.from({length: LONGEST}, () => {
    const button = document.createElement("button"), item = document.createElement("li")
    button.type = "button"
    button.addEventListener("click", () => {
      picture.pick(Number(button.dataset.site))
      // The card comes above the list, or goes.
      button.scrollIntoView({block: "nearest"})
    })
    item.append(button)
    part("longest").append(item)
    return button
  })
  const list = () => {
    const longest = picture.longest(LONGEST)
    for (const [i, button] of buttons.entries()) {
      button.parentElement.hidden = i >= longest.length
      if (i >= longest.length) continue
      button.dataset.site = longest[i].site
      button.setAttribute("aria-pressed", longest[i].on)
      say(button, longest[i].words)
    }
  }
  const captioned = () => {
    caption.innerHTML = cloud().captions[Number(picture.picked())]
    part("card").innerHTML = picture.card()
    part("card").hidden = !picture.picked()
    list()
  }
  const show = (place) => {
    at = Math.max(0, Math.min(place, frames.length - 1))
    const {step, draw} = frames[at], now = cloud()
    gauges.innerHTML = now.gauges
    picture.show(now)
    scrub.value = at
    scrub.setAttribute("aria-valuetext", `frame ${at + 1} of ${frames.length}: step ${step}, draw ${draw}`)
    say(part("where"), `step ${step}, draw ${draw}`)
    say(part("count"), `${at + 1} of ${frames.length}`)
    // Where frames come faster than words, only as many are told as there is time for.
    if (timer === null) say(part("live"), now.summary)
    else if (at % Number(speed.value) === 0) say(part("live"), now.brief)
    describe()
  }
  const played = () => {
    const on = timer !== null
    play.classList.toggle("on", on)
    play.querySelector("path").setAttribute("d", on ? PATHS.pause : PATHS.play)
    say(play.querySelector(".words"), on ? "Pause" : "Play")
  }
  const pause = () => {
    if (timer === null) return
    clearTimeout(timer)
    timer = null
    played()
    say(part("live"), cloud().summary)
  }
  const next = () => {
    timer = setTimeout(() => {
      show(at + 1)
      if (at < frames.length - 1) next()
      else pause()
    }, 1000 * pace / Number(speed.value))
  }
  const acts = {
    play: () => {
      if (timer !== null) return pause()
      if (at === frames.length - 1) show(0)
      if (frames.length === 1) return undefined
      next()
      return played()
    },
    first: () => { pause(); show(0) },
    back: () => { pause(); show(at - 1) },
    forward: () => { pause(); show(at + 1) },
    last: () => { pause(); show(frames.length - 1) },
    clip: () => {
      if (idle) return
      clip.checked = !clip.checked
      show(at)
    },
  }

  for (const name of ["play", "first", "back", "forward", "last"]) part(name).addEventListener("click", acts[name])
  clip.addEventListener("change", () => show(at))
  scrub.addEventListener("input", () => { pause(); show(Number(scrub.value)) })
  theme.addEventListener("change", () => {
    document.documentElement.dataset.theme = theme.value
    picture.wear(theme.value)
  })
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    const act = page.keys[event.key.length === 1 ? event.key.toLowerCase() : event.key]
    const inside = (selector) => event.composedPath().some((each) => each.matches?.(selector))
    // The scale of frames moves by arrows itself, and has no use for the other keys.
    const own = event.target === scrub ? act !== "play" && act !== "clip" : inside(TAKES_KEYS) && event.target !== clip
    if (!act || own || (event.key === " " && inside(TAKES_SPACE))) return
    event.preventDefault()
    if (!event.repeat || act === "back" || act === "forward") acts[act]()
  })
  gauges.addEventListener("click", (event) => {
    const entry = page.terms[event.target.closest("[data-term]")?.dataset.term]
    if (!entry) return
    say(part("term"), entry.term)
    say(part("meaning"), entry.text)
    // The program's own formulas; nothing of a preset's gets here.
    part("formula").innerHTML = entry.formula
    part("glossary").showModal()
  })
  picture.onPick(captioned)

  theme.value = document.documentElement.dataset.theme
  clip.checked = page.clipped
  clip.disabled = idle
  picture.wear(theme.value)
  show(0)
  if (page.token !== null) picture.pick(page.token)
  document.documentElement.dataset.ready = "yes"
}

begin().catch((error) => {
  part("failure").hidden = false
  say(part("why"), error.message)
})
