"""What tokens are shaded by: five quantities, each in words, on a scale of its own, as shades from -1 to 1."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.numbers import significant
from sim.frame import PENDING, Frame, site_reasons

#: Per cent of the update, below which a share is only said to be less.
FAINTEST = 0.01


@dataclass(frozen=True)
class Quantity:
    """What tokens can be shaded by: how it is called, where it stands in the sites, how a value is said and written.

    A `signed` one is shaded in two colours from its zero. `top` is a fixed end of the scale, 0 for one that
    follows the batch.
    """

    label: str
    column: str
    said: Callable[[float], str]
    written: Callable[[float], str]
    signed: bool = False
    top: float = 0.0


def plain(value: float) -> str:
    """A number that has no unit."""
    return significant(value)


def nats(value: float) -> str:
    """A number of nats."""
    return f"{significant(value)} nats"


def percentage(share: float) -> str:
    """A share of the update, unsigned, with two digits: most tokens have far less than one per cent."""
    size = 100 * abs(share)
    return f"under {FAINTEST} %" if 0 < size < FAINTEST else f"{significant(size, 2)} %"


def clause(share: float) -> str:
    """A signed share of the update as a clause."""
    if share == 0:
        return "does not pull on the update, 0 %"
    return f"pulls {'with' if share > 0 else 'against'} the update, {percentage(share)}"


def _signed_percentage(share: float) -> str:
    return "−" * (share < 0) + percentage(share)


QUANTITIES: Mapping[str, Quantity] = {
    "share": Quantity("share of the update", "share", clause, _signed_percentage, signed=True),
    "norm": Quantity("gradient's norm", "norm", lambda value: f"gradient's norm {plain(value)}", plain),
    "kl": Quantity("KL to the teacher", "kl", lambda value: f"KL to the teacher {nats(value)}", nats),
    "signal": Quantity("advantage (signal)", "signal", lambda value: f"signal {nats(value)}", nats, signed=True),
    "student_p": Quantity(
        "student's probability", "student_p", lambda value: f"student's probability {plain(value)}", plain, top=1.0
    ),
}


@dataclass(frozen=True)
class Column:
    """A quantity at each of some sites: shades from -1 to 1 (the signed root of the value over `top`), and in words.

    The shade is None where the value is undetermined; then `missing` says for how many of the batch's tokens, and why.
    `ticks` are shades of the scale with what they stand for.
    """

    shades: tuple[float | None, ...]
    said: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    missing: str


def column(frame: Frame, key: str, sites: Sequence[int]) -> Column:
    """A quantity at some sites, on one scale for the whole batch."""
    quantity = QUANTITIES[key]
    values = getattr(frame.sites, quantity.column)
    reason = site_reasons(frame.config).get(quantity.column, PENDING.reason)
    if values is None:
        return Column((None,) * len(sites), (f"{quantity.label}: {reason}",) * len(sites), (), reason)
    known = values[~np.isnan(values)]
    top = quantity.top or ceiling(float(np.abs(known).max(initial=0)))
    gaps = len(values) - len(known)
    if gaps in (0, len(values)):
        missing = reason if gaps else ""
    else:
        missing = f"undetermined for {gaps:,} of {len(values):,} tokens: {reason}"
    here = [float(values[site]) for site in sites]
    return Column(
        tuple(None if value != value else _shade(value, top) for value in here),
        tuple(f"{quantity.label} undetermined" if value != value else quantity.said(value) for value in here),
        tuple((shade, quantity.written(float(np.sign(shade)) * shade**2 * top)) for shade in _stops(quantity, top)),
        missing,
    )


def ceiling(value: float) -> float:
    """The least of 1, 2, 5, 10, ... times a power of ten that a value does not exceed; 0 for 0."""
    if value == 0:
        return 0.0
    unit = 10.0 ** np.floor(np.log10(value))
    return float(next((step * unit for step in (1, 2, 5) if value <= step * unit), 10 * unit))


def _shade(value: float, top: float) -> float:
    return round(float(np.sign(value) * np.sqrt(abs(value) / top)), 3) if top else 0.0


def _stops(quantity: Quantity, top: float) -> tuple[float, ...]:
    if not top:
        return (0.0,)
    return (-1.0, -0.5, 0.0, 0.5, 1.0) if quantity.signed else (0.0, 0.5, 1.0)
