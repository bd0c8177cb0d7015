"""Where words stand beside the tips of their arrows: within the picture, and clear of each other and of its captions.

The page's script places its words by the same rules, as only the browser knows how large its picture is.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Box = tuple[float, float, float, float]

#: Pixels between a tip and its word; arrows that count, the strongest; how many of these the update counts for.
GAP, ARROWS, HEAVY = 8.0, 600, 200
_STEPS = (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6)


def places(
    tips: Floats, widths: Sequence[float], line: float, area: Box, taken: Sequence[Box], origin: tuple[float, float],
    arrows: Floats, heavy: Floats,
) -> list[Box | None]:  # fmt: skip
    """A box (left, top, right, bottom) for each word, the most important first; None where there is no room for one.

    A word stands outward of its tip and near its height if there is room; else where the fewest arrows are covered:
    further up or down, at the picture's edge, or inward.

    Args:
        tips: [n, 2], where the words belong.
        widths: how wide each is.
        line: how high a line is.
        area: what they must lie in.
        taken: boxes that nothing may cover.
        origin: where arrows begin.
        arrows: [m, 2], their tips, the strongest last.
        heavy: [k, 2], tips that are covered last.
    """
    left, top, right, bottom = area
    closed, found = list(taken), list[Box | None]()
    for (x, y), width in zip(tips, widths, strict=True):
        out = x >= origin[0]
        beside, edge = (x + GAP, right - width - 2) if out else (x - GAP - width, left + 2)
        inward = x - GAP - width if out else x + GAP
        best: tuple[float, Box] | None = None
        for side, start in enumerate((beside, edge, inward)):
            for step in _STEPS:
                middle = y + step * line
                box = (start, middle - line / 2, start + width, middle + line / 2)
                inside = box[0] >= left + 2 and box[2] <= right - 2 and box[1] >= top + 2 and box[3] <= bottom - 2
                if not inside or any(_meet(box, each) for each in closed):
                    continue
                covered = _crossed(box, origin, arrows[-ARROWS:]) + HEAVY * _crossed(box, origin, heavy)
                cost = covered + 2 * abs(step) + 4 * side
                if best is None or cost < best[0]:
                    best = cost, box
        found.append(best and best[1])
        if best is not None:
            closed.append(best[1])
    return found


def _meet(one: Box, other: Box) -> bool:
    return one[2] > other[0] and one[0] < other[2] and one[3] > other[1] and one[1] < other[3]


def _crossed(box: Box, origin: tuple[float, float], tips: Floats) -> int:
    """How many arrows from the origin to the tips cross a box."""
    if not len(tips):
        return 0
    start, end = np.zeros(len(tips)), np.ones(len(tips))
    for axis, (low, high) in enumerate(((box[0], box[2]), (box[1], box[3]))):
        way = tips[:, axis] - origin[axis]
        moves = way != 0
        # The part of an arrow, as shares of its length, that lies between the two sides.
        one, other = ((side - origin[axis]) / np.where(moves, way, 1) for side in (low, high))
        never = ~moves & ~(low <= origin[axis] <= high)
        start = np.maximum(start, np.where(moves, np.minimum(one, other), np.where(never, 2.0, 0.0)))
        end = np.minimum(end, np.where(moves, np.maximum(one, other), 1.0))
    return int((start <= end).sum())
