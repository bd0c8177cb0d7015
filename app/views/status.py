"""What the page is doing, and what it has to say."""

from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from app import picture, theme
from app.numbers import significant
from app.session import Session
from app.views.messages import said
from sim.frame import Frame

_HERE = Path(__file__).with_suffix("")


class Status(JSComponent):
    """Messages over the picture, and the picture in a sentence for who cannot see it."""

    busy = param.String(default="")
    failure = param.String(default="")
    problems = param.List(default=[])
    summary = param.String(default="")

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(**params)
        self._session = session
        session.param.watch(self._follow, ["busy", "failure", "problems", "frame", "playing"])
        self._follow()

    def _follow(self, *_: Any) -> None:
        session = self._session
        self.param.update(
            busy="" if session.playing else session.busy,
            failure=session.failure,
            problems=session.problems,
            # While it plays, a sentence a second would drown everything else that is read aloud.
            summary=self.summary if session.playing or session.frame is None else summary(session.frame),
        )

    def _handle_msg(self, data: Any) -> None:
        if said(data, "dismiss", bool):
            self._session.param.update(failure="", problems=[])


def summary(frame: Frame) -> str:
    """The picture in a sentence."""
    kept = picture.order(frame)
    strongest = ", ".join(picture.spoken(frame.sites.text[i]) for i in kept[-picture.NAMED :][::-1])
    ratio = picture.number(frame.update.ratio)
    length = "" if ratio is None else f", {significant(ratio)} times the safe radius"
    return f"Step {frame.step}, draw {frame.draw}: {frame.verdict.word}{length}; {len(kept)} arrows" + (
        f", the strongest at the words {strongest}." if strongest else "."
    )
