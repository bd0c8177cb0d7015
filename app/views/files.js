// Files: chosen, dropped anywhere on the page or pasted, and saved. What comes is read by the server, and only there.

const TAKES_TEXT = "input, textarea, select, [contenteditable]:not([contenteditable=false])"
const HINT = "Drop it here: a preset, a session, or a file that this page exported"

function encoded(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("load", () => resolve(reader.result.split(",")[1] ?? ""))
    reader.addEventListener("error", () => reject(reader.error))
    reader.readAsDataURL(file)
  })
}

export function render({model}) {
  const send = async (files, name = files[0]?.name) => {
    if (files.length > 1) {
      model.send_msg({several: files.length})
    } else if (files.length === 1) {
      const [{size}] = files
      // A file over the limit is never sent: it could be larger than the connection takes.
      const read = size > model.limit ? {} : await encoded(files[0]).then((base64) => ({base64}), () => ({base64: "*"}))
      model.send_msg({file: name, size, ...read})
    }
  }

  const chooser = element("input", {
    type: "file", hidden: "", "aria-label": "Preset file",
    accept: ".json,.html,.png,.svg,.pdf,.gif,.mp4,.webm,.csv,.parquet",
  })
  chooser.addEventListener("change", () => {
    const files = [...chooser.files]
    chooser.value = ""
    send(files)
  })

  const hint = element("div", {class: "drop", role: "status"})
  const aim = (over) => {
    hint.classList.toggle("over", over)
    hint.replaceChildren(...(over ? [element("p", {}, HINT)] : []))
  }
  const brings = ({dataTransfer}) => dataTransfer?.types.includes("Files")
  const entered = (event) => { if (brings(event)) aim(true) }
  const over = (event) => {
    if (!brings(event)) return
    // Otherwise the browser would leave the page for the file.
    event.preventDefault()
    event.dataTransfer.dropEffect = "copy"
  }
  const dropped = (event) => {
    if (!brings(event)) return
    event.preventDefault()
    aim(false)
    send([...event.dataTransfer.files])
  }
  hint.addEventListener("dragleave", () => aim(false))

  const pasted = (event) => {
    if (event.composedPath()[0].matches?.(TAKES_TEXT)) return
    const {files} = event.clipboardData, text = event.clipboardData.getData("text/plain")
    if (files.length) send([...files])
    else if (text.trimStart().startsWith("{")) send([new Blob([text])], "what was pasted")
    else return
    event.preventDefault()
  }

  const words = element("span"), notice = element("div", {class: "told", role: "status"})
  const act = (label, message) => {
    const made = element("button", {type: "button"}, label)
    made.addEventListener("click", () => model.send_msg(message))
    return made
  }
  const undo = act("Undo", {undo: true}), dismiss = act("Dismiss", {dismiss: true})
  notice.append(words, undo, dismiss)
  const tell = () => {
    notice.classList.toggle("shown", model.told !== "")
    words.textContent = model.told
    undo.hidden = dismiss.hidden = !model.undoable
  }
  model.on(["told", "undoable"], tell)
  model.on("msg:custom", ({text, filename}) => download(filename, "application/json", text))

  const load = () => chooser.click()
  const save = ({detail}) => model.send_msg({save: detail.kind})
  const heard = [
    [document, "dragenter", entered], [document, "dragover", over], [document, "drop", dropped],
    [document, "paste", pasted], [window, "gradcloud-load", load], [window, "gradcloud-save", save],
  ]
  for (const [target, name, hear] of heard) target.addEventListener(name, hear)
  model.on("remove", () => { for (const [target, name, hear] of heard) target.removeEventListener(name, hear) })
  tell()
  return element("div", {}, chooser, hint, notice)
}
