"""The numbers of a frame as files: the very same ones, and where they come from beside them."""

import csv
import io
import json
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from sim import columns
from sim.columns import KINDS, column_kinds, columns_file
from sim.config import Config
from sim.errors import InvalidInput
from sim.frame import Frame, Sites
from sim.link import Link
from sim.presets import Preset
from sim.record import record
from sim.timeline import Moment
from tests.shipped import HINTED, RL, SFT, changed, frame

HOSTILE = '=1+1,=cmd|"/C calc"!A0;@SUM(1),-2+3'
NAMES = [field.name for field in fields(Sites)]
#: Settings that leave gaps: a batch without a signal, one that is half the student's, one without a teacher.
FRAMES = {
    "hinted": changed(HINTED, source={"prompts": 2}),
    "silent": changed(RL, source={"prompts": 1, "group_size": 2}, reward={"kind": "task"}),
    "half data": changed(SFT, source={"prompts": 2, "alpha": 0.5}),
}


def link(config: Config, title: str = "A title") -> Link:
    return Link(Preset(title=title, lesson="A lesson.", config=config), None, Moment(config))


def measured(name: str, complete: bool = True) -> tuple[Frame, Link]:
    return frame(FRAMES[name], complete=complete), link(FRAMES[name])


def rows(data: bytes) -> tuple[str, list[dict[str, str]]]:
    first, rest = data.decode().split("\n", 1)
    return first, list(csv.DictReader(io.StringIO(rest, newline="")))


def same(found: float | None, expected: float) -> bool:
    return (found is None) if np.isnan(expected) else (found == expected)


@pytest.mark.parametrize("name", FRAMES)
def test_every_number_in_csv_is_the_frames_own(name: str) -> None:
    measure, here = measured(name)
    _, found = rows(columns_file(measure, here, "csv"))
    assert [*found[0]] == NAMES
    for column in NAMES:
        expected = getattr(measure.sites, column)
        cells = [row[column] for row in found]
        if isinstance(expected, tuple):
            assert cells == list(expected)
        elif expected.dtype == bool:
            assert cells == ["true" if each else "false" for each in expected]
        else:
            assert all(same(float(cell) if cell else None, each) for cell, each in zip(cells, expected, strict=True))


@pytest.mark.parametrize("name", FRAMES)
def test_pandas_reads_the_frames_numbers_from_csv(name: str) -> None:
    measure, here = measured(name)
    data = columns_file(measure, here, "csv")
    table = pd.read_csv(io.BytesIO(data), comment="#")
    assert list(table.columns) == NAMES
    assert len(table) == len(measure.sites.text)
    for column in ("x", "y", "signal", "share", "norm", "kl", "teacher_p"):
        np.testing.assert_allclose(table[column].to_numpy(float), getattr(measure.sites, column), rtol=1e-14)
    assert list(table["text"]) == list(measure.sites.text)


@pytest.mark.parametrize("name", FRAMES)
def test_every_number_in_parquet_is_the_frames_own(name: str) -> None:
    measure, here = measured(name)
    table = pq.read_table(io.BytesIO(columns_file(measure, here, "parquet")))
    assert table.column_names == NAMES
    for column in NAMES:
        found, expected = table[column].to_pylist(), getattr(measure.sites, column)
        if isinstance(expected, tuple) or expected.dtype.kind != "f":
            assert found == list(expected)
        else:
            assert all(map(same, found, expected))


def test_json_is_the_frame_and_its_record() -> None:
    measure, here = measured("hinted")
    found = json.loads(columns_file(measure, here, "json"))
    assert found.pop("gradcloud") == record(here)
    assert found == measure.to_json()


def test_each_kind_carries_the_record() -> None:
    measure, here = measured("hinted")
    first, _ = rows(columns_file(measure, here, "csv"))
    assert first.startswith("# gradcloud {")
    assert json.loads(first.removeprefix("# gradcloud ")) == record(here)
    schema = pq.read_schema(io.BytesIO(columns_file(measure, here, "parquet")))
    assert json.loads(schema.metadata[b"gradcloud"]) == record(here)


def test_what_is_pending_or_undetermined_is_empty_and_says_why() -> None:
    measure, here = measured("half data", complete=False)
    unknown = np.isnan(measure.sites.teacher_p)
    assert unknown.any()
    assert not unknown.all()
    _, found = rows(columns_file(measure, here, "csv"))
    assert all(row["norm"] == "" for row in found)
    assert [row["teacher_p"] == "" for row in found] == list(unknown)
    table = pq.read_table(io.BytesIO(columns_file(measure, here, "parquet")))
    assert table["norm"].null_count == len(unknown)
    assert table["teacher_p"].null_count == unknown.sum()
    assert table.schema.field("norm").metadata[b"undetermined"] == b"still being computed"
    assert b"a label is known on data alone" in table.schema.field("teacher_p").metadata[b"undetermined"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_frame_gives_the_same_bytes(kind: str) -> None:
    measure, here = measured("hinted")
    assert columns_file(measure, here, kind) == columns_file(replace(measure), here, kind)


def test_no_cell_of_a_spreadsheet_begins_with_a_strangers_words() -> None:
    measure = frame(FRAMES["hinted"])
    data = columns_file(measure, link(FRAMES["hinted"], HOSTILE), "csv")
    first = data.decode().split("\n")[0]
    assert json.loads(first.removeprefix("# gradcloud "))["preset"]["title"] == HOSTILE
    for separator in ",;\t":
        for cell in next(csv.reader([first], delimiter=separator)):
            assert not cell.strip().lstrip('"').startswith(("=", "+", "@", "cmd", "-2"))


def test_words_that_are_signs_stay_as_they_are() -> None:
    measure, here = measured("hinted")
    assert {"=", "+", "*"} & set(measure.sites.text)
    _, found = rows(columns_file(measure, here, "csv"))
    assert [row["text"] for row in found] == list(measure.sites.text)


def test_a_machine_without_pyarrow_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    measure, here = measured("hinted")
    assert column_kinds() == {"csv": "", "json": "", "parquet": ""}
    monkeypatch.setattr(columns, "find_spec", lambda _: None)
    assert "pip install pyarrow" in column_kinds()["parquet"]
    with pytest.raises(InvalidInput, match="pip install pyarrow, or choose csv or json"):
        columns_file(measure, here, "parquet")
    assert columns_file(measure, here, "csv")


def test_a_pyarrow_that_does_not_load_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ImportError(f"{name}: wrong version of C++")

    monkeypatch.setattr(columns, "import_module", broken)
    with pytest.raises(InvalidInput, match=r"does not load \(pyarrow: wrong version of C\+\+\); install it again"):
        columns_file(*measured("hinted"), "parquet")


def test_an_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match='kind: got "xlsx", allowed csv, json or parquet'):
        columns_file(*measured("hinted"), "xlsx")
