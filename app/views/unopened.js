// Before the page is there: a frame that stays blank says nothing, so this says what may be wrong, and goes when it comes.
(() => {
  const PATIENCE = 5000, OFTEN = 400
  const began = performance.now()
  const there = () => {
    const found = window.Bokeh?.documents?.[0]
    return !!found && found.roots().length > 0
  }
  const words = () => self.origin === "null"
    ? ["This frame may not reach the picture",
      "The page around it has put it into a sandbox without an origin. Its author can let it in: "
        + "sandbox=\"allow-scripts allow-same-origin\" in the iframe, or gradcloud serve --sandboxed on the server."]
    : ["The picture is not here yet",
      `The page waits for its server, ${location.host}. If it stays so, the server may be busy, or has not been told that `
        + `browsers call it by this name: gradcloud serve --origin ${location.host}`]
  let box = null
  const look = () => {
    if (there()) {
      box?.remove()
      return
    }
    if (box === null && performance.now() - began > PATIENCE) {
      box = document.createElement("main")
      box.className = "unopened"
      const [head, text] = words().map((each, i) => {
        const made = document.createElement(i ? "p" : "h1")
        made.textContent = each
        return made
      })
      box.append(head, text)
      document.body.append(box)
    }
    setTimeout(look, OFTEN)
  }
  look()
})()
