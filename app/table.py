"""The picture as tables: everything that the canvas shows, as text in cells."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from app import marks
from app.lens import tail
from app.numbers import percent, significant
from app.picture import KNEE, Radius, number, order, spoken
from sim.frame import Frame, Reading, Undetermined
from sim.words import words

#: Arrows that a page of their table has.
ROWS = 25
UNKNOWN = "–"


@dataclass(frozen=True)
class Table:
    """A table of texts: the first cell of a row names it."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Page:
    """Some rows of the arrows' table: `number` counts pages from 0, of `pages`; `where` says which rows these are."""

    table: Table
    number: int
    pages: int
    where: str


def tables(frame: Frame, radius: Radius, trail: list[tuple[float, float]]) -> list[Table]:
    """All of the picture but its arrows: the update and its trail, the ring, the scale, and the readings beside it."""
    return [
        update(frame),
        *([_trail(trail)] if trail else []),
        ring(frame),
        scale(frame, radius),
        readings(frame),
    ]


def update(frame: Frame) -> Table:
    """The averaged update, in the plane and whole."""
    it = frame.update
    x, y = number(it.x), number(it.y)
    length: Reading = float(np.hypot(x, y)) if x is not None and y is not None else _first(it.x, it.y)
    rows = [
        _row("x in the plane", it.x, "safe radii"),
        _row("y in the plane", it.y, "safe radii"),
        _row("length in the plane", length, "safe radii"),
        ("angle in the plane", *_angle(x, y)),
        _row("share of its squared length that the plane holds", frame.plane.update_share, "", percent),
        _row("whole length over the safe radius", it.ratio, "safe radii"),
        _row("whole length", it.norm, "of parameters"),
        _row("safe radius along it", it.safe_radius, "of parameters"),
        _row("step size", it.step_size, ""),
    ]
    return Table("The averaged update", ("what", "value", "unit or reason"), tuple(rows))


def ring(frame: Frame) -> Table:
    """The rim of the safe region: its half axes in the picture's units, and how the longer one lies."""
    turned, axes, _ = np.linalg.svd(frame.plane.safe_ellipse)
    rows: list[tuple[str, ...]] = [("KL on the rim", significant(frame.config.safety.delta), "nats a token")]
    if np.isclose(axes[0], axes[1], rtol=1e-9):
        rows.append(("radius", significant(float(axes[0])), "safe radii: a circle"))
    else:
        angle = float(np.degrees(np.arctan2(turned[1, 0], turned[0, 0]))) % 180
        rows += [
            ("longer half axis", significant(float(axes[0])), "safe radii"),
            ("shorter half axis", significant(float(axes[1])), "safe radii"),
            ("angle of the longer one", significant(angle), "degrees from “right”"),
        ]
    return Table("The safe radius", ("what", "value", "unit"), tuple(rows))


def scale(frame: Frame, radius: Radius) -> Table:
    """How lengths are drawn: each circle of the scale that this frame reaches, and where it lies."""
    kept = radius.marks(marks.reach(frame, radius))
    drawn = radius.lengths(np.array(kept))
    how = (
        "in proportion"
        if radius.kind == "linear"
        else f"logarithmically, as asinh(length / {KNEE:g}) / asinh(1 / {KNEE:g})"
    )
    rows = [
        (significant(mark), significant(float(at)), "the safe radius" if mark == 1 else "")
        for mark, at in zip(kept, drawn, strict=True)
    ]
    caption = f"The scale: lengths are drawn {how}"
    return Table(caption, ("circle at, in safe radii", "drawn at, ring = 1", ""), tuple(rows))


