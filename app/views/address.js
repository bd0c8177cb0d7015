// Keeps the address at what is on show, and tells when the visitor goes back or forward.

const OWN = ["preset", "view", "theme"]

export function render({model}) {
  // Of each time that the visitor went back or forward; what was sent before is about another entry.
  let turn = 0
  let here = {query: parts(OWN, true).join("&"), ...marked()}

  const write = ({query, event, moment, entry, turn: heard}) => {
    if (heard !== turn) return
    const {pathname, hash} = window.location
    const search = [query, ...parts(OWN, false)].filter(Boolean).join("&")
    const guest = document.documentElement.dataset.embed !== undefined
    // The deck around a frame has a history of its own, which the frame's entries would stand in the way of.
    if (!enter({...marked(), event, moment}, `${pathname}${search ? `?${search}` : ""}${hash}`, entry && !guest)) return
    here = {query: parts(OWN, true).join("&"), ...marked()}
  }
  const went = () => {
    const query = parts(OWN, true).join("&"), mark = marked()
    if (mark.event === undefined && query === here.query) {
      // Only the part after # was changed, which makes an entry that says nothing of itself yet.
      const {tab, event, moment} = here
      enter({tab, event, moment})
      return
    }
    if (query === here.query && mark.event === here.event && mark.moment === here.moment) return
    here = {query, ...mark}
    turn += 1
    model.send_msg({turn, query, event: mark.event ?? -1, moment: mark.moment ?? ""})
  }
  model.on("msg:custom", write)
  window.addEventListener("popstate", went)
  model.on("remove", () => window.removeEventListener("popstate", went))
  model.send_msg({ready: true})
  const nothing = document.createElement("div")
  nothing.hidden = true
  return nothing
}
