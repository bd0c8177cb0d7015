"""Lines of text as matplotlib draws them: in a font that comes with it, or as text in the fonts of who looks at it."""

import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.font_manager import FontProperties
from matplotlib.ft2font import FT2Font, LoadFlags

from app.theme import FONT

#: Stands for a letter that the font lacks.
UNKNOWN = "□"
#: The font's letters are wider than those of the page: so much smaller, they take the same room.
_NARROWER = 0.9


class Label(Artist):
    """A line of text at a place; `real` leaves its letters to the fonts of who looks at it."""

    def __init__(
        self, x: float, y: float, said: str, size: float, color: str, bold: bool, align: str, real: bool
    ) -> None:
        super().__init__()
        self._at, self._size, self._color, self._bold = (x, y), size, color, bold
        self._align, self._real, self._said = align, real, said

    def draw(self, renderer: Any) -> None:
        """Draw it; matplotlib would read `$x$` as a formula, and look for letters in whatever fonts there are."""
        gc = renderer.new_gc()
        gc.set_foreground(self._color)
        x, y = self.get_transform().transform(self._at)
        if renderer.flipy():
            y = renderer.get_canvas_width_height()[1] - y
        if self._real:
            family = [name.strip() for name in FONT.split(",")]
            font = FontProperties(family=family, size=self._size, weight="bold" if self._bold else "normal")
            renderer.draw_text(gc, x, y, of_xml(self._said), font, 0, mtext=self)
        else:
            font = FontProperties(fname=_file(self._bold), size=self._size * _NARROWER)
            share = {"left": 0.0, "center": 0.5, "right": 1.0}[self._align]
            pixels = renderer.points_to_pixels(share * width(self._said, self._size, self._bold))
            renderer.draw_text(gc, x - pixels, y, drawable(self._said, self._bold), font, 0)
        gc.restore()

    # What SVG asks a text for, to anchor it as it stands.

    def get_unitless_position(self) -> tuple[float, float]:
        """Where it is anchored."""
        return self._at

    def get_ha(self) -> str:
        """What of it stands there."""
        return self._align

    def get_rotation_mode(self) -> str:
        """How it would turn, if it did."""
        return "anchor"


@lru_cache(4096)
def width(said: str, size: float, bold: bool = False) -> float:
    """How wide a line is, in pixels."""
    font = _font(bold)
    font.set_size(size * _NARROWER, 72)
    font.set_text(drawable(said, bold), 0.0, flags=LoadFlags.NO_HINTING)
    return float(font.get_width_height()[0]) / 64


def drawable(said: str, bold: bool = False) -> str:
    """A line without letters that the font lacks: a box stands for each, nothing for what only joins others."""
    font = _font(bold)
    return "".join(
        each if font.get_char_index(ord(each)) else "" if unicodedata.category(each) in ("Cf", "Mn") else UNKNOWN
        for each in said
    )


def wrapped(said: str, room: float, size: float, most: int, bold: bool = False) -> list[str]:
    """A text in lines no wider than `room`; of more than `most` lines, the last one kept ends in an ellipsis."""
    lines, rest = list[str](), said.split()
    while rest:
        taken = 1
        while taken < len(rest) and width(" ".join(rest[: taken + 1]), size, bold) <= room:
            taken += 1
        line, rest = " ".join(rest[:taken]), rest[taken:]
        whole = width(line, size, bold) <= room
        if len(lines) + 1 == most and (rest or not whole):
            return [*lines, _cut(line, room, size, bold)]
        if not whole:
            # A word longer than a line is broken where the line ends.
            kept = next(end for end in range(len(line), 0, -1) if end == 1 or width(line[:end], size, bold) <= room)
            line, rest = line[:kept], [line[kept:], *rest]
        lines.append(line)
    return lines


def _cut(line: str, room: float, size: float, bold: bool) -> str:
    while line and width(f"{line}…", size, bold) > room:
        line = line[:-1]
    return f"{line.rstrip()}…"


def of_xml(said: str) -> str:
    """A line without the two letters of no alphabet that XML may not hold."""
    return said.replace("\ufffe", UNKNOWN).replace("\uffff", UNKNOWN)


def _file(bold: bool) -> Path:
    return Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")


@cache
def _font(bold: bool) -> FT2Font:
    return FT2Font(str(_file(bold)))
