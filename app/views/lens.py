"""The token lens: the answers of the batch as text, each token shaded by what it does to the update."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import param

from app import lens, theme
from app.look import TOKENS
from app.pulls import pulls, same
from app.session import Session
from app.shading import QUANTITIES, Column, column
from app.views.messages import Component, said
from app.views.script import script
from sim.frame import Frame

_HERE = Path(__file__).with_suffix("")


class Lens(Component):
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
    signed = param.List(default=[key for key, each in QUANTITIES.items() if each.signed], constant=True)

    _esm = script(_HERE)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(**params)
        self._session = session
        self._frame: Frame | None = None
        self._count = lens.AT_ONCE
        self._shown: list[lens.Answer] = []
        self._added: list[lens.Answer] = []
        self._columns: dict[str, Column] = {}
        session.param.watch(self._follow, "frame")
        session.param.watch(self._dim, ["busy", "frame"])
        session.look.param.watch(self._follow, "side")
        session.look.param.watch(self._pick, "selected")
        self._follow()

    def _follow(self, *_: Any) -> None:
        frame, before = self._session.frame, self._frame
        if frame is None or self._session.look.side != TOKENS:
            return
        changed: dict[str, Any] = {}
        if before is None or before.sites.prefix != frame.sites.prefix:
            self._count = lens.AT_ONCE
            changed["batch"] = self.batch + 1
        if before is None or not same(before, frame):
            told, why = pulls(frame)
            changed |= {"pulls": [_line(each) for each in told], "why": why}
        self._frame = frame
        self._place(frame, changed)

    def _place(self, frame: Frame, changed: dict[str, Any]) -> None:
        """Show the strongest answers, as many as are wanted, and the selected token's."""
        self._shown = lens.answers(frame, self._count)
        sites = lens.sites_of(self._shown)
        self._columns = {key: column(frame, key, sites) for key in QUANTITIES}
        selected = self._selected(frame)
        self._added = lens.beyond(frame, self._shown, selected)
        more = self._count < min(len(frame.rollouts), lens.MOST)
        self.param.update(**changed, **self._told(frame), **_chosen(frame, selected), more=more)

    def _pick(self, *_: Any) -> None:
        """Say what is known of the selected token; the answers are told again only where its own comes or goes."""
        frame = self._frame
        if frame is None or frame is not self._session.frame or self._session.look.side != TOKENS:
            return
        selected, before = self._selected(frame), self._added
        self._added = lens.beyond(frame, self._shown, selected)
        told = {} if self._added == before else self._told(frame)
        self.param.update(**told, **_chosen(frame, selected))

    def _told(self, frame: Frame) -> dict[str, Any]:
        """The answers that are shown, and what their tokens are shaded by; only what was added is shaded anew."""
        shown, sites = self._shown + self._added, lens.sites_of(self._added)
        columns = {key: asdict(each) for key, each in self._columns.items()}
        if sites:
            for key, each in columns.items():
                added = column(frame, key, sites)
                each.update(shades=each["shades"] + added.shades, said=each["said"] + added.said)
        counted = lens.counted(frame, shown, self._count)
        return {"answers": [asdict(each) for each in shown], "columns": columns, "counted": counted}

    def _selected(self, frame: Frame) -> int | None:
        selected = self._session.look.selected
        return selected if self._has(frame, selected) else None

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
        if said(data, "more", bool) and self.more:
            self._count = min(self._count + lens.AT_ONCE, lens.MOST)
            self._place(frame, {})
        if where is not None and self._has(frame, where):
            self._send_msg({"site": where, "words": lens.elsewhere(frame, where, len(self.answers))})

    @staticmethod
    def _has(frame: Frame, site: int | None) -> bool:
        return site is not None and 0 <= site < len(frame.sites.text)


def _line(pull: Any) -> dict[str, Any]:
    rest = f"{pull.wants}; {pull.amount}"
    return {"site": pull.site, "word": pull.word, "after": pull.after, "rest": rest, "against": pull.share < 0}


def _chosen(frame: Frame, site: int | None) -> dict[str, Any]:
    """The selected token and what is known of it."""
    if site is None:
        return {"selected": -1, "details": {}}
    return {"selected": site, "details": {"named": lens.named(frame, site), "phrases": lens.details(frame, site)}}
