"""The player: the two clocks, draw and step, and the ways back."""

from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from app import theme
from app.session import Session
from app.views.messages import said

_HERE = Path(__file__).with_suffix("")


class Player(JSComponent):
    """Buttons and keys that move a session through time."""

    playing = param.Boolean(default=False)
    step = param.Integer(default=0)
    draw = param.Integer(default=0)

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(**params)
        self._session = session
        session.param.watch(self._follow, ["frame", "playing"])
        self._follow()

    def _follow(self, *_: Any) -> None:
        frame = self._session.frame
        shown = {} if frame is None else {"step": frame.step, "draw": frame.draw}
        self.param.update(playing=self._session.playing, **shown)

    def _handle_msg(self, data: Any) -> None:
        session = self._session
        acts = {
            "first": session.first,
            "back": session.back,
            "play": session.pause if session.playing else session.play,
            "draw": session.draw,
            "step": session.step,
        }
        act = acts.get(said(data, "act", str) or "")
        if act is not None:
            act()
