"""The event log: everything that was done, and the way back to it."""

from pathlib import Path
from typing import Any

from panel.custom import JSComponent

from app import theme
from app.numbers import significant
from app.session import Session
from app.views.messages import said
from sim.frame import Undetermined
from sim.timeline import Event

_HERE = Path(__file__).with_suffix("")


class EventLog(JSComponent):
    """A session's events as a table; rows are sent as they change, once the browser says that it is there."""

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(**params)
        self._session = session
        self._ready = False
        self._sent: dict[int, dict[str, Any]] = {}
        session.param.watch(self._follow, "logged")

    def _follow(self, *_: Any) -> None:
        if not self._ready:
            return
        events = self._session.timeline.events
        changed = []
        for event in events:
            made = row(self._session, event)
            if self._sent.get(event.index) != made:
                self._sent[event.index] = made
                changed.append(made)
        if changed:
            self._send_msg({"rows": changed, "current": len(events) - 1})

    def _handle_msg(self, data: Any) -> None:
        if said(data, "ready", bool):
            self._ready = True
            self._sent.clear()
            self._follow()
            return
        index = said(data, "index", int)
        if index is not None and any(event.index == index for event in self._session.timeline.events):
            self._session.rewind(index)


def row(session: Session, event: Event) -> dict[str, Any]:
    """An event as the table shows it."""
    outcome = session.outcome(event)
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
