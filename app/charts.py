"""From the records of runs to what their curves draw: columns, the ends of axes, numbers where curves end."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.numbers import significant
from sim.train import Record, collapse_step


@dataclass(frozen=True)
class Line:
    """How a run is drawn, told apart by colour, which is a role of the palette, by dash and by mark."""

    letter: str
    role: str
    dash: tuple[int, ...]
    marker: str


@dataclass(frozen=True)
class Chart:
    """One reading: its column, its name, how it is read off a record; `low` and `high` bound its axis at least."""

    column: str
    title: str
    read: Callable[[Record], float | None]
    low: float = 0.0
    high: float = 0.0
    log: bool = False


LINES = (Line("A", "ink", (), "circle"), Line("B", "aim", (4, 3), "square"))
CHARTS = (
    Chart("accuracy", "Task accuracy", lambda record: record.task_accuracy, high=1),
    Chart("facts", "Facts kept", lambda record: record.kept_skills.get("facts"), high=1),
    Chart("copying", "Copying kept", lambda record: record.kept_skills.get("copying"), high=1),
    Chart("entropy", "Entropy, nats", lambda record: record.entropy),
    Chart("kl", "KL from the start, nats", lambda record: record.kl_from_start),
    Chart("length", "Answer length, words", lambda record: record.answer_length),
    Chart("ratio", "Update / safe radius", lambda record: record.update_ratio, low=1, high=1, log=True),
    Chart("density", "Density: within answers", lambda record: record.density, high=1),
    Chart("bias", "Bias: coherence", lambda record: record.bias),
    Chart("concentration", "Concentration: top 1 %", lambda record: record.concentration),
)
#: Shares of a chart's height: what is left free above, and how far apart two numbers at the ends of curves stand.
_ROOM, _APART = 0.12, 0.16
#: Where a logarithmic axis ends at the latest: the update of a dead policy is a millionth of a millionth.
_FLOOR = 0.01
#: Below this a number at the end of a curve is only said to be smaller.
_SMALL = 0.01


def columns(records: Sequence[Record]) -> dict[str, list[float]]:
    """What the charts read off records, by column; what is undetermined is a gap."""
    read: dict[str, list[float]] = {"step": [float(record.step) for record in records]}
    return read | {chart.column: [_or_gap(value(chart, record)) for record in records] for chart in CHARTS}


def value(chart: Chart, record: Record) -> float | None:
    """What a chart shows of a record; zero has no place on a logarithmic axis."""
    read = chart.read(record)
    return None if read is None or not math.isfinite(read) or (chart.log and read <= 0) else read


def reach(chart: Chart, kept: Sequence[Sequence[Record]]) -> tuple[float, float]:
    """The ends of a chart's axis: what all its curves span, and some room for letters."""
    values = [each for records in kept for record in records if (each := value(chart, record)) is not None]
    low, high = min([chart.low, *values]), max([chart.high, *values])
    if chart.log:
        return max(low / 1.6, _FLOOR), high * 1.6
    span = (high - low) or 1.0
    return low - (_ROOM * span if low < 0 else 0.04 * span), low + (1 + _ROOM) * span


def labels(chart: Chart, kept: Sequence[Sequence[Record]], low: float, high: float) -> dict[str, list[Any]]:
    """The last number of each curve, where it ends; two that would lie on each other are moved apart."""
    found = [(line, end) for line, records in zip(LINES, kept, strict=False) if (end := _last(chart, records))]
    heights = [_along(chart, read, low, high) for _, (_, read) in found]
    if len(heights) == 2 and abs(heights[1] - heights[0]) < _APART and _beside(found[0][1][0], found[1][1][0]):
        heights = _apart(*heights)
    return {
        "x": [float(step) for _, (step, _) in found],
        "y": [_back(chart, min(max(height, _APART / 2), 1 - _APART / 2), low, high) for height in heights],
        "text": [f"{line.letter} {short(read)}" for line, (_, read) in found],
        "letter": [line.letter for line, _ in found],
        "marker": [line.marker for line, _ in found],
        "at": [read for _, (_, read) in found],
    }


def short(read: float) -> str:
    """A number in two digits, as it stands where a curve ends."""
    if 0 < abs(read) < _SMALL:
        return f"< {_SMALL}" if read > 0 else f"> −{_SMALL}"
    return significant(read, 2)


def marks(records: Sequence[Record], share: float, steps: int, height: float) -> dict[str, list[Any]]:
    """Where a run of so many steps collapsed, and the words beside the line, on the side that has room for them."""
    fell = collapse_step(records, share)
    if fell is None:
        return {name: [] for name in ("x", "y", "text", "align", "dx")}
    right = fell <= 0.9 * steps
    return {
        "x": [fell], "y": [height], "text": [f"collapsed\nstep {fell}"], "align": ["left" if right else "right"],
        "dx": [4 if right else -4],
    }  # fmt: skip


def _beside(step: int, other: int) -> bool:
    return abs(step - other) < 0.3 * max(step, other, 1)


def _apart(one: float, other: float) -> list[float]:
    middle = min(max((one + other) / 2, _APART / 2), 1 - _APART / 2)
    half = _APART / 2 if one >= other else -_APART / 2
    return [middle + half, middle - half]


def nearest(chart: Chart, kept: Sequence[Sequence[Record]], x: float, y: float) -> tuple[int, int] | None:
    """The run and the record next to a point of a chart: the nearest step of each run, of these the nearest value."""
    low, high = reach(chart, kept)
    found = []
    for run, records in enumerate(kept):
        if records:
            record = min(range(len(records)), key=lambda index: abs(records[index].step - x))
            read = value(chart, records[record])
            apart = math.inf if read is None else abs(_along(chart, read, low, high) - _along(chart, y, low, high))
            found.append((apart, run, record))
    return min(found)[1:] if found else None


def _along(chart: Chart, read: float, low: float, high: float) -> float:
    if chart.log:
        return math.log(max(read, low) / low) / math.log(high / low)
    return (read - low) / (high - low)


def _back(chart: Chart, share: float, low: float, high: float) -> float:
    return float(low * (high / low) ** share) if chart.log else low + share * (high - low)


def _last(chart: Chart, records: Sequence[Record]) -> tuple[int, float] | None:
    read = [(record.step, each) for record in records if (each := value(chart, record)) is not None]
    return read[-1] if read else None


def _or_gap(read: float | None) -> float:
    return math.nan if read is None else read
