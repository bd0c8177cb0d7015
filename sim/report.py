"""Frames and training records as short tables of text that a person can read."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sim.frame import Frame, Reading, Undetermined, readings
from sim.words import words

STRONGEST = 10
_PREFIX_WIDTH = 44

# What stands in the table, where it lies in the frame, and the key of its word.
_ROWS = (
    ("density, within rollouts", "measures.density.within_share", "density"),
    ("  sites with a signal", "measures.density.active_share", None),
    ("  groups without one", "measures.density.silent_groups", None),
    ("bias, coherence", "measures.bias.coherence", "bias"),
    ("  noise scale, rollouts", "measures.bias.noise_scale", None),
    ("  cosine with reward", "measures.bias.reward_cosine", None),
    ("concentration, effective share", "measures.concentration.effective_share", "concentration"),
    ("  share of the top 1 %", "measures.concentration.top1_share", None),
    ("  turn without the largest, degrees", "measures.concentration.leave_out_angle", None),
    ("spread, directions", "measures.spread.participation_ratio", "spread"),
    ("mean |gradient|", "measures.mean_norm", "mean_norm"),
    ("update / safe radius", "update.ratio", "update"),
    ("  with the clip / without", "update.clip_ratio", None),
    ("KL predicted, nats a token", "update.kl_predicted", None),
    ("KL measured, nats a token", "update.kl_measured", "kl"),
    ("length shown by the plane", "plane.captured_share", None),
)

# A training table's columns with their widths: 110 characters with the longest verdict.
_COLUMNS = (
    ("step", 6),
    ("accuracy", 9),
    ("entropy", 9),
    ("KL", 9),
    ("facts", 8),
    ("copying", 9),
    ("ratio", 9),
    ("density", 9),
    ("bias", 10),
    ("top 1 %", 10),
)


def frame_report(frame: Frame, title: str) -> str:
    """The verdict, the readings with their words, and the strongest tokens of a frame."""
    config = frame.config
    head = (
        f"{title}\nseed {config.seed}, step {frame.step}, draw {frame.draw}: "
        f"{config.source.prompts} x {config.source.group_size} rollouts, {len(frame.sites.text)} tokens"
    )
    verdict = f"verdict: {frame.verdict.word} ({frame.verdict.rule})"
    return "\n\n".join([head, verdict, _readings(frame), _tokens(frame)])


def number(value: Reading | None) -> str:
    """A number with three significant digits; a dash where there is none."""
    if value is None or isinstance(value, Undetermined) or math.isnan(value):
        return "-"
    return f"{value:.3g}"


def record_header() -> str:
    """The line above a training table's rows."""
    return _record_line([name for name, _ in _COLUMNS], "verdict")


def record_row(record: Mapping[str, Any]) -> str:
    """One training record, in its JSON form, as a line of the table."""
    kept = record["kept_skills"]
    values = [
        *(record[key] for key in ("task_accuracy", "entropy", "kl_from_start")),
        kept["facts"],
        kept["copying"],
        *(record[key] for key in ("update_ratio", "density", "bias", "concentration")),
    ]
    return _record_line([str(record["step"]), *map(number, values)], str(record["verdict"]))


def table(rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Rows as aligned columns, two blanks apart; the columns in `right` are aligned right."""
    rows, right = list(rows), set(right)
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    aligned = (
        [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    )
    return "\n".join("  ".join(cells).rstrip() for cells in aligned)


def _record_line(values: Sequence[str], verdict: str) -> str:
    cells = (value.rjust(width) for value, (_, width) in zip(values, _COLUMNS, strict=True))
    return "".join(cells) + f"  {verdict}".rstrip()


def _readings(frame: Frame) -> str:
    found, named = dict(readings(frame)), words(frame)
    rows = []
    for label, path, key in _ROWS:
        value, word = found[path], named.get(key) if key else None
        if isinstance(value, Undetermined):
            rows.append((label, "-", value.reason))
        else:
            rows.append((label, number(value), word.word if word else ""))
    return table(rows, right=[1])


def _tokens(frame: Frame) -> str:
    sites = frame.sites
    strength = np.hypot(sites.x, sites.y) if sites.norm is None else sites.norm
    order = np.argsort(-strength, kind="stable")[:STRONGEST]
    order = order[strength[order] > 0]
    if not len(order):
        return "no token pulls"
    head = ("longest", "|gradient|", "signal", "share", "student p", "teacher p", "", "after")
    columns = (sites.norm, sites.signal, sites.share, sites.student_p, sites.teacher_p)
    rows = [
        (
            sites.text[i] if sites.raised[i] in ("", sites.text[i]) else f"{sites.text[i]} -> {sites.raised[i]}",
            *(number(None if column is None else float(column[i])) for column in columns),
            "clipped" if sites.clipped[i] else "",
            _tail(sites.prefix[i]),
        )
        for i in order.tolist()
    ]
    return table([head, *rows], right=range(1, 6))


def _tail(prefix: str) -> str:
    return prefix if len(prefix) <= _PREFIX_WIDTH else "..." + prefix[3 - _PREFIX_WIDTH :]
