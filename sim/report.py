"""Frames and training records as short tables of text that a person can read."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
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


_TOKENS = ("longest", "|gradient|", "signal", "share", "student p", "teacher p", "", "after")
_NO_TOKENS = "no token pulls"


def frame_report(frame: Frame, title: str) -> str:
    """The verdict, the readings with their words, and the strongest tokens of a frame."""
    verdict = f"verdict: {frame.verdict.word} ({frame.verdict.rule})"
    tokens = _tokens(frame)
    strongest = table([_TOKENS, *tokens], right=range(1, 6)) if tokens else _NO_TOKENS
    return "\n\n".join([f"{title}\n{_head(frame)}", verdict, table(_readings(frame), right=[1]), strongest])


def frame_html(frame: Frame) -> str:
    """The same without a title as HTML, every word of it escaped, in the colours and letters of what it stands in."""
    verdict = f"<b>{escape(frame.verdict.word)}</b> ({escape(frame.verdict.rule)})"
    tokens = _tokens(frame)
    strongest = _html_table(tokens, range(1, 6), _TOKENS) if tokens else f"<p>{_NO_TOKENS}</p>"
    return f"<div><p>{verdict}<br>{escape(_head(frame))}</p>{_html_table(_readings(frame), [1])}{strongest}</div>"


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


def _head(frame: Frame) -> str:
    source, count = frame.config.source, len(frame.sites.text)
    return f"{frame.when}: {source.prompts} x {source.group_size} rollouts, {count} tokens"


def _readings(frame: Frame) -> list[tuple[str, str, str]]:
    """A row a reading: its name, its number, and its word or why there is no number."""
    found, named = dict(readings(frame)), words(frame)
    rows = []
    for label, path, key in _ROWS:
        value, word = found[path], named.get(key) if key else None
        if isinstance(value, Undetermined):
            rows.append((label, "-", value.reason))
        else:
            rows.append((label, number(value), word.word if word else ""))
    return rows


def _tokens(frame: Frame) -> list[tuple[str, ...]]:
    """A row for each of the strongest tokens, longest first."""
    sites = frame.sites
    strength = np.hypot(sites.x, sites.y) if sites.norm is None else sites.norm
    order = np.argsort(-strength, kind="stable")[:STRONGEST]
    order = order[strength[order] > 0]
    columns = (sites.norm, sites.signal, sites.share, sites.student_p, sites.teacher_p)
    return [
        (
            sites.text[i] if sites.raised[i] in ("", sites.text[i]) else f"{sites.text[i]} -> {sites.raised[i]}",
            *(number(None if column is None else float(column[i])) for column in columns),
            "clipped" if sites.clipped[i] else "",
            _tail(sites.prefix[i]),
        )
        for i in order.tolist()
    ]


def _html_table(rows: Iterable[Sequence[str]], right: Iterable[int], head: Sequence[str] = ()) -> str:
    """Rows as a table, the columns in `right` aligned right; a cell's blanks at its beginning set it in."""
    right = set(right)

    def cell(tag: str, i: int, text: str) -> str:
        inset = len(text) - len(text.lstrip(" "))
        style = f"text-align: {'right' if i in right else 'left'}" + f"; padding-left: {inset}em" * bool(inset)
        return f'<{tag} style="{style}">{escape(text.strip())}</{tag}>'

    lines = [[cell("th", i, text) for i, text in enumerate(head)]] if head else []
    lines += [[cell("td", i, text) for i, text in enumerate(row)] for row in rows]
    return "<table>" + "".join(f"<tr>{''.join(line)}</tr>" for line in lines) + "</table>"


def _tail(prefix: str) -> str:
    return prefix if len(prefix) <= _PREFIX_WIDTH else "..." + prefix[3 - _PREFIX_WIDTH :]
