"""What is drawn over the cloud: the update, the ring, what is picked out, and how far the picture reaches for them."""

from collections.abc import Sequence

import numpy as np

from app.numbers import percent
from app.picture import MISSING, Columns, Radius, beside, columns, number, pull
from app.picture import whole as whole_arrows
from sim.frame import Frame

#: Half the width in pixels that the picture usually has.
PIXELS = 320
#: Earlier draws whose updates are shown as a trail.
TRAIL = 12
#: The share of the update's squared length below which what the plane holds of it is drawn as a trace.
TRACE = 0.01


def tip(frame: Frame) -> tuple[float, float] | None:
    """Where the update ends in the plane's own units; None where it is no arrow."""
    x, y = number(frame.update.x), number(frame.update.y)
    return None if x is None or y is None or x == y == 0 else (x, y)


def update(frame: Frame, radius: Radius) -> Columns:
    """The averaged update's tip in the plane; empty where there is none."""
    end = tip(frame)
    return {"x": [], "y": []} if end is None else columns(*radius.points(*np.array(end)[:, None]))


def head(frame: Frame, radius: Radius, half: float) -> float:
    """The size in pixels of the update's arrow head; no longer than a short arrow itself."""
    drawn = update(frame, radius)
    length = float(np.hypot(drawn["x"], drawn["y"]).max(initial=0)) * PIXELS / half
    return min(16.0, max(7.0, 0.8 * length))


def whole(frame: Frame, radius: Radius) -> Columns:
    """Where the update would end if all of it lay in the plane: its ratio to the safe radius, along its direction.

    The mark lies beyond the ring exactly when the ratio is over 1: the rim in that direction is ratio 1.
    """
    held, ratio = tip(frame), number(frame.update.ratio)
    if held is None or ratio is None:
        return {"x0": [], "y0": [], "x": [], "y": []}
    way = np.array(held)
    rim = np.linalg.norm(np.linalg.solve(frame.plane.safe_ellipse, way))
    start, end = radius.points(*way[:, None]), radius.points(*(ratio * way / rim)[:, None])
    return {"x0": start[0].astype(np.float32), "y0": start[1].astype(np.float32)} | columns(*end)


def ring(frame: Frame, radius: Radius) -> Columns:
    """The rim of the safe region, as a closed line."""
    angle = np.linspace(0, 2 * np.pi, 181)
    x, y = frame.plane.safe_ellipse @ np.stack([np.cos(angle), np.sin(angle)])
    return columns(*radius.points(x, y))


def scale(radius: Radius, half: float) -> Columns:
    """Circles of the radius's scale with their lengths in the plane's units."""
    marks = radius.marks(half)
    drawn = radius.lengths(np.array(marks)).astype(np.float32)
    return {"r": drawn, "y": -drawn, "text": [f"{mark:g}" for mark in marks]}


def reach(frame: Frame, radius: Radius) -> float:
    """How far a picture must reach from its centre to show what matters: the ring and the update, whole.

    The logarithmic one shows every arrow as well; the linear one lets the longest run out of the picture.
    """
    ends = [ring(frame, radius), whole(frame, radius), update(frame, radius)]
    least = 1.15 if radius.kind == "linear" else 1.75
    if radius.kind == "log":
        ends.append(dict(zip("xy", radius.points(frame.sites.x, frame.sites.y), strict=True)))
    far = max(float(np.hypot(end["x"], end["y"]).max(initial=0)) for end in ends)
    return max(least, far * (1.25 if radius.kind == "linear" else 1.28))


def must_reach(frame: Frame, radius: Radius) -> float:
    """How far a picture must reach at least, so that the update and its mark are never out of sight."""
    ends = (whole(frame, radius), update(frame, radius), ring(frame, radius))
    return max(float(np.hypot(end["x"], end["y"]).max(initial=0)) for end in ends)


def selected(frame: Frame, radius: Radius, site: int | None) -> Columns:
    """The tip of the arrow that is picked out, its word, and where its whole length ends, NaN if that is not known."""
    if site is None or not 0 <= site < len(frame.sites.text) or not np.hypot(frame.sites.x[site], frame.sites.y[site]):
        return {"x": [], "y": [], "text": [], "whole_x": [], "whole_y": []}
    at = radius.points(frame.sites.x[[site]], frame.sites.y[[site]])
    ends = (np.where(end == np.float32(MISSING), np.nan, end) for end in whole_arrows(frame, radius, np.array([site])))
    return columns(*at) | {"text": [pull(frame, site)]} | dict(zip(("whole_x", "whole_y"), ends, strict=True))


def is_trace(frame: Frame) -> bool:
    """Whether the plane holds so little of the update that its arrow must not be read as the update."""
    share = number(frame.plane.update_share)
    return share is not None and share < TRACE


def noted(frame: Frame, radius: Radius) -> Columns:
    """What stands beside the tip of an update of which the plane holds a trace only, as a row for the words."""
    share, drawn = number(frame.plane.update_share), update(frame, radius)
    if share is None or not is_trace(frame) or not len(drawn["x"]):
        return beside({"x": [], "y": []}, [])
    return beside(drawn, [f"{percent(share)} of the update"])


def tips(before: Sequence[Frame], frame: Frame) -> list[tuple[float, float]]:
    """The tips that a frame's trail joins, oldest first, where these frames came before it: draws at its step."""
    draws = (each for each in before if each.step == frame.step and each.config == frame.config)
    ends = (tip(each) for each in draws if each.draw != frame.draw)
    return [end for end in ends if end is not None][-TRAIL:]


def trail(frame: Frame, radius: Radius, tips: Sequence[tuple[float, float]]) -> Columns:
    """Where the updates of earlier draws ended, oldest first, each joined to the next: the older, the fainter.

    The last is joined to the tip of the update on show.
    """
    if not tips:
        return {"x": [], "y": [], "x1": [], "y1": [], "alpha": [], "size": []}
    x, y = radius.points(*np.array(tips, float).T)
    now = update(frame, radius)
    ends = (np.append(each[1:], now[name] if len(now[name]) else each[-1]) for name, each in (("x", x), ("y", y)))
    fresh = np.arange(1, len(tips) + 1) / len(tips)
    return columns(x, y) | {
        **dict(zip(("x1", "y1"), (end.astype(np.float32) for end in ends), strict=True)),
        "alpha": (0.2 + 0.6 * fresh).astype(np.float32),
        "size": (3 + 4 * fresh).astype(np.float32),
    }
