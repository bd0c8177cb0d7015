"""Tables for people: what stands in them, and what where a number is missing."""

from dataclasses import replace

import numpy as np
import pytest

from sim import report
from sim.config import Config
from sim.frame import (
    PENDING,
    Bias,
    Concentration,
    Density,
    Frame,
    Measures,
    PlaneReadings,
    Rollout,
    Sites,
    Spread,
    Undetermined,
    UpdateReadings,
    Verdict,
)


def sites(count: int) -> Sites:
    steps = np.arange(count, dtype=float)
    return Sites(
        text=tuple(f"word{i}" for i in range(count)),
        raised=tuple(f"word{i}" for i in range(count)),
        raised_student_p=np.full(count, 0.5),
        raised_teacher_p=np.full(count, np.nan),
        prefix=tuple("ask 2 + 3 * 4 ? " + "so " * i for i in range(count)),
        sequence=np.zeros(count, np.int64),
        position=np.arange(count),
        x=-steps,
        y=steps,
        norm=steps + 1,
        signal=steps - 3,
        share=steps / 10,
        student_p=np.full(count, 0.0123456),
        teacher_p=np.full(count, np.nan),
        kl=steps,
        clipped=steps > 12,
        on_policy=np.ones(count, bool),
        unclipped_x=-steps,
        unclipped_y=steps,
    )


def frame(count: int = 15) -> Frame:
    return Frame(
        config=Config(seed=4),
        step=2,
        draw=3,
        sites=sites(count),
        rollouts=(Rollout("ask", "so", 1.0, 0.0, 0, True, True),) * 64,
        update=UpdateReadings(0.5, -0.1, 2.0, 1.0, 0.012345, 0.02, 1.5, 1.3333333, 0.25, 0.75),
        measures=Measures(
            density=Density(0.5, 0.9, 0.0),
            bias=Bias(0.125, Undetermined("one rollout only"), 0.25),
            concentration=Concentration(0.3, 0.4, 12.0),
            spread=Spread(5.0),
            mean_norm=8.0,
        ),
        plane=PlaneReadings("checkpoint", 0.01, 0.5, to_units=np.eye(2), safe_ellipse=np.eye(2)),
        verdict=Verdict("past", "past the safe radius", "above 1"),
    )


def test_a_report_opens_with_the_moment_and_the_verdict() -> None:
    lines = report.frame_report(frame(), "A lesson").splitlines()
    assert lines[:4] == [
        "A lesson",
        "seed 4, step 2, draw 3: 8 x 8 rollouts, 15 tokens",
        "",
        "verdict: past the safe radius (above 1)",
    ]


def test_every_reading_has_three_digits_and_its_word() -> None:
    text = report.frame_report(frame(), "t")
    (line,) = [line for line in text.splitlines() if line.startswith("update / safe radius")]
    assert line.split()[4] == "1.33"
    (line,) = [line for line in text.splitlines() if line.startswith("density")]
    assert line.split()[3] == "0.5"
    assert line.split()[-1] in ("sparse", "mixed", "dense")


def test_a_number_that_is_missing_has_its_reason() -> None:
    text = report.frame_report(frame(), "t")
    (line,) = [line for line in text.splitlines() if line.startswith("  noise scale")]
    assert line.endswith("-  one rollout only")
    assert "nan" not in text


def test_the_ten_strongest_tokens_are_listed_strongest_first() -> None:
    lines = report.frame_report(frame(), "t").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("longest"))
    rows = [line.split() for line in lines[start + 1 :]]
    assert [row[0] for row in rows] == [f"word{i}" for i in range(14, 4, -1)]
    assert rows[0][1:7] == ["15", "11", "1.4", "0.0123", "-", "clipped"]


def test_without_norms_the_longest_arrows_are_the_strongest() -> None:
    pending = replace(frame(), sites=replace(sites(3), norm=None))
    pending = replace(pending, measures=replace(pending.measures, mean_norm=PENDING))
    lines = report.frame_report(pending, "t").splitlines()
    assert [line.split()[:2] for line in lines[-2:]] == [[f"word{i}", "-"] for i in (2, 1)]


def test_a_batch_in_which_no_token_pulls_says_so() -> None:
    assert report.frame_report(frame(0), "t").endswith("no token pulls")
    still = replace(frame(), sites=replace(sites(5), norm=np.zeros(5)))
    assert report.frame_report(still, "t").endswith("no token pulls")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.012345, "0.0123"), (1234.5, "1.23e+03"), (0.0, "0"), (None, "-"), (float("nan"), "-"), (PENDING, "-")],
)
def test_numbers_have_three_significant_digits(value: float | None, text: str) -> None:
    assert report.number(value) == text


def test_a_record_stands_under_its_headings() -> None:
    record = {
        "step": 50,
        "task_accuracy": 0.5,
        "entropy": 0.41,
        "kl_from_start": 0.001,
        "kept_skills": {"facts": 1.0, "copying": 0.75},
        "update_ratio": None,
        "density": 0.987,
        "bias": -1.2345e-05,
        "concentration": 0.5,
        "verdict": "no signal",
    }
    header, row = report.record_header(), report.record_row(record)
    assert row.split() == ["50", "0.5", "0.41", "0.001", "1", "0.75", "-", "0.987", "-1.23e-05", "0.5", "no", "signal"]
    assert header.index("ratio") + len("ratio") == row.index("-") + 1
    assert header.index("verdict") == row.index("no signal")


def test_a_table_aligns_its_columns() -> None:
    assert report.table([("a", "1"), ("bbb", "22")], right=[1]) == "a     1\nbbb  22"
