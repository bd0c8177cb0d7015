// The pieces of the slides, and what stands in place of those that are not there: a frame that cannot load looks broken.

const made = window.gradcloudPieces ?? []

function instead(stage, words) {
  const box = document.createElement("div")
  box.className = "instead"
  box.append(...words.map(([tag, text]) => Object.assign(document.createElement(tag), {textContent: text})))
  stage.replaceChildren(box)
}

for (const piece of document.querySelectorAll("[data-piece]")) {
  const name = piece.dataset.piece
  if (made.includes(name)) piece.setAttribute(piece.tagName === "IMG" ? "src" : "data-src", `pieces/${name}`)
  else instead(piece.parentElement, [["p", `${name} has not been made.`], ["p", "Run make deck, and load this page again."]])
}

const options = new URLSearchParams(location.search)
// Where the page is served at another port than its own: index.html?port=5007.
const port = /^\d{1,5}$/.test(options.get("port") ?? "") ? options.get("port") : "5006"
for (const frame of document.querySelectorAll("[data-live]")) {
  frame.dataset.live = frame.dataset.live.replace(":5006/", `:${port}/`)
  for (const said of frame.parentElement.querySelectorAll(".port")) said.textContent = port
}

// Asked whenever its slide comes, so that a server may be started in between.
async function live(slide) {
  const frame = slide?.querySelector("[data-live]")
  if (!frame || frame.src) return
  const answers = await fetch(new URL(frame.dataset.live).origin, {mode: "no-cors"}).then(() => true, () => false)
  if (answers) frame.src = frame.dataset.live
  frame.hidden = !answers
  slide.querySelector(".instead").hidden = answers
}

const deck = new Reveal({
  width: 1280, height: 720, margin: 0.02, hash: true, controls: true, progress: true, slideNumber: "c/t",
  transition: "none", backgroundTransition: "none", overview: true, preloadIframes: true,
  showNotes: options.has("notes"),
})
deck.on("ready", ({currentSlide}) => live(currentSlide))
deck.on("slidechanged", ({currentSlide}) => live(currentSlide))
deck.initialize()
