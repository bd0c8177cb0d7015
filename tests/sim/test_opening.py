"""Files: told by their content what they are, opened where they were left, or refused with file, line and field."""

import html
import io
import json
import os
import re
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import options, presets, resources, session_file
from sim.columns import KINDS, columns_file
from sim.config import Clip, Config
from sim.errors import InvalidInput
from sim.link import Link
from sim.opening import MAX_BYTES, Opened, load_file, parse_file
from sim.presets import MAX_BYTES as MAX_PRESET
from sim.presets import Preset, builtin, dumps_preset, names, override
from sim.record import dumps_record, record
from sim.session_file import Kept, dumps_session
from sim.timeline import Moment, Timeline
from sim.timeline import Path as Steps
from tests.shipped import HINTED, frame
from tests.sim.test_presets import LINES, configs

HERE = settings(max_examples=30, deadline=None)
FAN = builtin("sft-fan")


def session(preset: Preset, name: str | None = None) -> Kept:
    """Three things done with a preset: a batch drawn, the clip turned, a step taken."""
    timeline = Timeline(preset.config, preset.title)
    timeline.act("draw", "draw 1", timeline.current.moment.next_draw())
    clip = preset.config.clip.model_copy(update={"on": not preset.config.clip.on})
    here = timeline.current.moment
    timeline.act("control", "the clip", here.with_config(here.config.model_copy(update={"clip": clip})))
    timeline.act("step", "a step", timeline.current.moment.next_step())
    return Kept(timeline, {0: (name, preset)})


def written(kept: Kept) -> bytes:
    return dumps_session(kept.timeline, kept.presets).encode()


def link(**changes: Any) -> Link:
    """A moment three steps from the checkpoint, with the clip on, as an export has it."""
    config = FAN.config.model_copy(update={"clip": Clip(on=True)})
    moment = Moment(config)
    for _ in range(3):
        moment = moment.next_step()
    return Link(**{"preset": FAN, "name": "sft-fan", "moment": moment.next_draw(), "look": {"theme": "dark"}} | changes)


# What ships, and what anybody may write.


@pytest.mark.parametrize("name", names())
def test_file_to_session_to_file_is_the_identity_for_a_shipped_preset(name: str) -> None:
    data = (resources.presets() / f"{name}.json").read_bytes()
    opened = parse_file(data, f"{name}.json")
    assert (opened.preset, opened.name, opened.kept, opened.what) == (builtin(name), None, None, "a preset")
    assert opened.moment == Moment(opened.preset.config)
    again = parse_file(written(session(opened.preset)), "session.json")
    assert again.kept is not None
    assert dumps_preset(again.kept.presets[0][1]).encode() == data
    assert written(again.kept) == written(session(opened.preset))


@settings(max_examples=15, deadline=None)
@given(configs(), LINES, LINES, st.lists(LINES, max_size=3))
def test_file_to_session_to_file_is_the_identity_for_any_preset(
    config: Config, title: str, lesson: str, tries: list[str]
) -> None:
    preset = Preset(title=title, lesson=lesson, try_=tuple(tries), config=config)
    opened = parse_file(dumps_preset(preset).encode(), "mine.json")
    assert opened == Opened(preset, None, Moment(config))
    kept = session(opened.preset)
    again = parse_file(written(kept), "mine.json")
    assert again.kept is not None
    assert written(again.kept) == written(kept)
    assert (again.preset, again.moment, again.what) == (preset, kept.timeline.current.moment, "a session of 4 events")
    assert dumps_preset(again.preset) == dumps_preset(preset)


def test_a_session_opens_at_the_preset_and_the_moment_where_it_was_left() -> None:
    kept = session(builtin("opsd-collapse"), "opsd-collapse")
    kept.presets[kept.timeline.start(FAN.title, FAN.config).index] = ("sft-fan", FAN)
    kept.timeline.rewind(2)
    opened = parse_file(written(kept), "session.json")
    assert (opened.preset, opened.name) == (builtin("opsd-collapse"), "opsd-collapse")
    assert opened.moment == kept.timeline.at(2)
    assert opened.what == "a session of 6 events"


