"""What the page is doing, and what it has to say."""

from pathlib import Path
from typing import Any

import param

from app import picture, theme
from app.numbers import significant
from app.session import Session
from app.views.messages import Component, said
from sim.frame import Frame

_HERE = Path(__file__).with_suffix("")
#: The level of a verdict that is no word of its own.
_SHORT = {"none": "no signal"}


class Status(Component):
    """Messages over the picture, and the picture in a sentence for who cannot see it."""

    busy = param.String(default="")
    failure = param.String(default="")
    problems = param.List(default=[])
    partly = param.Boolean(default=False, doc="whether what was right beside the problems was taken")
    summary = param.String(default="", doc="the frame on show, in a sentence")
    spoken = param.String(default="", doc="what is read aloud, once each time that it changes")

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(**params)
        self._session = session
        self._told: tuple[Any, ...] = ()
        session.param.watch(self._follow, ["busy", "failure", "problems", "partly", "frame", "playing", "settled"])
        self._follow()

    def _follow(self, *_: Any) -> None:
        session, frame = self._session, self._session.frame
        self.param.update(
            busy="" if session.playing else session.busy,
            failure=session.failure,
            problems=session.problems,
            partly=session.partly,
        )
        if frame is not None:
            self.param.update(summary=summary(frame), spoken=self._say(frame))

    def _say(self, frame: Frame) -> str:
        """What is read aloud now.

        At rest the picture in full, once it is complete. While it plays each batch in a few words, and once, though its
        frame comes twice; where the batches come faster than words, only as many of them as there is time for.
        """
        session, batch = self._session, (frame.config, frame.step, frame.draw)
        if not session.playing:
            self._told = batch
            return summary(frame) if session.settled else self.spoken
        if batch == self._told or frame.draw % session.speed:
            return self.spoken
        self._told = batch
        return brief(frame)

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


def brief(frame: Frame) -> str:
    """A batch in a few words, short enough to be read aloud before the next one comes."""
    ratio = picture.number(frame.update.ratio)
    length = "" if ratio is None else f", {significant(ratio)}"
    return f"draw {frame.draw}: {_SHORT.get(frame.verdict.level, frame.verdict.level)}{length}"
