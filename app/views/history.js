// What an entry of the tab's history says of itself: the visit (`tab`), and where that was (`event`, `moment`).
function marked() {
  const mark = window.history.state?.gradcloud
  return mark && typeof mark === "object" ? mark : {}
}

// The parts of the query that have one of these keys, or those that have none of them.
function parts(keys, among) {
  const named = (part) => {
    try { return keys.includes(decodeURIComponent(part.split("=")[0])) } catch { return false }
  }
  // An address that was copied out of HTML has &amp; for &.
  return window.location.search.slice(1).split(/&(?:amp;)?/).filter((part) => part && named(part) === among)
}

// Change the entry, or make one after it. A frame in a sandbox may be allowed neither: then its address stays.
function enter(mark, url = window.location.href, push = false) {
  const state = {...window.history.state, gradcloud: mark}
  try {
    if (push) window.history.pushState(state, "", url)
    else window.history.replaceState(state, "", url)
    return true
  } catch {
    return false
  }
}
