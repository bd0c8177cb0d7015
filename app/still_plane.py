"""The plane on a sheet: the same arrows and marks as on the page, at the same coordinates, and what is said of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app import legend, marks, picture
from app.letters import width, wrapped
from app.palette import Palette
from app.picture import Columns, Radius
from app.room import Box, Floats, places
from app.sheet import Sheet
from app.still_key import draw_key
from app.table import unit
from sim.frame import Frame

#: Sizes of letters, a little larger than on the page, for the back row: captions, the scale's numbers, words.
CAPTION, NUMBER, WORD = 12.5, 12.5, 14.5


@dataclass(frozen=True)
class Seen:
    """How a picture is looked at: colours, scale, the site picked out, the tips of earlier draws, who drew it."""

    palette: Palette
    radius: Radius
    token: int | None = None
    trail: Sequence[tuple[float, float]] = ()
    credit: str = ""


def draw_plane(sheet: Sheet, frame: Frame, seen: Seen, box: Box, half: float) -> None:
    """Draw a frame's plane into a box (left, top, right, bottom) whose smaller side spans twice `half`."""
    _Plane(sheet, frame, seen, box, half).draw()


class _Plane:
    def __init__(self, sheet: Sheet, frame: Frame, seen: Seen, box: Box, half: float) -> None:
        self._sheet, self._frame, self._seen, self._box, self._half = sheet, frame, seen, box, half
        left, top, right, bottom = box
        self._zero = np.array([(left + right) / 2, (top + bottom) / 2])
        self._unit = min(right - left, bottom - top) / 2 / half
        self._palette, self._radius = seen.palette, seen.radius
        self._stroke, self._type = seen.palette.stroke, seen.palette.type
        self._trace = marks.is_trace(frame)
        self._pick = marks.selected(frame, seen.radius, seen.token)
        self._arrows = picture.arrows(frame, seen.radius, seen.palette.stroke)

    def draw(self) -> None:
        with self._sheet.within(self._box):
            self._scale()
            self._cloud()
            self._update()
            self._picked()
        self._captions()

    def _at(self, x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> Floats:
        """Where points of the plane lie on the sheet, [n, 2]."""
        return self._zero + self._unit * np.stack([np.asarray(x, float), -np.asarray(y, float)], axis=-1)

    def _tips(self, columns: Columns) -> Floats:
        return self._at(columns["x"], columns["y"])

    def _from_zero(self, tips: Floats) -> Floats:
        return np.stack([np.broadcast_to(self._zero, tips.shape), tips], axis=1)

    def _scale(self) -> None:
        (left, top, right, bottom), (x, y), hair = self._box, self._zero, self._palette.hair
        spans = np.array([[(left, y), (right, y)], [(x, top), (x, bottom)]])
        self._sheet.lines("axes", spans, hair, self._stroke)
        for r in marks.scale(self._radius, self._half)["r"]:
            self._sheet.circle("scale", self._zero, r * self._unit, edge=hair, width=self._stroke)

    def _cloud(self) -> None:
        sheet, cloud = self._sheet, self._palette.cloud
        former = picture.unclipped(self._frame, self._radius)
        start, end = self._at(former["x0"], former["y0"]), self._at(former["x1"], former["y1"])
        sheet.lines("former", np.stack([start, end], axis=1), cloud, self._stroke, dash=(2, 4))
        square = 2.5 * self._stroke * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
        sheet.polygons("former-tips", end[:, None] + square, self._palette.paper, edge=cloud, width=self._stroke)
        arrows, tips = self._arrows, self._tips(self._arrows)
        sheet.lines("cloud", self._from_zero(tips), cloud, arrows["width"], arrows["alpha"])
        sheet.polygons("heads", heads(self._zero, tips, 5 * self._stroke), cloud, alpha=0.6)

    def _update(self) -> None:
        sheet, colour, paper, stroke = self._sheet, self._palette.update, self._palette.paper, self._stroke
        trail = marks.trail(self._frame, self._radius, self._seen.trail)
        joined = np.stack([self._tips(trail), self._at(trail["x1"], trail["y1"])], axis=1)
        sheet.lines("trail", joined, colour, 1.2 * stroke, trail["alpha"])
        for at, size, alpha in zip(self._tips(trail), trail["size"], trail["alpha"], strict=True):
            sheet.circle("trail", at, size * stroke / 2, colour, paper, stroke, alpha)
        ring = self._tips(marks.ring(self._frame, self._radius))
        sheet.outline("ring", ring, self._palette.ring, 2.2 * stroke, (7, 5))
        whole = marks.whole(self._frame, self._radius)
        joined = np.stack([self._at(whole["x0"], whole["y0"]), self._tips(whole)], axis=1)
        sheet.lines("to-whole", joined, colour, 1.6 * stroke, dash=(2, 3))
        for at in self._tips(whole):
            sheet.circle("whole", at, 6.5 * stroke, paper, colour, 2.2 * stroke)
        size = stroke * marks.head(self._frame, self._radius, self._half)
        for tip in self._tips(marks.update(self._frame, self._radius)):
            # Blunt shafts would stick out at the sides of the head's point.
            way = tip - self._zero
            length = float(np.hypot(*way))
            base = tip - way * min(1.0, 0.8 * size / length) if length else tip
            sheet.lines("update", np.array([[self._zero, base]]), colour, stroke * (1.5 if self._trace else 5))
            fill, edge = (paper, 1.5 * stroke) if self._trace else (colour, 0.0)
            sheet.polygons("update-head", heads(self._zero, tip[None], size), fill, edge=colour, width=edge)

    def _picked(self) -> None:
        sheet, ink, paper, stroke = self._sheet, self._palette.ink, self._palette.paper, self._stroke
        tips, whole = self._tips(self._pick), self._at(self._pick["whole_x"], self._pick["whole_y"])
        known = np.isfinite(whole).all(axis=1)
        sheet.lines("picked-whole", np.stack([tips, whole], axis=1)[known], ink, 1.4 * stroke, dash=(2, 4))
        diamond = 5 * stroke * np.array([(0, -1), (1, 0), (0, 1), (-1, 0)])
        sheet.polygons("picked-whole", whole[known][:, None] + diamond, paper, edge=ink, width=1.8 * stroke)
        for tip in tips:
            sheet.circle("picked", tip, 7.5 * stroke, edge=paper, width=6.5 * stroke)
            sheet.circle("picked", tip, 7.5 * stroke, edge=ink, width=2 * stroke)

    def _captions(self) -> None:
        (left, top, right, bottom), (x, y) = self._box, self._zero
        scale = marks.scale(self._radius, self._half)
        for down, said in zip(self._at(np.zeros(len(scale["y"])), scale["y"])[:, 1], scale["text"], strict=True):
            if down < bottom - 2:
                self._patch((x, down), [said], NUMBER, "center", middle=True)
        frame, seen = self._frame, self._seen
        named = legend.keyed(
            len(picture.moved(frame)) > 0, trail=bool(seen.trail), trace=self._trace, picked=len(self._pick["x"]) > 0
        )
        taken = [draw_key(self._sheet, named, self._palette, (left, top + 4), CAPTION * self._type)]
        to_right, up = legend.AXES[frame.plane.basis]
        counted = [*legend.count(frame), legend.lengths(self._radius.kind, unit(frame))]
        held = [line.strip() for line in legend.held(frame)]
        room = (right - left) * 0.45
        lines = [each for line in held for each in wrapped(line, room, CAPTION * self._type, 6)]
        lines += [seen.credit] * bool(seen.credit)
        line = 1.45 * CAPTION * self._type
        taken += [
            self._patch((x + 6, top + line / 2 + 2), [up], CAPTION, "left", middle=True),
            self._patch((right - 5, y + line / 2 + 4), [to_right], CAPTION, "right", middle=True),
            self._patch((left + 5, bottom - len(counted) * line - 2), counted, CAPTION, "left"),
            self._patch((right - 5, bottom - len(lines) * line - 2), lines, CAPTION, "right"),
        ]
        if not len(picture.order(frame)):
            why = wrapped(frame.verdict.rule, 0.7 * (right - left), 13 * self._type, 6)
            taken.append(self._patch((x, top + 0.38 * (bottom - top)), why, 13, "center", ink=True))
        self._words(taken)

    def _patch(
        self, at: tuple[float, float], lines: Sequence[str], size: float, align: str, *, middle: bool = False,
        ink: bool = False,
    ) -> Box:  # fmt: skip
        """Lines of letters on a patch of paper, to be read on top of arrows; `at` is the top, or the middle of it."""
        size *= self._type
        line, wide = 1.45 * size, max((width(each, size) for each in lines), default=0.0)
        x, top = at[0], at[1] - (len(lines) * line / 2 if middle else 0)
        left = x - {"left": 0.0, "center": 0.5, "right": 1.0}[align] * wide
        box = (left - 3, top, left + wide + 3, top + len(lines) * line)
        self._sheet.box("", box, self._palette.paper, 0.82)
        for row, said in enumerate(lines):
            colour = self._palette.ink if ink else self._palette.muted
            self._sheet.text(x, top + row * line + 0.5 * line + 0.36 * size, said, size, colour, align=align)
        return box

    def _words(self, taken: Sequence[Box]) -> None:
        """The strongest words in bold, each where it covers nothing that matters, or not at all."""
        frame, radius, size = self._frame, self._radius, WORD * self._type
        note = marks.noted(frame, radius)
        words = picture.words(frame, radius, self._seen.token)
        said = [*note["text"], *words["text"]]
        tips = self._at([*note["x"], *words["x"]], [*note["y"], *words["y"]])
        whole, update = marks.whole(frame, radius), marks.update(frame, radius)
        heavy = np.concatenate([self._tips(update), self._tips(whole)])
        found = places(
            tips, [width(each, size, bold=True) + 4 for each in said], 1.25 * size, self._box, taken,
            (float(self._zero[0]), float(self._zero[1])), self._tips(self._arrows), heavy,
        )  # fmt: skip
        for each, tip, box in zip(said, tips, found, strict=True):
            if box is None:
                continue
            self._sheet.box("", box, self._palette.paper, 0.75)
            left = box[0] >= tip[0]
            x = box[0] + 2 if left else box[2] - 2
            y = (box[1] + box[3]) / 2 + 0.36 * size
            self._sheet.text(x, y, each, size, self._palette.ink, bold=True, align="left" if left else "right")


def heads(origin: Floats, tips: Floats, size: float) -> Floats:
    """The triangles of arrow heads [n, 3, 2]: as long and as wide as `size`, their points at the tips."""
    way = tips - origin
    length = np.hypot(way[:, 0], way[:, 1])[:, None]
    way = np.divide(way, length, out=np.zeros_like(way), where=length > 0) * size
    side = np.stack([-way[:, 1], way[:, 0]], axis=1) / 2
    return np.stack([tips, tips - way + side, tips - way - side], axis=1)
