// Keeps what was done in this tab's storage, gives it back after a reload, comes back by a reload when the connection
// is lost, and tells when nobody can see the page.

const NAME = "gradcloud "
// Milliseconds that the page stays blank at most, so that it shows no other picture before the one it comes back to.
const BLANK = 2000
const FIRST_WAIT = 500, LONGEST_WAIT = 5000

function anew() {
  return Array.from(crypto.getRandomValues(new Uint32Array(3)), (part) => part.toString(36)).join("")
}

// A tab that may store nothing keeps nothing.
function read(name) {
  try { return sessionStorage.getItem(name) } catch { return null }
}
function remove(name) {
  try { sessionStorage.removeItem(name) } catch { /* nothing was stored */ }
}
function write(name, text) {
  try {
    sessionStorage.setItem(name, text)
  } catch {
    try {
      // Full: what other visits had in this tab gives way.
      for (const each of Object.keys(sessionStorage)) if (each.startsWith(NAME)) sessionStorage.removeItem(each)
      sessionStorage.setItem(name, text)
    } catch { /* see above */ }
  }
}

function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
function seen() {
  return new Promise((resolve) => {
    if (!document.hidden) resolve()
    else document.addEventListener("visibilitychange", () => resolve(seen()), {once: true})
  })
}
// A frame says by `data-unseen` that it is not in sight, though its tab is.
function unseen() {
  return document.hidden || document.documentElement.dataset.unseen !== undefined
}
// A file that the server has at hand: asking for the page would make a session each time.
function probe() {
  const scripts = [...document.querySelectorAll("script[src]")].map((script) => script.src)
  return scripts.find((source) => source.startsWith(location.origin)) ?? location.href
}
async function comeBack() {
  const asked = probe()
  for (let wait = FIRST_WAIT; ; wait = Math.min(1.5 * wait, LONGEST_WAIT)) {
    // Not all of a hall at once, and nobody who does not look.
    await sleep(wait * (0.75 + Math.random() / 2))
    await seen()
    try {
      // To a frame without an origin, every server is another's, which does not say what it answers.
      const mode = self.origin === "null" ? "no-cors" : "cors"
      const answer = await fetch(asked, {method: "HEAD", cache: "no-store", mode})
      if (answer.ok || answer.type === "opaque") break
    } catch { /* not yet */ }
  }
  location.reload()
}

export function render({model}) {
  const notice = document.createElement("div")
  notice.className = "lost"
  notice.setAttribute("role", "alert")

  // An entry of the history that has been here before says which visit that was; a new one begins anew.
  // Who left it soon left it without its event.
  const {tab = anew(), event = -1, moment = ""} = marked()
  const name = NAME + tab
  enter({...marked(), tab})
  const kept = read(name)
  if (kept !== null) {
    const page = document.documentElement.style
    const show = () => { page.visibility = "" }
    page.visibility = "hidden"
    setTimeout(show, BLANK)
    // The canvas is drawn a frame after its data came.
    model.on("back", () => requestAnimationFrame(() => requestAnimationFrame(show)))
  }

  model.on("msg:custom", ({text}) => {
    if (text) write(name, text)
    else remove(name)
  })

  let lost = false
  const lose = () => {
    if (lost) return
    lost = true
    notice.textContent = "connection lost; coming back"
    notice.classList.add("shown")
    comeBack()
  }
  model.document.on_event("connection_lost", lose)

  const look = () => { if (!lost) model.send_msg({hidden: unseen()}) }
  const resume = (event) => { if (event.persisted) location.reload() }
  document.addEventListener("visibilitychange", look)
  addEventListener("gradcloud-seen", look)
  addEventListener("pageshow", resume)
  model.on("remove", () => {
    document.removeEventListener("visibilitychange", look)
    removeEventListener("gradcloud-seen", look)
    removeEventListener("pageshow", resume)
  })

  model.send_msg({ready: true, hidden: unseen(), ...(kept === null ? {} : {kept, event, moment})})
  return notice
}
