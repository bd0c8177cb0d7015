"""The card of a guided tour: whom it is for, what a step says, and the ways on and back."""

from pathlib import Path
from typing import Any

import param

from app import theme
from app.formula import STYLE, mathml
from app.quoting import called, described
from app.tour import Guide
from app.views.messages import Component, said
from app.views.script import script
from sim.quotes import parts
from sim.tours import builtin_tour, names

_HERE = Path(__file__).with_suffix("")


class TourCard(Component):
    """A guide's step, as a card beside the picture."""

    levels = param.List(default=[], doc="names of the tours, with whom each is for")
    level = param.String(default="")
    place = param.Integer(default=0)
    count = param.Integer(default=1)
    title = param.String(default="")
    text = param.List(default=[], doc="pieces: the words; for a number also what it is, and where it stands")
    formula = param.String(default="", doc="MathML")
    look = param.String(default="", doc="what the step points at")
    called = param.String(default="", doc="and what that is called")
    here = param.Boolean(default=False, doc="whether the page shows the moment of the step")
    harder = param.String(default="", doc="whom the next tour is for")

    _esm = script(_HERE)
    _stylesheets = [theme.BASE, STYLE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, guide: Guide, **params: Any) -> None:
        super().__init__(levels=[[name, builtin_tour(name).level] for name in names()], **params)
        self._guide = guide
        guide.param.watch(self._follow, ["level", "place", "here"])
        self._follow()

    def _follow(self, *_: Any) -> None:
        guide = self._guide
        step = guide.step
        self.param.update(
            level=guide.level, place=guide.place, count=len(guide.tour.steps), title=step.title,
            text=pieces(step.text), formula=drawn(step.formula), look=step.look, called=called(step.look),
            here=guide.here, harder=builtin_tour(guide.harder).level if guide.harder else "",
        )  # fmt: skip

    def _handle_msg(self, data: Any) -> None:
        guide = self._guide
        level, move, look = said(data, "level", str), said(data, "move", int), said(data, "look", str)
        if level is not None:
            guide.choose(level)
        elif move in (-1, 1):
            guide.go(guide.place + move)
        elif look is not None and called(look):
            guide.point(look)
        elif said(data, "show", bool):
            guide.show()


def drawn(formula: str) -> str:
    """A step's formula as MathML; what stands apart by a wide space may stand in lines of its own."""
    return "".join(mathml(part.strip(" ,")) for part in formula.split(r"\qquad"))


def pieces(text: str) -> list[list[str]]:
    """A step's text: plain words as [words], a quoted number as [number, what it is, where it stands]."""
    return [[part] if isinstance(part, str) else [part.text, *described(part)] for part in parts(text)]
