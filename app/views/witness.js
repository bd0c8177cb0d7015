// Answers a question of the server once the browser has drawn what came before it.

export function render({model}) {
  // In a frame's time the canvas is drawn and the page laid out; what is done after it comes after that.
  const answer = () => {
    const drawn = model.asked
    requestAnimationFrame(() => setTimeout(() => model.send_msg({drawn})))
  }
  model.on("asked", answer)
  // What was asked before this was here.
  if (model.asked) answer()
  const nothing = document.createElement("div")
  nothing.hidden = true
  return nothing
}
