"""The keys that act on the page, and the list of them."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import param

from app import theme
from app.fields import BY_NAME, idle
from app.playable import Playable, acts
from app.session import Session
from app.shortcuts import CLIP, HELP, PRESETS, SHORTCUTS, preset_act
from app.views.messages import Component, said
from app.views.script import script
from sim.presets import builtin

_HERE = Path(__file__).with_suffix("")


class Keys(Component):
    """The shortcuts of one page, and a dialog that lists them.

    Args:
        target: what they move through time.
        others: what else they do on this page, by the acts of the table; a key without an act here is no shortcut.
    """

    shortcuts = param.List(default=[])

    _esm = script(_HERE)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(
        self, target: Playable, others: Mapping[str, Callable[[], object]] | None = None, **params: Any
    ) -> None:
        self._acts: dict[str, Callable[[], object]] = {**acts(target), **(others or {})}
        offered = [each.sent() for each in SHORTCUTS if each.act in self._acts or each.act == HELP]
        super().__init__(shortcuts=offered, **params)

    def _handle_msg(self, data: Any) -> None:
        act = self._acts.get(said(data, "act", str) or "")
        if act is not None:
            act()


def of_session(session: Session) -> dict[str, Callable[[], object]]:
    """What the keys do on a visitor's page besides moving through time."""
    presets = {preset_act(name): partial(_open, session, name) for name in PRESETS}
    return {CLIP: partial(toggle_clip, session), **presets}


def toggle_clip(session: Session) -> None:
    """Turn the clip on or off; where that would change nothing, say why."""
    why = idle(session.dials.config).get(CLIP)
    if why is None:
        session.dials.param.update(clip=not session.dials.clip, dragging=False)
    else:
        session.refuse([f"{BY_NAME[CLIP].label}: it changes nothing here; {why}"])


def _open(session: Session, name: str) -> None:
    session.open(builtin(name), name)