def test_a_name_opens_what_ships_and_never_a_file_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sft-fan").write_text("{}", "utf-8")
    assert load_file("sft-fan") == Opened(FAN, "sft-fan", Moment(FAN.config))


# What is broken.


def refused(data: bytes | str, origin: str = "mine.json") -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        parse_file(data.encode() if isinstance(data, str) else data, origin)
    problems = caught.value.problems
    assert problems
    assert all(line.startswith(origin) and line.isprintable() for line in problems)
    return problems


def test_a_bad_value_is_told_with_file_line_and_path() -> None:
    text = re.sub(r'"threshold": [0-9.]+', '"threshold": -1', dumps_preset(FAN))
    (number,) = [i for i, line in enumerate(text.split("\n"), 1) if '"threshold": -1' in line]
    assert refused(text) == [f"mine.json:{number}: config.clip.threshold: got -1, allowed 1e-06 to 100"]
    assert refused(text.replace("\n", "\r\n")) == refused(text)
    assert refused(" ".join(text.split("\n"))) == ["mine.json:1: config.clip.threshold: got -1, allowed 1e-06 to 100"]


def test_what_is_missing_is_told_with_the_line_of_what_it_belongs_in() -> None:
    text = dumps_session(session(FAN).timeline, session(FAN).presets)
    (number,) = [i for i, line in enumerate(text.split("\n"), 1) if '"kind": "draw"' in line]
    (line,) = refused(re.sub(r'("kind": "draw".*?), "draw": 1', r"\1", text))
    assert line.startswith(f"mine.json:{number}: events.1.draw: missing")


def test_what_is_no_json_is_told_with_its_line_once() -> None:
    text = dumps_preset(FAN).replace('"config": {', '"config" {')
    (number,) = [i for i, line in enumerate(text.split("\n"), 1) if '"config" {' in line]
    (line,) = refused(text)
    assert line == f"mine.json:{number}: not JSON at column 12: expecting ':' delimiter; correct it there"


@pytest.mark.parametrize("text", ['{"try": ["a",\n "b",\n]}', '{"try": [],\n "title": "b",\n}'])
def test_a_comma_too_many_is_called_so_where_it_stands(text: str) -> None:
    (line,) = refused(text)
    assert re.match(r"mine\.json:2: not JSON at column [0-9]+: (a comma too many|illegal trailing comma)", line)
    assert int(re.findall("column ([0-9]+)", line)[0]) == text.split("\n")[1].rindex(",") + 1


@pytest.mark.parametrize("data", [b"# Gradcloud\n\ntext {", b"[]", b"\n step,draw\n", b'"title": 3', "é".encode()])
def test_a_text_of_another_kind_is_told_what_is_allowed(data: bytes) -> None:
    assert refused(data, "README.md") == [
        "README.md: is no file of gradcloud's, allowed is a preset or a session, which begin with {, or what gradcloud "
        "exported; open one of these"
    ]


