import json
import os
from pathlib import Path
from typing import Any

import pytest

from sim.codec import MAX_BYTES
from sim.errors import InvalidInput
from sim.ledger_file import COMMAND, VERDICTS, dumps_ledger, load_ledger, markdown, parse_ledger
from tests.ledger import claim, ledger, measurement, three


def parsed(value: Any) -> Any:
    return parse_ledger(json.dumps(value))


def refused(value: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        parsed(value)
    (line,) = caught.value.problems
    assert line.startswith("claims.json: ")
    return line.removeprefix("claims.json: ")


def test_reading_what_was_written_gives_the_same_ledger() -> None:
    read = parsed(three())
    assert parse_ledger(dumps_ledger(read)) == read
    assert tuple(each.verdict for each in read.claims) == VERDICTS


def test_where_there_is_no_file_there_is_no_ledger(tmp_path: Path) -> None:
    assert load_ledger(tmp_path / "claims.json") is None


def test_a_ledger_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "claims.json"
    path.write_text(json.dumps(three()), "utf-8")
    assert load_ledger(path) == parsed(three())
    path.write_text("{", "utf-8")
    with pytest.raises(InvalidInput, match="not JSON at line 1"):
        load_ledger(path)


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_ledger(tmp_path)


def test_of_a_ledger_no_pipe_is_read_and_no_more_than_is_allowed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="no regular file"):
        load_ledger(tmp_path / "pipe")
    with (tmp_path / "claims.json").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(InvalidInput, match=f"over {MAX_BYTES} bytes"):
        load_ledger(tmp_path / "claims.json")


def changed(**changes: Any) -> dict[str, Any]:
    return ledger(claim(**changes))


@pytest.mark.parametrize(
    ("value", "path", "words"),
    [
        (changed(verdict="maybe"), "claims.0.verdict: ", "got \"maybe\"; it should be 'holds here'"),
        (changed(verdict="holds only when"), "claims.0: ", "write a condition"),
        (changed(condition="the batch is large"), "claims.0: ", "for no other verdict"),
        (changed(presets=["rl-noise-cancel"]), "claims.0.presets.0: ", 'did you mean "rl-noise-cancels"?'),
        (changed(measurements=[]), "claims.0.measurements: ", "at least 1 item"),
        (changed(seconds=-1), "claims.0.seconds: ", "got -1; it should be greater than or equal to 0"),
        (changed(seconds="3"), "claims.0.seconds: ", 'got "3"'),
        (changed(claim=""), "claims.0.claim: ", "at least 1 character"),
        (changed(name="RL noise"), "claims.0.name: ", 'got "RL noise"'),
        (changed(colour="red"), "claims.0.colour: ", "unknown key; remove it"),
        (ledger(claim(), claim()), "the ledger: ", 'claims named "rl-noise-cancels" come more than once'),
        (ledger(schema_version=2), "schema_version: ", "got 2; it should be 1"),
        ({"schema_version": 1, "made": ledger()["made"]}, "claims: ", f"missing; make the file again: {COMMAND}"),
        ([], "the ledger: ", "got a list of 0"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(value: Any, path: str, words: str) -> None:
    line = refused(value)
    assert line.startswith(path)
    assert words in line


@pytest.mark.parametrize(("field", "value"), [("mean", 0.5), ("low", 0.5), ("high", 1.5), ("mean", None)])
def test_a_summary_that_is_not_that_of_its_values_is_refused(field: str, value: float | None) -> None:
    wrong = measurement("slope", 0.9, 1.0, 1.1) | {field: value}
    line = refused(changed(measurements=[wrong]))
    assert line.startswith("claims.0.measurements.0: ")
    assert f"{field} is {json.dumps(value)}" in line


def test_rounded_summaries_are_taken() -> None:
    rounded = measurement("slope", -0.4, -0.39, -0.42) | {"mean": -0.403}
    assert parsed(changed(measurements=[rounded])).claims[0].measurements[0].mean == -0.403


def test_of_seeds_without_a_value_nothing_is_summed_up() -> None:
    none = parsed(changed(measurements=[measurement("slope", None, None)])).claims[0].measurements[0]
    assert (none.determined, none.mean, none.low, none.high) == ([], None, None, None)
    some = parsed(changed(measurements=[measurement("slope", 2.0, None, 4.0)])).claims[0].measurements[0]
    assert (some.determined, some.mean) == ([2.0, 4.0], 3.0)
    assert "mean is 1.0" in refused(changed(measurements=[measurement("slope", None) | {"mean": 1.0}]))


def test_values_whose_sum_is_no_float_are_refused() -> None:
    huge = measurement("slope", 1.0, 1.0) | {"values": [1.7e308, 1.7e308]}
    assert "out of a float's range" in refused(changed(measurements=[huge]))


def test_numbers_that_are_none_are_refused() -> None:
    text = json.dumps(ledger()).replace("-0.42", "NaN")
    with pytest.raises(InvalidInput, match=r"claims\.0\.measurements\.0\.values\.2: got NaN"):
        parse_ledger(text)


def test_a_row_of_a_table_has_a_cell_for_each_column() -> None:
    table = {"name": "t", "title": "T", "note": "", "columns": ["a", "b"], "rows": [["x", 1.5], ["y", None]]}
    read = parsed(ledger(tables=[table])).tables[0]
    assert read.rows == (("x", 1.5), ("y", None))
    line = refused(ledger(tables=[table | {"rows": [["x", 1.5], ["y"]]}]))
    assert "row 1 has 1 cells, and there are 2 columns" in line


def test_the_table_of_the_readme_has_a_row_a_claim() -> None:
    assert markdown(parsed(three())).splitlines() == [
        "| claim | verdict | measured | preset |",
        "| --- | --- | --- | --- |",
        "| The noise of RL's gradient cancels as the batch grows. | holds here | "
        "slope of \\|G\\| against prompts -0.403 (-0.42 to -0.39) | rl-noise-cancels |",
        "| A clip brings the hinted student's step inside the safe radius. | "
        "holds only when the threshold is at most 1 nat. | update over safe radius, no clip 2.18 (1.98 to 2.4); "
        "the same, clip at 1 nat 0.125 (0.11 to 0.14) | opsd-collapse, opsd-clipped |",
        "| A step of SFT is a safe one. | does not hold here | update over safe radius 2.35 (2.21 to 2.5) |  |",
    ]


def test_the_table_of_the_readme_says_units_and_what_is_undetermined() -> None:
    both = [measurement("KL", 1234.5, unit="nats"), measurement("slope", None)]
    row = markdown(parsed(changed(measurements=both))).splitlines()[2]
    assert "| KL 1,234 nats; slope: undetermined |" in row


def test_an_empty_cell_of_null_is_kept_apart_from_zero() -> None:
    read = parsed(changed(measurements=[measurement("share", 0.0, None)])).claims[0].measurements[0]
    assert read.values == (0.0, None)
    assert (read.mean, read.low, read.high) == (0.0, 0.0, 0.0)
