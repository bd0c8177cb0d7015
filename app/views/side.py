"""What stands beside the picture: the readings with the log, the tokens, or a tour; the verdict always."""

from pathlib import Path
from typing import Any

import panel as pn
import param

from app import theme
from app.look import READINGS, TOKENS, TOUR, Look
from app.views.messages import Component, said

_HERE = Path(__file__).with_suffix("")
_LABELS = {READINGS: "Readings", TOKENS: "Tokens", TOUR: "Tour"}
_SIDE = """
:host { min-width: 0; } :host > .grows { flex: 1 1 0; min-height: 130px; }
@media (max-width: 700px) { :host > .grows { flex: none; } }
"""


class Tabs(Component):
    """The choice of what stands beside the picture."""

    tabs = param.List(default=[list(pair) for pair in _LABELS.items()], constant=True)
    chosen = param.String(default=READINGS)

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, look: Look, **params: Any) -> None:
        super().__init__(chosen=look.side, **params)
        self._look = look
        look.param.watch(lambda change: self.param.update(chosen=change.new), "side")

    def _handle_msg(self, data: Any) -> None:
        chosen = said(data, "chosen", str)
        if chosen in _LABELS:
            self._look.side = chosen


class Side(pn.viewable.Viewer):
    """The column beside the picture.

    Args:
        look: which of them is on show.
        gauges: the verdict and the readings, which a tour leaves in sight.
        parts: what else stands there, by the name in the look.
    """

    def __init__(self, look: Look, gauges: Any, parts: dict[str, Any]) -> None:
        super().__init__()
        self._look, self._parts = look, parts
        self._column = pn.Column(
            Tabs(look, sizing_mode="stretch_width"), gauges, *parts.values(), css_classes=["side"],
            stylesheets=[_SIDE], margin=0,
        )  # fmt: skip
        look.param.watch(self._follow, "side")
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    def _follow(self, *_: Any) -> None:
        for name, part in self._parts.items():
            part.visible = name == self._look.side
