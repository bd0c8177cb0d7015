"""The head of the comparison: how many cells, what all of them share, and what it is doing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import param

from app import compared, theme
from app.address import LONGEST
from app.compare import alike, overruled
from app.linked import Comparison
from app.numbers import significant
from app.picture import number
from app.views.messages import Component, said
from app.views.script import HISTORY, script
from sim.link import PARAMETERS
from sim.presets import builtin

_HERE = Path(__file__).with_suffix("")
SIZES = (2, 4)


class CompareBar(Component):
    """What is said of all cells together. It keeps the address at what is chosen.

    Args:
        comparison: the cells.
        opened: called with whether the dials of the shared settings are wanted.
    """

    names = param.List(default=[], doc="the cells' presets")
    alike = param.String(default="")
    overruled = param.List(default=[], item_type=str)
    busy = param.String(default="")
    problems = param.List(default=[], item_type=str)
    summary = param.String(default="")
    open = param.Boolean(default=False)
    address = param.String(default="", doc="the query of what is on show; while it plays, of where that began")
    first = param.String(default="", doc="the query of the page of what A shows")
    sizes = param.List(default=list(SIZES), constant=True)
    own = param.List(default=["page", *compared.PARAMETERS, *PARAMETERS], constant=True, doc="keys of the address")

    _esm = script(_HERE, HISTORY)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, comparison: Comparison, opened: Callable[[bool], None], **params: Any) -> None:
        super().__init__(name="compare-bar", **params)
        self._comparison, self._opened = comparison, opened
        self._there: tuple[Any, ...] = ()
        comparison.param.watch(self._follow, ["cells", "changed", "busy", "problems", "playing"])
        comparison.look.param.watch(self._point, ["theme", "radius"])
        self._follow()

    def _follow(self, *_: Any) -> None:
        comparison = self._comparison
        cells = comparison.cells
        config, first = cells[0].moment.config, builtin(cells[0].preset_name)
        lines = (overruled(each.letter, builtin(each.preset_name), first, config) for each in cells[1:])
        self._point()
        self.param.update(
            names=[each.preset_name for each in cells],
            alike=alike(config),
            overruled=[line for some in lines for line in some],
            busy="" if comparison.playing else comparison.busy,
            problems=comparison.problems,
            # While it plays, a sentence a second would drown everything else that is read aloud.
            summary=self.summary if comparison.playing else summary(comparison),
        )

    def _point(self, *_: Any) -> None:
        """Keep the addresses at what is on show, and only where that is another: thousands of steps take long."""
        comparison = self._comparison
        look = comparison.look.theme, comparison.look.radius
        there = (*look, *((cell.preset_name, cell.moment.key) for cell in comparison.cells))
        if there != self._there and not comparison.playing:
            self._there = there
            address, first = compared.queries(comparison, LONGEST)
            self.param.update(address=address, first=first)

    def _handle_msg(self, data: Any) -> None:
        count, wanted = said(data, "count", int), said(data, "dials", bool)
        if wanted is not None:
            self.open = wanted
            self._opened(wanted)
        if count in SIZES:
            self._comparison.resize(count)
        elif said(data, "dismiss", bool):
            self._comparison.problems = []


def summary(comparison: Comparison) -> str:
    """What the cells show, in a sentence."""
    told, clock = [], ""
    for cell in comparison.cells:
        if cell.failure or cell.frame is None:
            told.append(f"{cell.letter} {'has no frame' if cell.failure else 'is being computed'}")
            continue
        clock = f"Step {cell.frame.step}, draw {cell.frame.draw}: "
        ratio = number(cell.frame.update.ratio)
        times = "" if ratio is None else f", {significant(ratio)}"
        told.append(f"{cell.letter} {cell.frame.verdict.word}{times}")
    return f"{clock}{'; '.join(told)}."
