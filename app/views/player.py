"""The player: the two clocks, draw and step, and the ways back."""

from pathlib import Path
from typing import Any

import param

from app import theme
from app.playable import Playable, acts
from app.session import SPEEDS
from app.shortcuts import button
from app.views.messages import Component, said

_HERE = Path(__file__).with_suffix("")


class Player(Component):
    """Buttons that move something through time."""

    playing = param.Boolean(default=False)
    step = param.Integer(default=0)
    draw = param.Integer(default=0)
    speed = param.Integer(default=1)
    speeds = param.List(default=list(SPEEDS), constant=True)
    lesson = param.Boolean(default=True, constant=True, doc="whether there is a lesson below")
    buttons = param.Dict(default={}, constant=True, doc="what each button says, and which key does the same")

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, target: Playable, **params: Any) -> None:
        self._target, self._acts = target, acts(target)
        super().__init__(buttons={act: button(act) for act in self._acts}, **params)
        target.param.watch(self._follow, ["frame", "playing", "speed"])
        self._follow()

    def _follow(self, *_: Any) -> None:
        target = self._target
        shown = {} if target.frame is None else {"step": target.frame.step, "draw": target.frame.draw}
        self.param.update(playing=target.playing, speed=target.speed, **shown)

    def _handle_msg(self, data: Any) -> None:
        act, speed = self._acts.get(said(data, "act", str) or ""), said(data, "speed", int)
        # A Pause that was pressed while something else paused asks for what there is already, and is no Play.
        if act is not None and said(data, "playing", bool) in (None, self._target.playing):
            act()
        if speed in SPEEDS:
            self._target.speed = speed
