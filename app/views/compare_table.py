"""The readings of all cells in one table."""

from pathlib import Path
from typing import Any

import param

from app import theme
from app.linked import Comparison
from app.versus import Column, rows
from app.views.messages import Component
from app.views.script import script

_HERE = Path(__file__).with_suffix("")


class CompareTable(Component):
    """A row for each reading, a column for each cell, and how each stands to A."""

    letters = param.List(default=[])
    rows = param.List(default=[], doc="the name of a reading, what it is, and a value for each cell")

    _esm = script(_HERE)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, comparison: Comparison, **params: Any) -> None:
        super().__init__(name="versus", **params)
        self._comparison = comparison
        comparison.param.watch(self._follow, ["changed", "busy", "cells"])
        for cell in comparison.every:
            cell.param.watch(self._previewed, "frame")
        self._follow()

    def _previewed(self, change: Any) -> None:
        # What all cells show together is told by the comparison, once.
        if change.obj.previewing:
            self._follow()

    def _follow(self, *_: Any) -> None:
        cells = self._comparison.cells
        columns = [Column(each.letter, None if each.failure else each.frame, each.failure) for each in cells]
        self.param.update(
            letters=[each.letter for each in columns],
            rows=[
                {"name": row.name, "help": row.help, "values": [vars(each) for each in row.values]}
                for row in rows(columns)
            ],
        )