def readings(frame: Frame) -> Table:
    """The readings beside the picture, each with its word and its rule."""
    said, measures = words(frame), frame.measures
    values: list[tuple[str, str, Reading, str]] = [
        ("Update", "update", frame.update.ratio, "safe radii"),
        ("KL of the step, measured", "kl", frame.update.kl_measured, "nats a token"),
        ("Density", "density", measures.density.within_share, "share of variance"),
        ("Bias: coherence", "bias", measures.bias.coherence, ""),
        ("Concentration", "concentration", measures.concentration.effective_share, "effective share of tokens"),
        ("Spread", "spread", measures.spread.participation_ratio, "directions"),
        ("Mean norm", "mean_norm", measures.mean_norm, ""),
    ]
    rows = [
        (name, said[key].word, _written(value), unit if number(value) is not None else _reason(value), said[key].rule)
        for name, key, value, unit in values
    ]
    rows.append(("Held by the plane", "", _written(frame.plane.captured_share, percent), "of the arrows", ""))
    return Table("The readings", ("reading", "word", "value", "unit or reason", "rule"), tuple(rows))


def page(frame: Frame, at: int) -> Page:
    """A page of the drawn arrows, the strongest first; a page beyond the ends is the nearest that there is."""
    drawn, sites = order(frame)[::-1], frame.sites
    pages = max(1, -(-len(drawn) // ROWS))
    at = max(0, min(at, pages - 1))
    rows = [_arrow(frame, place, int(site)) for place, site in list(enumerate(drawn, 1))[at * ROWS : (at + 1) * ROWS]]
    total = len(sites.text)
    shown = f"arrows {rows[0][0]} to {rows[-1][0]} of {len(drawn):,} drawn" if rows else "no arrow is drawn"
    left = f"; {total - len(drawn):,} of {total:,} tokens are zero or weaker, and not drawn" * (total > len(drawn))
    return Page(Table("The arrows, the longest first", _COLUMNS, tuple(rows)), at, pages, shown + left)


_COLUMNS = (
    "#", "word", "after", "its step raises", "x", "y", "length in safe radii", "angle in degrees",
    "length before the clip", "share of the update", "gradient's norm",
)  # fmt: skip


def _arrow(frame: Frame, place: int, site: int) -> tuple[str, ...]:
    sites = frame.sites
    x, y = float(sites.x[site]), float(sites.y[site])
    former = float(np.hypot(sites.unclipped_x[site], sites.unclipped_y[site]))
    share = float(sites.share[site])
    return (
        f"{place:,}",
        spoken(sites.text[site]),
        tail(sites.prefix[site]),
        spoken(sites.raised[site]) or UNKNOWN,
        significant(x),
        significant(y),
        significant(float(np.hypot(x, y))),
        _angle(x, y)[0],
        significant(former) if sites.clipped[site] else "not clipped",
        UNKNOWN if np.isnan(share) else f"{significant(100 * share)} %",
        "computing" if sites.norm is None else significant(float(sites.norm[site])),
    )


def _trail(trail: list[tuple[float, float]]) -> Table:
    rows = [
        (str(len(trail) - index), significant(x), significant(y), significant(float(np.hypot(x, y))))
        for index, (x, y) in enumerate(trail)
    ]
    columns = ("draws ago, in the order of the log", "x", "y", "length in safe radii")
    return Table("The trail: updates of earlier draws, in the plane", columns, tuple(rows))


def _row(name: str, value: Reading, unit: str, write: Callable[[float], str] = significant) -> tuple[str, ...]:
    return (name, _written(value, write), _reason(value) if isinstance(value, Undetermined) else unit)


def _written(value: Reading, write: Callable[[float], str] = significant) -> str:
    if isinstance(value, Undetermined):
        return "computing" if value.pending else UNKNOWN
    return write(value)


def _reason(value: Any) -> str:
    return value.reason if isinstance(value, Undetermined) else ""


def _first(*values: Reading) -> Undetermined:
    return next(value for value in values if isinstance(value, Undetermined))


def _angle(x: float | None, y: float | None) -> tuple[str, str]:
    """A direction in degrees, counted from right to up."""
    if x is None or y is None or (x == 0 and y == 0):
        return UNKNOWN, "no direction"
    return significant(float(np.degrees(np.arctan2(y, x)))), "degrees from “right”, counted upwards"
