"""The token lens: the answers of the batch as text, each token shaded by what it does to the update."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from app import lens, theme
from app.look import TOKENS
from app.pulls import pulls
from app.session import Session
from app.shading import QUANTITIES, column
from app.views.messages import said
from sim.frame import Frame

_HERE = Path(__file__).with_suffix("")


class Lens(JSComponent):
    """The answers that pull most, their tokens, and the strongest pulls in words; filled only while its tab is open.

    The browser shades, points and moves between tokens by itself. It says which token is picked out, that more answers
    are wanted, and which token the picture points at where that is not among those shown. What it says carries the
    number of the batch that it is about: a token's place means nothing in another.
    """

    batch = param.Integer(default=0, doc="counts the batches that were shown")
    answers = param.List(default=[], doc="the answers shown, in the order of their pull")
    counted = param.String(default="", doc="how many of how many answers these are")
    more = param.Boolean(default=False, doc="whether there are more")
    pulls = param.List(default=[], doc="the strongest pulls, in words")
    why = param.String(default="", doc="why there are none")
    columns = param.Dict(default={}, doc="each quantity at the tokens shown, in their order")
    selected = param.Integer(default=-1, doc="the site that is picked out; -1 for none")
    details = param.Dict(default={}, doc="what is known of it")
    stale = param.Boolean(default=False, doc="whether other settings are being computed")
    quantities = param.List(default=[[key, each.label] for key, each in QUANTITIES.items()], constant=True)

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(**params)
        self._session = session
        self._frame: Frame | None = None
        self._count = lens.AT_ONCE
        session.param.watch(self._follow, "frame")
        session.param.watch(self._dim, ["busy", "frame"])
        session.look.param.watch(self._follow, ["side", "selected"])
        self._follow()

    def _follow(self, *_: Any) -> None:
        frame, look = self._session.frame, self._session.look
        if frame is None or look.side != TOKENS:
            return
        changed: dict[str, Any] = {}
        if self._frame is None or self._frame.sites.prefix != frame.sites.prefix:
            self._count = lens.AT_ONCE
            changed["batch"] = self.batch + 1
        selected = look.selected if self._has(frame, look.selected) else None
        shown = lens.answers(frame, self._count, selected)
        if frame is not self._frame:
            told, why = pulls(frame)
            changed |= {"pulls": [_line(each) for each in told], "why": why}
        self._frame = frame
        sites = lens.sites_of(shown)
        self.param.update(
            answers=[asdict(each) for each in shown],
            columns={key: asdict(column(frame, key, sites)) for key in QUANTITIES},
            counted=lens.counted(frame, shown, self._count),
            more=self._count < len(frame.rollouts),
            selected=-1 if selected is None else selected,
            details={} if selected is None else _details(frame, selected),
            **changed,
        )

    def _dim(self, *_: Any) -> None:
        self.stale = self._session.stale

    def _handle_msg(self, data: Any) -> None:
        frame = self._frame
        if frame is None or said(data, "batch", int) != self.batch:
            return
        look = self._session.look
        pick, where = said(data, "pick", int), said(data, "where", int)
        if pick == -1:
            look.selected = None
        elif self._has(frame, pick):
            look.selected = pick
        if said(data, "more", bool) and self._count < len(frame.rollouts):
            self._count += lens.AT_ONCE
            self._follow()
        if where is not None and self._has(frame, where):
            self._send_msg({"site": where, "words": lens.elsewhere(frame, where, len(self.answers))})

    @staticmethod
    def _has(frame: Frame, site: int | None) -> bool:
        return site is not None and 0 <= site < len(frame.sites.text)


def _line(pull: Any) -> dict[str, Any]:
    rest = f"{pull.wants}; {pull.amount}"
    return {"site": pull.site, "word": pull.word, "after": pull.after, "rest": rest, "against": pull.share < 0}


def _details(frame: Frame, site: int) -> dict[str, Any]:
    return {"named": lens.named(frame, site), "phrases": lens.details(frame, site)}
