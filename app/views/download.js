// Hand the browser a file to keep.
function download(name, mime, data) {
  const href = URL.createObjectURL(new Blob([data], {type: mime}))
  element("a", {href, download: name}).click()
  // Not at once: the browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
}
