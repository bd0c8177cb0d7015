"""The picture as a table, at the foot of the page: for eyes that cannot see the canvas, and for exact numbers."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import param

from app import table, theme
from app.picture import Radius
from app.session import Session
from app.views.messages import Component, said
from app.views.script import script

_HERE = Path(__file__).with_suffix("")


class PictureTable(Component):
    """What the canvas shows as tables; filled only while it is open, the arrows a page at a time."""

    tables = param.List(default=[], doc="the update, the ring, the scale and the readings")
    arrows = param.Dict(default={}, doc="a page of the arrows")

    _esm = script(_HERE)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(**params)
        self._session = session
        self._open = False
        self._page = 0
        self._first = session.timeline.events[0]
        session.param.watch(self._follow, "frame")
        session.param.watch(self._logged, "logged")
        session.look.param.watch(self._follow, "radius")

    def _follow(self, *_: Any) -> None:
        frame = self._session.frame
        if frame is None or not self._open:
            return
        page = table.page(frame, self._page)
        radius = Radius(self._session.look.radius)
        self.param.update(
            tables=[asdict(each) for each in table.tables(frame, radius, self._session.trail())], arrows=asdict(page)
        )

    def _logged(self, *_: Any) -> None:
        """Give up the trail with the log; what else is logged comes with a frame, which is followed anyway."""
        first = self._session.timeline.events[0]
        if first is not self._first:
            self._first = first
            self._follow()

    def _handle_msg(self, data: Any) -> None:
        opened, asked = said(data, "open", bool), said(data, "page", int)
        if opened is not None:
            self._open = opened
        if asked is not None and self._session.frame is not None:
            self._page = table.page(self._session.frame, asked).number
        self._follow()