def scalars(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of a JSON value's leaves."""
    if not isinstance(value, dict | list):
        return [path]
    keys = value if isinstance(value, dict) else range(len(value))
    return [each for key in keys for each in scalars(value[key], (*path, key))]


FILES = [dumps_preset(builtin("opsd-collapse")), written(session(FAN)).decode(), json.dumps(record(link()), indent=1)]


@HERE
@given(st.sampled_from(FILES[:2]), st.data())
def test_a_value_of_another_kind_is_told_with_its_path_and_its_line(text: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(scalars(json.loads(text))))
    value = json.loads(text)
    *around, last = path
    place = value
    for key in around:
        place = place[key]
    place[last] = [{"no": "scalar"}]
    broken = json.dumps(value, indent=1)
    where = json.dumps(mark(value, path), indent=1).partition("\\u0000here")[0].count("\n") + 1
    line = next(each for each in refused(broken) if f": {'.'.join(map(str, path))}" in each)
    assert line.startswith(f"mine.json:{where}: ")


def mark(value: Any, path: tuple[Any, ...]) -> Any:
    """The value with a text that is found again in place of what stands at a path."""
    if not path:
        return "\0here"
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = mark(value[path[0]], path[1:])
    return copy


def only_refused(data: bytes, lined: bool = True) -> None:
    """Opened, or refused in lines that name the file, and where it has lines one that there is for each field."""
    try:
        opened = parse_file(data, "mine.json")
    except InvalidInput as error:
        last = data.count(b"\n") + 1
        for line in error.problems:
            assert line.isprintable()
            assert len(line) < 1500
            found = re.match(r"mine\.json(:([0-9]+))?: \S", line)
            assert found, line
            assert found[2] is None or 1 <= int(found[2]) <= last
            assert found[2] or not lined or not re.match(r"mine\.json: (config|events|title|lesson|try|preset)\b", line)
    else:
        assert dumps_preset(opened.preset)


@HERE
@given(st.sampled_from(FILES), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_flipped_bytes_are_refused_with_their_file_or_do_no_harm(text: str, flips: list[tuple[float, int]]) -> None:
    data = bytearray(text.encode())
    for place, byte in flips:
        data[int(place * (len(data) - 1))] = byte
    only_refused(bytes(data))


@HERE
@given(st.sampled_from(FILES), st.data())
def test_renamed_keys_and_replaced_values_are_refused_with_their_line(text: str, data: st.DataObject) -> None:
    keys = list(re.finditer(r'"([a-z_]+)":', text))
    at = data.draw(st.sampled_from(keys))
    name = data.draw(st.sampled_from(["events", "gradcloud", "config", "", "a: b", "mine.json", "\\u0000", "x" * 60]))
    text = f'{text[: at.start()]}"{name}":{text[at.end() :]}'
    if data.draw(st.booleans()):
        value = data.draw(st.sampled_from(list(re.finditer(r": (-?[0-9.]+|true|false|\"[^\"]*\")", text))))
        junk = data.draw(st.sampled_from(["null", "-1e999", "[]", '"\\ud800"', "{}", "7" * 30, "NaN", '"\u202e"']))
        text = f"{text[: value.start()]}: {junk}{text[value.end() :]}"
    only_refused(text.encode())


@pytest.mark.parametrize("data", [b"", b" \n", b"[]", b"null", b"\xef\xbb\xbf{}", b"\xff\xfe{\0}\0", b"{", b"\0" * 50])
def test_what_is_no_object_is_refused_as_a_whole(data: bytes) -> None:
    (line,) = refused(data)
    assert re.match(r"mine\.json(:1)?: ", line)


@pytest.mark.parametrize(
    "start", [b"\x89PNG\r\n\x1a\n", b"GIF89a", b"%PDF-1.4", b"PAR1", b"<!doctype html>", b"\n<svg>"]
)
def test_a_picture_or_a_page_without_a_record_is_told_from_a_broken_preset(start: bytes) -> None:
    assert "holds no record" in refused(start + b"\0" * 40, "mine.json")[0]


def test_the_size_that_a_file_may_have_depends_on_what_it_is() -> None:
    spaces = b" " * MAX_PRESET
    assert f"over {MAX_PRESET} bytes" in refused(dumps_preset(FAN).encode() + spaces)[0]
    assert parse_file(written(session(FAN)) + spaces, "mine.json").kept is not None
    assert f"over {session_file.MAX_BYTES} bytes" in refused(written(session(FAN)) + b" " * session_file.MAX_BYTES)[0]
    assert f"over {MAX_BYTES:,} bytes" in refused(b" " * (MAX_BYTES + 1))[0]


# Files on a disk.


def test_a_folder_and_an_unreadable_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="got a folder"):
        load_file(str(tmp_path))
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    with pytest.raises(InvalidInput, match="no preset or file is called"):
        load_file(str(loop))
    with pytest.raises(InvalidInput, match='no preset or file is called "opsd-colapse"; did you mean "opsd-collapse"'):
        load_file("opsd-colapse")


@pytest.mark.parametrize("name", ["", "nothing", "../presets/sft-fan", "a\0b", "x" * 5000, "\udcff", "~"])
def test_a_name_that_is_no_preset_and_no_file_is_refused_with_the_names(name: str) -> None:
    with pytest.raises(InvalidInput, match="sft-fan") as caught:
        load_file(name)
    assert caught.value.problems[0].isprintable()


def test_no_more_of_a_file_is_read_than_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        os.truncate(file.fileno(), 2**40)
    with pytest.raises(InvalidInput, match=f"over {MAX_BYTES:,} bytes"):
        load_file(str(path))


def test_standard_input_is_a_file_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"title":\n 3}')))
    with pytest.raises(InvalidInput, match="standard input:1: schema_version: missing"):
        load_file("-")


