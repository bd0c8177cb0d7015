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
from sim.words import Word, words

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
        *([_trail(frame, trail)] if trail else []),
        ring(frame),
        scale(frame, radius),
        readings(frame),
    ]


def unit(frame: Frame) -> str:
    """What lengths in the picture are counted in."""
    if frame.plane.basis != "checkpoint":
        return "mean radii of the safe region"
    return "safe radii of the start" if frame.step else "safe radii"


def update(frame: Frame) -> Table:
    """The averaged update, in the plane and whole."""
    it = frame.update
    x, y = number(it.x), number(it.y)
    length: Reading = float(np.hypot(x, y)) if x is not None and y is not None else _first(it.x, it.y)
    rows = [
        _row("x in the plane", it.x, unit(frame)),
        _row("y in the plane", it.y, unit(frame)),
        _row("length in the plane", length, unit(frame)),
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
        rows.append(("radius", significant(float(axes[0])), f"{unit(frame)}: a circle"))
    else:
        angle = float(np.degrees(np.arctan2(turned[1, 0], turned[0, 0]))) % 180
        rows += [
            ("longer half axis", significant(float(axes[0])), unit(frame)),
            ("shorter half axis", significant(float(axes[1])), unit(frame)),
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
    rows = [(significant(mark), significant(float(at))) for mark, at in zip(kept, drawn, strict=True)]
    caption = f"The scale: lengths are drawn {how}"
    return Table(caption, (f"circle at, in {unit(frame)}", "drawn at; 1 stays 1"), tuple(rows))


def readings(frame: Frame) -> Table:
    """The readings beside the picture, each with its word and its rule."""
    said, measures = words(frame), frame.measures
    density, bias, concentration = measures.density, measures.bias, measures.concentration
    rows = [
        _reading("Update", said["update"], frame.update.ratio, "safe radii"),
        _reading("KL of the step, measured", said["kl"], frame.update.kl_measured, "nats a token"),
        _reading("KL of the step, predicted", None, frame.update.kl_predicted, "nats a token"),
        _reading("Length with the clip over that without", None, frame.update.clip_ratio, ""),
        _reading("Density", said["density"], density.within_share, "of the signal's variance"),
        _reading("Tokens with a signal", None, density.active_share, "of all"),
        _reading("Groups without a signal", None, density.silent_groups, "of all"),
        _reading("Bias: coherence", said["bias"], bias.coherence, ""),
        _reading("Bias: noise scale", None, bias.noise_scale, "rollouts"),
        _reading("Bias: cosine to the reward", None, bias.reward_cosine, ""),
        _reading("Concentration", said["concentration"], concentration.effective_share, "effective share of tokens"),
        _reading("Share of the top 1 % of tokens", None, concentration.top1_share, "of the update"),
        _reading("Turn without the largest token", None, concentration.leave_out_angle, "degrees"),
        _reading("Spread", said["spread"], measures.spread.participation_ratio, "directions"),
        _reading("Mean norm", said["mean_norm"], measures.mean_norm, ""),
        _reading("Held by the plane", None, frame.plane.captured_share, "of the arrows' squared length"),
    ]
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
    return Page(
        Table(f"The arrows, the longest first; lengths in {unit(frame)}", _COLUMNS, tuple(rows)),
        at,
        pages,
        shown + left,
    )


_COLUMNS = (
    "#", "word", "after", "its step raises", "x", "y", "length", "angle in degrees",
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


def _trail(frame: Frame, trail: list[tuple[float, float]]) -> Table:
    rows = [
        (str(len(trail) - index), significant(x), significant(y), significant(float(np.hypot(x, y))))
        for index, (x, y) in enumerate(trail)
    ]
    columns = ("draws ago, in the order of the log", "x", "y", f"length in {unit(frame)}")
    return Table("The trail: updates of earlier draws, in the plane", columns, tuple(rows))


def _reading(name: str, word: Word | None, value: Reading, unit: str) -> tuple[str, ...]:
    return (name, word.word if word else "", *_row("", value, unit)[1:], word.rule if word else "")


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
