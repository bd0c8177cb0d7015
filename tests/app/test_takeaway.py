"""Each kind of file that may be taken away, made of a small batch and opened again."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import fields, replace
from typing import Any

import pytest
from PIL import Image

from app import takeaway
from app.takeaway import FEWEST, KINDS, LONGEST, Order, Shown, checked, made, missing
from sim.errors import Cancelled, InvalidInput
from sim.frame import Sites
from sim.link import Link, parse_link
from sim.presets import builtin, parse_preset
from sim.record import MARK
from sim.session_file import Kept, parse_session
from sim.timeline import Moment, Timeline
from tests.app.conftest import PRESET, SMALL, simulator


def shown_of(**changes: Any) -> Shown:
    """A small preset's moment, as it would be shared."""
    preset = PRESET.model_copy(update=changes)
    kept = Kept(Timeline(preset.config, preset.title), {0: (None, preset)})
    return Shown(Link(preset, None, kept.timeline.current.moment), preset, kept, ())


def file_of(kind: str, what: Shown, **order: Any) -> bytes:
    return made(Order(kind, **order), what, simulator().frame, lambda *_: None, lambda: False)


def test_the_preset_and_the_session_are_those_on_show() -> None:
    what = shown_of()
    assert parse_preset(file_of("preset", what)) == what.preset
    kept = parse_session(file_of("session", what))
    assert kept.timeline.current.moment == what.link.moment
    assert kept.presets == what.kept.presets


def test_a_picture_has_its_scale_and_a_drawing_is_one() -> None:
    what = shown_of()
    picture = Image.open(io.BytesIO(file_of("png", what, scale=2)))
    assert picture.size == (2560, 1440)
    assert parse_link(json.loads(picture.info[MARK])["link"])[0].moment == what.link.moment
    assert ET.fromstring(file_of("svg", what)).tag.endswith("svg")
    assert file_of("pdf", what).startswith(b"%PDF-")


def test_the_numbers_are_the_frames() -> None:
    what = shown_of()
    sites = simulator().frame(what.link.moment).sites
    rows = list(csv.DictReader(file_of("csv", what).decode().splitlines()[1:]))
    assert [float(row["x"]) for row in rows] == sites.x.tolist()
    assert [float(row["norm"]) for row in rows] == sites.norm.tolist()  # type: ignore[union-attr]
    body = json.loads(file_of("json", what))
    assert [row["y"] for row in body["sites"]] == sites.y.tolist()
    assert set(body["sites"][0]) == {field.name for field in fields(Sites)}
    assert file_of("parquet", what)[:4] == b"PAR1"


@pytest.mark.parametrize("along", ["draws", "steps"])
def test_what_moves_begins_at_the_moment_and_follows_draws_or_steps(along: str) -> None:
    what, asked, told = shown_of(), list[Moment](), list[tuple[int, int]]()

    def measure(moment: Moment) -> Any:
        asked.append(moment)
        return simulator().frame(moment)

    def progress(done: int, total: int) -> None:
        told.append((done, total))

    film = made(Order("gif", frames=3, along=along), what, measure, progress, lambda: False)
    first = what.link.moment
    follows = [first.next_draw(), first.next_draw().next_draw()]
    if along == "steps":
        follows = [first.next_step(), first.next_step().next_step()]
    assert asked == [first, *follows]
    assert told == [(done, 6) for done in range(1, 7)]
    assert Image.open(io.BytesIO(film)).n_frames == 3  # type: ignore[attr-defined]


def test_a_lesson_is_a_page_with_its_record() -> None:
    what = shown_of()
    told = list[tuple[int, int]]()
    page = made(
        Order("lesson", frames=2), what, simulator().frame, lambda *each: told.append(each), lambda: False
    ).decode()
    assert told[-1] == (4, 4)
    record = re.search(rf'<script type="application/json" id="{MARK}">(.*?)</script>', page, re.DOTALL)
    assert record is not None
    assert parse_link(json.loads(record[1])["link"])[0].moment == what.link.moment


@pytest.mark.parametrize("kind", ["gif", "lesson"])
def test_what_moves_is_given_up_between_two_frames(kind: str) -> None:
    seen = list[Moment]()

    def measure(moment: Moment) -> Any:
        seen.append(moment)
        return simulator().frame(moment)

    with pytest.raises(Cancelled):
        made(Order(kind, frames=5), shown_of(), measure, lambda *_: None, lambda: len(seen) == 2)
    assert len(seen) == 2


def test_a_file_that_no_browser_is_handed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(takeaway, "MOST", 100)
    with pytest.raises(InvalidInput, match=r"the file: [0-9,]+ bytes, allowed at most 100; ask for fewer frames"):
        file_of("preset", shown_of())


@pytest.mark.parametrize(
    ("order", "told"),
    [
        (("exe", None, None, None), 'kind: got "exe", allowed preset'),
        (("png", 5, None, None), "scale: got 5, allowed 1, 2, 3 or 4"),
        (("png", None, None, None), "scale: got null"),
        (
            ("gif", None, LONGEST + 1, "draws"),
            f"frames: got {LONGEST + 1}, allowed a whole number, {FEWEST} to {LONGEST}",
        ),
        (("lesson", None, None, "steps"), "frames: got null"),
        (("lesson", None, -1, "backwards"), 'frames along: got "backwards", allowed draws or steps'),
    ],
)
def test_an_order_that_cannot_be_is_refused_by_name(order: tuple[Any, ...], told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        checked(*order)
    assert told in "\n".join(caught.value.problems)


def test_what_this_machine_cannot_make_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        takeaway, "column_kinds", lambda: {"csv": "", "parquet": "it needs pyarrow: pip install pyarrow"}
    )
    assert missing()["parquet"] == "it needs pyarrow: pip install pyarrow"
    with pytest.raises(InvalidInput, match="kind: it needs pyarrow: pip install pyarrow"):
        checked("parquet", None, None, None)
    assert "csv" not in missing()


def test_a_files_name_says_preset_seed_step_and_draw() -> None:
    clipped = builtin("opsd-collapse")
    moment = Moment(clipped.config).next_step().next_draw().next_draw()
    what = shown_of()
    what = replace(what, link=replace(what.link, preset=clipped, name="opsd-collapse", moment=moment), preset=clipped)
    assert what.filename(Order("png")) == "opsd-collapse-seed0-step1-draw2.png"
    assert what.filename(Order("png", scale=3)) == "opsd-collapse-seed0-step1-draw2-3x.png"
    assert what.filename(Order("lesson", frames=12, along="steps")) == "opsd-collapse-seed0-step1-draw2-12-steps.html"
    assert what.filename(Order("session")) == "opsd-collapse-seed0-step1-draw2-session.json"
    assert what.filename(Order("preset")) == "opsd-collapse.json"
    turned = replace(what, preset=clipped.model_copy(update={"config": SMALL}))
    assert turned.filename(Order("preset")) == "opsd-collapse-changed.json"


@pytest.mark.parametrize("title", ["../../etc/passwd", "Ein Übel: <b>*?|</b>", "№ §", "con", "a" * 80])
def test_a_title_makes_no_file_name_that_harms(title: str) -> None:
    what = shown_of(title=title)
    for kind in KINDS:
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,119}\.[a-z0-9]+", what.filename(Order(kind, frames=9)))