# Exports.


def test_what_a_command_may_draw_can_be_opened_again_and_no_more() -> None:
    assert options.MAX_DRAW == session_file.LARGEST
    last = link(moment=Moment(FAN.config, draw=options.MAX_DRAW), look={})
    assert parse_file(dumps_record(last).encode(), "a.json").moment == last.moment
    beyond = replace(last, moment=last.moment.next_draw())
    assert "draw: got" in refused(dumps_record(beyond))[0]


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(text: str) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes(13)) + chunk(b"tEXt", b"gradcloud\0" + text.encode())


def gif(text: str) -> bytes:
    data = text.encode()
    blocks = [data[i : i + 255] for i in range(0, len(data), 255)]
    return b"GIF89a" + bytes(7) + b"!\xfe" + b"".join(bytes([len(each)]) + each for each in blocks) + b"\0;"


EXPORTS = {
    "html": lambda text: f'<!doctype html>\n<p>{{"gradcloud"</p>\n<script id="gradcloud">{text}</script>\n<p>'.encode(),
    "svg": lambda text: f'<?xml version="1.0"?>\n<svg><metadata>\n{html.escape(text)}</metadata></svg>'.encode(),
    "csv": lambda text: f"# gradcloud {text}\na,b\n1,2\n".encode(),
    "json": lambda text: b'{"sites": [1],\n "gradcloud": ' + text.encode() + b"}",
    "pretty.json": lambda text: json.dumps({"sites": [1], "gradcloud": json.loads(text)}, indent=1).encode(),
    "record.json": lambda text: text.encode(),
    "png": png,
    "gif": gif,
    "pdf": lambda text: b"%PDF-1.4\n" + re.sub(r"([()\\])", r"\\\1", text).encode() + b")",
    "mp4": lambda text: b"\0\0\0\x20ftypisom" + bytes(90) + text.encode() + bytes(90),
}


@pytest.mark.parametrize("kind", EXPORTS)
def test_an_export_opens_the_moment_that_it_shows_whatever_its_texts_hold(kind: str) -> None:
    own = Preset(title='{"gradcloud": "<a>&amp;(\\)', lesson="} ] \\u003c </script> é", config=FAN.config)
    for each in (link(), link(name=None, preset=own), link(moment=Moment(FAN.config), look={})):
        text = dumps_record(each).replace("<", "\\u003c")
        opened = parse_file(EXPORTS[kind](text), f"lesson.{kind}")
        assert (opened.preset, opened.name, opened.moment, opened.look) == (
            each.preset, each.name, each.moment, each.look
        )  # fmt: skip
        assert opened.what == f"an export at step {each.moment.step}, draw {each.moment.draw}"


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_of_a_frame_open_at_its_moment(kind: str) -> None:
    moment = Moment(HINTED, draw=1)
    own = Preset(title='"=1+1;", <b> é', lesson="l", config=Config())
    opened = parse_file(columns_file(frame(HINTED, 1), link(preset=own, name=None, moment=moment), kind), f"a.{kind}")
    assert (opened.preset, opened.moment, opened.look) == (own, moment, {"theme": "dark"})


def test_an_export_with_a_log_opens_as_its_session() -> None:
    kept = session(FAN, "sft-fan")
    opened = parse_file(png(dumps_record(link(moment=kept.timeline.current.moment, kept=kept))), "a.png")
    assert opened.kept is not None
    assert written(opened.kept) == written(kept)
    assert opened.what == "an export at step 1, draw 0, with a session of 4 events"


