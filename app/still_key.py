"""The key of a picture on a sheet: each mark in its form, beside what it stands for."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from app import legend
from app.letters import width
from app.palette import Palette
from app.room import Box
from app.sheet import Sheet

#: Pixels that a mark takes, and from its left to its words.
FORM, WORDS = 27.0, 34.0

_Form = Callable[[Sheet, Palette, float, float], None]


def draw_key(sheet: Sheet, named: Sequence[str], palette: Palette, at: tuple[float, float], size: float) -> Box:
    """Draw the marks of these names, a line each, with the top left corner at a place; the box that they take."""
    line, (left, top) = 1.45 * size, at
    wide = max(width(legend.MARKS[name], size) for name in named)
    box = (left, top, left + 5 + WORDS + wide + 5, top + len(named) * line + 2)
    sheet.box("key", box, palette.paper, 0.82)
    for row, name in enumerate(named):
        middle = top + 1 + (row + 0.5) * line
        _FORMS[name](sheet, palette, left + 5, middle)
        sheet.text(left + 5 + WORDS, middle + 0.36 * size, legend.MARKS[name], size, palette.muted)
    return box


def _line(
    sheet: Sheet, x: float, end: float, y: float, colour: str, width: float, dash: Sequence[float] | None = None
) -> None:
    sheet.lines("key", np.array([[(x + 1, y), (x + end, y)]]), colour, width, dash=dash)


def _shape(
    sheet: Sheet, x: float, y: float, corners: Sequence[tuple[float, float]], fill: str, edge: str, width: float
) -> None:
    sheet.polygons("key", np.array([corners]) + (x, y), fill, edge=edge, width=width)


def _cloud(sheet: Sheet, palette: Palette, x: float, y: float) -> None:
    _line(sheet, x, 19, y, palette.cloud, 1)
    _shape(sheet, x, y, [(24, 0), (18, -3), (18, 3)], palette.cloud, "none", 0)


def _unclipped(sheet: Sheet, palette: Palette, x: float, y: float) -> None:
    _line(sheet, x, 20, y, palette.cloud, 1, (1, 3))
    _shape(sheet, x, y, [(20, -2.5), (25, -2.5), (25, 2.5), (20, 2.5)], palette.paper, palette.cloud, 1)


def _picked(sheet: Sheet, palette: Palette, x: float, y: float) -> None:
    _line(sheet, x, 15, y, palette.ink, 1, (2, 3))
    _shape(sheet, x, y, [(20, -5), (24, 0), (20, 5), (16, 0)], palette.paper, palette.ink, 1.5)


def _update(sheet: Sheet, palette: Palette, x: float, y: float) -> None:
    _line(sheet, x, 17, y, palette.update, 4)
    _shape(sheet, x, y, [(26, 0), (16, -5), (16, 5)], palette.update, "none", 0)


def _trace(sheet: Sheet, palette: Palette, x: float, y: float) -> None:
    _line(sheet, x, 17, y, palette.update, 1.5)
    _shape(sheet, x, y, [(25, 0), (17, -4), (17, 4)], palette.paper, palette.update, 1.5)


def _whole(sheet: Sheet, palette: Palette, x: float, y: float) -> None:
    sheet.circle("key", (x + 13, y), 4.5, palette.paper, palette.update, 2)


def _trail(sheet: Sheet, palette: Palette, x: float, y: float) -> None:
    ways = np.array([[(3, 2), (13, -2)], [(13, -2), (23, 1)]]) + (x, y)
    sheet.lines("key", ways, palette.update, 1.0, 0.6)
    for at, down, size, alpha in ((3, 2, 1.5, 0.5), (13, -2, 2, 0.7), (23, 1, 2.7, 0.9)):
        sheet.circle("key", (x + at, y + down), size, palette.update, alpha=alpha)


def _ring(sheet: Sheet, palette: Palette, x: float, y: float) -> None:
    _line(sheet, x, 25, y, palette.ring, 2.2, (6, 4))


_FORMS: Mapping[str, _Form] = {
    "cloud": _cloud, "unclipped": _unclipped, "picked": _picked, "update": _update, "trace": _trace, "whole": _whole,
    "trail": _trail, "ring": _ring,
}  # fmt: skip
