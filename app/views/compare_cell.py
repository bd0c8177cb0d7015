"""The head of one cell: its letter and preset, its verdict and clock, and what it could not compute."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import param

from app import theme
from app.cell import Cell
from app.linked import Comparison
from app.numbers import significant
from app.picture import number
from app.views.messages import Component, said
from app.views.script import script
from sim.errors import InvalidInput
from sim.presets import builtin, names

_HERE = Path(__file__).with_suffix("")


class CellHead(Component):
    """What stands over the picture of a cell.

    Args:
        comparison: what the cell is part of.
        place: its place there.
        opened: called with whether the dials are wanted.
    """

    letter = param.String(default="", constant=True)
    presets = param.List(default=[], constant=True)
    current = param.String(default="")
    changed = param.Boolean(default=False, doc="whether other settings than the preset's own are on show")
    level = param.String(default="none")
    verdict = param.String(default="")
    rule = param.String(default="")
    ratio = param.String(default="")
    clock = param.String(default="")
    failure = param.String(default="")
    open = param.Boolean(default=False)

    _esm = script(_HERE)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, comparison: Comparison, place: int, opened: Callable[[bool], None], **params: Any) -> None:
        cell: Cell = comparison.every[place]
        offered = [[name, builtin(name).title] for name in names()]
        super().__init__(letter=cell.letter, presets=offered, name=f"head-{cell.letter.lower()}", **params)
        self._comparison, self._place, self._cell, self._opened = comparison, place, cell, opened
        cell.param.watch(self._follow, ["frame", "failure", "busy", "preset_name"])
        cell.dials.param.watch(self._follow, "config")
        self._follow()

    def _follow(self, *_: Any) -> None:
        cell = self._cell
        self.param.update(
            current=cell.preset_name, failure=cell.failure, changed=cell.dials.config != cell.preset.config
        )
        if cell.frame is None or cell.failure:
            # What is still in sight is of another batch or of other settings.
            word = "no frame" if cell.failure else "measuring"
            self.param.update(level="none", verdict=word, rule="", ratio="", clock="")
            return
        verdict, ratio = cell.frame.verdict, number(cell.frame.update.ratio)
        self.param.update(
            level="none" if cell.stale else verdict.level,
            verdict="measuring" if cell.stale else verdict.word,
            rule=verdict.rule,
            ratio="" if ratio is None or cell.stale else f"{significant(ratio)} safe radii",
            clock=f"step {cell.frame.step}, draw {cell.frame.draw}",
        )

    def _handle_msg(self, data: Any) -> None:
        chosen, wanted = said(data, "open", str), said(data, "dials", bool)
        if wanted is not None:
            self.open = wanted
            self._opened(wanted)
        if chosen is not None:
            try:
                self._comparison.choose(self._place, chosen)
            except InvalidInput as error:
                self._comparison.refuse(error.problems)
