"""The dials: every setting as a control, the everyday ones in sight and the rest under "more"."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import param

from app import theme
from app.fields import BY_NAME, FIELDS, Field, hints, idle, ladder, values
from app.look import RADII, Look
from app.state import Dials
from app.views.messages import Component, said
from app.views.script import script
from sim.sentences import shown

_HERE = Path(__file__).with_suffix("")
_RADIUS = Field("radius", "", "Lengths", "choice", "How the picture draws lengths: in proportion, or so that arrows of "
                "all sizes are seen.", RADII, group="Picture")  # fmt: skip


class Controls(Component):
    """The controls of a visitor's dials.

    Args:
        dials: what they turn.
        look: whose scale one of them turns too.
        offered: the names of those that are offered; by default all.
    """

    fields = param.List(default=[])
    values = param.Dict(default={})
    idle = param.Dict(default={}, doc="controls without an effect just now, with the reason")
    ladders = param.Dict(default={}, doc="the positions of the sliders in steps")
    hints = param.Dict(default={})
    note = param.String(default="")
    spotlight = param.String(default="", doc="the dial that a tour points at, if it points at one")

    _esm = script(_HERE)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, dials: Dials, look: Look, offered: Sequence[str] | None = None, **params: Any) -> None:
        fields = [each for each in (*FIELDS, _RADIUS) if offered is None or each.name in offered]
        super().__init__(fields=[_offered(each) for each in fields], **(_standing(dials, look) | params))
        self._dials, self._look, self._names = dials, look, {each.name for each in fields}
        dials.param.watch(self._follow, ["config", "note"])
        look.param.watch(self._follow, ["radius", "spotlight"])

    def _follow(self, *_: Any) -> None:
        self.param.update(**_standing(self._dials, self._look))

    def _handle_msg(self, data: Any) -> None:
        """Turn one dial; what the browser sends is checked like any other input."""
        name, done = said(data, "name", str), said(data, "done", bool)
        each = _RADIUS if name == _RADIUS.name else BY_NAME.get(name or "")
        if each is None or each.name not in self._names or done is None or "value" not in data:
            return
        try:
            if each is _RADIUS:
                self._look.radius = data["value"]
            else:
                self._dials.param.update(**{each.name: data["value"], "dragging": not done})
        except ValueError:
            self._dials.param.update(dragging=False, note=_refusal(each, data["value"]))
            self.param.trigger("values")


def _standing(dials: Dials, look: Look) -> dict[str, Any]:
    config = dials.config
    standing = values(config)
    return {
        "values": standing | {"radius": look.radius},
        "idle": idle(config),
        "ladders": {
            each.name: ladder(each.name, standing[each.name], config) for each in FIELDS if each.kind == "steps"
        },
        "hints": hints(config),
        "note": dials.note,
        "spotlight": look.spotlight,
    }


def _offered(each: Field) -> dict[str, Any]:
    return {
        "name": each.name, "label": each.label, "kind": each.kind, "help": each.help, "group": each.group,
        "choices": [list(pair) for pair in each.choices.items()], "low": each.low, "high": each.high,
        "step": each.step, "ends": list(each.ends) if each.ends else None, "symbol": each.symbol, "unit": each.unit,
    }  # fmt: skip


def _refusal(each: Field, value: Any) -> str:
    if each.kind == "switch":
        allowed = "on or off"
    elif each.kind == "choice":
        allowed = "one of " + ", ".join(each.choices.values())
    else:
        allowed = f"{each.low:g} to {each.high:.10g}"
    return f"{each.label}: got {shown(value)}, allowed {allowed}."
