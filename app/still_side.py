"""What stands beside the plane on a sheet: title, verdict, and the readings with their words."""

import numpy as np

from app.fields import describe
from app.letters import width, wrapped
from app.palette import Palette
from app.room import Box
from app.sheet import Sheet
from app.table import readings
from sim.frame import Frame
from sim.installed import installed
from sim.link import Link

SMALL, BODY, LARGE = 12.5, 15.0, 21.0


def draw_side(sheet: Sheet, frame: Frame, link: Link, palette: Palette, box: Box) -> None:
    """Draw title, moment, verdict and readings into a box (left, top, right, bottom)."""
    left, top, right, bottom = box
    small, large = SMALL * palette.type, LARGE * palette.type
    y = top
    for line in wrapped(link.preset.title, right - left, large * 0.85, 3, bold=True):
        y += 1.3 * large * 0.85
        sheet.text(left, y - 0.3 * large * 0.85, line, large * 0.85, palette.ink, bold=True)
    y += 4
    for line in _moment(frame, link, right - left, small):
        y += 1.4 * small
        sheet.text(left, y - 0.3 * small, line, small, palette.muted)
    y += 12
    draw_verdict(sheet, frame.verdict.level, palette, (left + 14, y + 14))
    for row, line in enumerate(wrapped(frame.verdict.word, right - left - 40, large, 2, bold=True)):
        sheet.text(left + 40, y + 14 + 0.36 * large + 1.2 * large * row, line, large, palette.ink, bold=True)
        y += 1.2 * large * (row > 0)
    y += 40
    for name, word, value, unit, _ in (row for row in readings(frame).rows if row[1]):
        y = _reading(sheet, palette, (left, y, right, bottom), (name, word, value, unit))
    sheet.text(right, bottom - 7, f"gradcloud {installed()}", small, palette.muted, align="right")


def draw_verdict(sheet: Sheet, level: str, palette: Palette, at: tuple[float, float]) -> None:
    """The form of a verdict, which tells it without its colour, around a place."""
    forms = {"near": [(0, -11), (11, 0), (0, 11), (-11, 0)], "past": [(0, -11), (12, 11), (-12, 11)]}
    if level == "inside":
        sheet.circle("verdict", at, 9, palette.inside)
    elif level in forms:
        sheet.polygons("verdict", np.array([forms[level]]) + at, getattr(palette, level))
    else:
        sheet.lines("verdict", np.array([[(-9, 0), (9, 0)]]) + at, palette.muted, 4)


def _moment(frame: Frame, link: Link, room: float, size: float) -> list[str]:
    """Where in time the frame is, and what of its settings is not the preset's."""
    name = [] if link.name is None else [link.name]
    lines = [", ".join([*name, f"step {frame.step}", f"draw {frame.draw}", f"seed {frame.config.seed}"])]
    if frame.config != link.preset.config:
        lines.append(f"changed: {describe(link.preset.config, frame.config)}")
    return [each for line in lines for each in wrapped(line, room, size, 2)]


def _reading(sheet: Sheet, palette: Palette, box: Box, row: tuple[str, ...]) -> float:
    """A reading in a line with its number, and one or two of what it says; where the next begins."""
    (left, top, right, _), (name, word, value, unit) = box, row
    small, body = SMALL * palette.type, BODY * palette.type
    sheet.lines("rule", np.array([[(left, top), (right, top)]]), palette.hair)
    sheet.text(left, top + 1.35 * body, name, body, palette.ink, bold=True)
    sheet.text(right, top + 1.35 * body, value, body, palette.ink, bold=True, align="right")
    y = top + 1.45 * body + 1.3 * small
    sheet.text(left, y, word, small, palette.muted)
    if width(word, small) + width(unit, small) + 16 <= right - left:
        sheet.text(right, y, unit, small, palette.muted, align="right")
    else:
        # A reason why there is no number, which takes lines of its own.
        for line in wrapped(unit, right - left, small, 2):
            y += 1.3 * small
            sheet.text(left, y, line, small, palette.muted)
    return y + 0.7 * small
