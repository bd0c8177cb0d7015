"""The event log: everything that was done, and the way back to it."""

from pathlib import Path
from typing import Any

from app import theme
from app.numbers import significant
from app.outcome import Outcome
from app.session import Session
from app.views.messages import Component, said
from app.views.script import script
from sim.frame import Undetermined
from sim.timeline import Event

_HERE = Path(__file__).with_suffix("")


class EventLog(Component):
    """A session's events as a table; rows are sent as they change, once the browser says that it is there."""

    _esm = script(_HERE)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(**params)
        self._session = session
        self._ready = False
        self._seen: dict[int, tuple[Event, Outcome]] = {}
        self._sent: dict[int, dict[str, Any]] = {}
        session.param.watch(self._follow, "logged")

    def _follow(self, *_: Any) -> None:
        if not self._ready:
            return
        timeline, changed = self._session.timeline, []
        seen = {event.index: (event, self._session.outcome(event)) for event in timeline.events}
        gone = [index for index in self._sent if index not in seen]
        for index in gone:
            del self._sent[index]
        for index, (event, outcome) in seen.items():
            before = self._seen.get(index)
            # Most are as they were; to see that costs less than to make the row.
            if before is not None and before[0] is event and before[1] == outcome and index in self._sent:
                continue
            made = row(event, outcome)
            if self._sent.get(index) != made:
                self._sent[index] = made
                changed.append(made)
        self._seen = seen
        if changed or gone:
            forgotten, current = timeline.forgotten, timeline.current.index
            self._send_msg({"rows": changed, "gone": gone, "current": current, "forgotten": forgotten})

    def _handle_msg(self, data: Any) -> None:
        if said(data, "ready", bool):
            self._ready = True
            self._seen, self._sent = {}, {}
            self._follow()
            return
        if said(data, "clear", bool):
            self._session.clear()
            return
        index = said(data, "index", int)
        if index is not None and any(event.index == index for event in self._session.timeline.events):
            self._session.rewind(index)


def row(event: Event, outcome: Outcome) -> dict[str, Any]:
    """An event as the table shows it, with what came of it."""
    ratio, verdict = outcome.ratio, outcome.verdict
    branches = event.kind != "rewind" and event.parent is not None and event.parent != event.index - 1
    return {
        "index": event.index,
        "kind": event.kind,
        "label": event.label,
        "clock": f"{event.moment.step}.{event.moment.draw}",
        "branch": event.branch,
        "grew": f"a new branch, grown from #{event.parent}" if branches else "",
        "ratio": "–" if ratio is None or isinstance(ratio, Undetermined) else significant(ratio),
        "level": "failed" if outcome.failure else verdict.level if verdict else "",
        "verdict": "failed" if outcome.failure else _short(verdict.level) if verdict else "",
    }


def _short(level: str) -> str:
    return "no signal" if level == "none" else level