def test_an_export_of_a_preset_that_has_changed_since_opens_with_the_settings_of_its_numbers() -> None:
    before = override(FAN.config, ["source.prompts=3"])
    text = json.dumps(record(link()) | {"preset": record(link(moment=Moment(before)))["preset"]})
    for address, steps in (("preset=sft-fan&view=1;draw=4", 0), ("preset=sft-fan&view=1;step=2;draw=4", 2)):
        opened = parse_file(json.dumps(json.loads(text) | {"link": address}).encode(), "a.json")
        assert opened.moment == Moment(before, Steps().then(before, 0, steps), 4)
        assert (opened.name, opened.preset.config) == (None, before)
        assert opened.what == f"an export at step {steps}, draw 4, of a preset that has changed since"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"link": 3}, "link: got 3, allowed is a link as text"),
        ({"link": "preset=sft-fam"}, 'link: no preset is called "sft-fam"; did you mean "sft-fan"?'),
        ({"link": "preset=sft-fan&view=1;clip.threshold=-1"}, "link: clip.threshold: got -1, allowed"),
        ({"link": "preset=sft-fan&view=1;draw=x"}, 'link: draw: got "x"'),
        (
            {"link": Link(FAN, "sft-fan", Moment(FAN.config, Steps().then(FAN.config, 3))).query()},
            "link: its steps were taken under settings that a preset here has no more",
        ),
        ({"preset": []}, "preset: allowed is the preset of the link"),
        ({"preset": json.loads(dumps_preset(FAN)) | {"title": ""}}, "preset.title: got 0 characters"),
    ],
)
def test_what_is_wrong_in_a_record_is_told_with_the_line_of_the_file_that_it_is_on(
    changes: dict[str, Any], said: str
) -> None:
    text = json.dumps(record(link()) | changes)
    assert refused(EXPORTS["html"](text), "a.html")[0].startswith(f"a.html:3: {said}")
    assert refused(png(text), "a.png")[0].startswith(f"a.png: {said}")
    assert refused(json.dumps(json.loads(text), indent=1), "a.json")[0].partition(": ")[2].startswith(said)


@HERE
@given(
    st.sampled_from(sorted(EXPORTS)), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=3), st.data()
)
def test_a_torn_export_is_refused_in_words_or_does_no_harm(
    kind: str, flips: list[tuple[float, int]], data: st.DataObject
) -> None:
    made = bytearray(EXPORTS[kind](dumps_record(link())))
    for place, byte in flips:
        made[int(place * (len(made) - 1))] = byte
    only_refused(bytes(made[: data.draw(st.integers(0, len(made)))]), kind not in ("png", "gif", "pdf", "mp4"))


@pytest.mark.parametrize(
    "data",
    [
        b'<svg>{"gradcloud": "' + b"&amp;" * 400_000,
        b'GIF89a!\xfe\xff{"gradcloud"' + b"\xff" * 2_000_000,
        b'<p>{"gradcloud": "0", "a": ' + b"[" * 2_000_000,
        b'<p>{"gradcloud": "0", "a": ' + b'{"gradcloud": "' * 200_000,
        b'<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg>&b;{"gradcloud": "&b;&b;"}</svg>',
        b"<svg" * 500_000 + b"{ " * 500_000,
        b"!\xfe" * 1_000_000,
    ],
)
def test_a_bomb_is_refused_before_it_goes_off(data: bytes) -> None:
    only_refused(data)
    with pytest.raises(InvalidInput):
        parse_file(data, "bomb")


# The published schemas.


@pytest.mark.parametrize(("kind", "module"), [("preset", presets), ("session", session_file)])
def test_the_published_schema_is_the_one_that_files_are_held_to(kind: str, module: Any) -> None:
    text = (resources.assets() / f"{kind}.schema.json").read_text("utf-8")
    assert text == json.dumps(module.json_schema(), indent=2) + "\n"
    schema = json.loads(text)
    assert schema["$id"] == f"urn:gradcloud:{kind}:1"
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    files = [dumps_preset(builtin(name)) for name in names()] if kind == "preset" else [written(session(FAN)).decode()]
    for each in files:
        value = json.loads(each)
        check.validate(value)
        for path in scalars(value)[:20]:
            assert not check.is_valid(mark(value, path) | {"unknown": 1})
