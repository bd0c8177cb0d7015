"""Presets: read strictly, written so that reading gives the same back, and those that ship."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import resources
from sim.config import MAX_ROLLOUTS, SCHEMA_VERSION, Clip, Config, Plane, Reward, Safety, Source, Teacher, Update
from sim.errors import InvalidInput
from sim.presets import (
    Preset,
    builtin,
    dumps_preset,
    json_schema,
    names,
    override,
    parse_preset,
)

#: What a lecture needs; taking one of these away, or its name, breaks links.
KNOWN = {
    "opd-cross-family",
    "opd-same-family",
    "opsd-clipped",
    "opsd-collapse",
    "opsd-frozen-teacher",
    "rl-noise-cancels",
    "rl-small-batch",
    "sft-fan",
    "sft-foreign-style",
}
#: SFT that is pushed hard on purpose.
HARD = {"sft-stress", "sft-replay", "sft-anchored"}
PLAIN: dict[str, Any] = {"schema_version": 1, "title": "t", "lesson": "l", "try": ["a"], "config": {}}


def problems(**changes: Any) -> list[str]:
    return refused(json.dumps(PLAIN | changes))


def refused(data: str | bytes) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        parse_preset(data)
    return caught.value.problems


def choices(group: type, key: str) -> st.SearchStrategy[Any]:
    return st.sampled_from(group.model_json_schema()["properties"][key]["enum"])  # type: ignore[attr-defined]


@st.composite
def configs(draw: st.DrawFn) -> Config:
    prompts = draw(st.integers(1, 256))
    policy = draw(choices(Teacher, "policy"))
    label = policy == "label"
    source = Source(
        alpha=draw(st.floats(0, 1)),
        data_style=draw(choices(Source, "data_style")),
        prompts=prompts,
        group_size=draw(st.integers(1, min(64, MAX_ROLLOUTS // prompts))),
        temperature=draw(st.floats(0.05, 5)),
    )
    teacher = Teacher(
        weight=draw(st.floats(0, 1)),
        policy=policy,
        context="none" if label else draw(choices(Teacher, "context")),
        parameters=draw(choices(Teacher, "parameters")),
        decay=draw(st.floats(0, 0.9999)),
        divergence="forward" if label else draw(choices(Teacher, "divergence")),
    )
    return Config(
        seed=draw(st.integers(0, 2**31 - 1)),
        source=source,
        teacher=teacher,
        clip=Clip(
            on=draw(st.booleans()),
            kind=draw(choices(Clip, "kind")),
            threshold=draw(st.floats(1e-6, 100)),
        ),
        reward=Reward(baseline=draw(choices(Reward, "baseline")), normalise=draw(st.booleans())),
        update=Update(
            aggregation=draw(choices(Update, "aggregation")),
            optimiser=draw(choices(Update, "optimiser")),
            step_size=draw(st.floats(1e-6, 100)),
        ),
        safety=Safety(delta=draw(st.floats(1e-6, 10))),
        plane=Plane(basis=draw(choices(Plane, "basis"))),
    )


LINES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=80)


@given(configs(), LINES, LINES, st.lists(LINES, max_size=8))
def test_reading_what_was_written_gives_the_same_preset(
    config: Config, title: str, lesson: str, tries: list[str]
) -> None:
    preset = Preset(title=title, lesson=lesson, try_=tuple(tries), config=config)
    text = dumps_preset(preset)
    assert parse_preset(text) == preset
    assert parse_preset(text.encode()) == preset
    assert dumps_preset(parse_preset(text)) == text


def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        found += nodes(inner, (*path, key))
    return found


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("true")
JUNK = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


@given(st.data())
@settings(max_examples=300)
def test_a_broken_preset_raises_only_invalid_input_and_names_what_is_printable(data: st.DataObject) -> None:
    value = json.loads(dumps_preset(builtin(data.draw(st.sampled_from(names())))))
    for _ in range(data.draw(st.integers(1, 3))):
        *groups, key = data.draw(st.sampled_from(nodes(value)[1:]))
        place = value
        for group in groups:
            place = place[group]
        action = data.draw(st.sampled_from(["replace", "remove", "add"]))
        if action == "remove":
            del place[key]
        elif action == "add" and isinstance(place, dict):
            place[data.draw(st.text(max_size=12))] = data.draw(JUNK)
        else:
            place[key] = data.draw(JUNK)
        if not value:
            break
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    said = ["nothing"]
    try:
        preset = parse_preset(text)
    except InvalidInput as error:
        said = error.problems
    else:
        assert parse_preset(dumps_preset(preset)) == preset
    assert said
    assert all(line.isprintable() and len(line) < 900 for line in said)


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ({"clip": {"treshold": 1}}, 'config.clip.treshold: unknown key; did you mean "threshold"?'),
        ({"sauce": {}}, 'config.sauce: unknown key; did you mean "source"?'),
        ({"lambda": 0.5}, 'config.lambda: unknown key; did you mean "config.teacher.weight"?'),
        ({"teacher": {"lambda": 0.5}}, 'config.teacher.lambda: unknown key; did you mean "config.teacher.weight"?'),
        ({"alpha": 0.5}, 'config.alpha: unknown key; did you mean "config.source.alpha"?'),
        ({"threshold": 1}, 'config.threshold: unknown key; did you mean "config.clip.threshold"?'),
        (
            {"zzzz": 1},
            "config.zzzz: unknown key; allowed: seed, source, teacher, clip, reward, reference, update, safety, plane",
        ),
        ({"source": {"alpha": 3}}, "config.source.alpha: got 3, allowed 0 to 1"),
        ({"source": {"alpha": -0.1}}, "config.source.alpha: got -0.1, allowed 0 to 1"),
        ({"source": {"alpha": True}}, "config.source.alpha: got true, allowed a number, 0 to 1"),
        ({"source": {"alpha": None}}, "config.source.alpha: got null, allowed a number, 0 to 1"),
        (
            {"source": {"alpha": "0.5"}},
            'config.source.alpha: got "0.5", allowed a number, 0 to 1; write it without quotes',
        ),
        ({"source": {"prompts": 4.0}}, "config.source.prompts: got 4.0, allowed a whole number, 1 to 256; write 4"),
        ({"source": {"prompts": 0}}, "config.source.prompts: got 0, allowed 1 to 256"),
        ({"source": {"prompts": False}}, "config.source.prompts: got false, allowed a whole number, 1 to 256"),
        ({"source": {"prompts": [1]}}, "config.source.prompts: got a list of 1, allowed a whole number, 1 to 256"),
        ({"seed": 2**31}, "config.seed: got 2147483648, allowed 0 to 2147483647"),
        ({"clip": {"on": 1}}, "config.clip.on: got 1, allowed true or false"),
        ({"clip": {"on": "True"}}, 'config.clip.on: got "True", allowed true or false; write true'),
        ({"clip": {"threshold": 0}}, "config.clip.threshold: got 0, allowed 1e-06 to 100"),
        ({"clip": []}, "config.clip: got a list of 0, allowed an object with on, kind and threshold"),
        (
            {"clip": {"kind": "advantag"}},
            (
                'config.clip.kind: got "advantag", allowed "entry-clamp", "token-scale" or "advantage"; '
                'did you mean "advantage"?'
            ),
        ),
        ({"clip": {"kind": 3}}, 'config.clip.kind: got 3, allowed "entry-clamp", "token-scale" or "advantage"'),
        (
            {"teacher": {"policy": "label"}},
            (
                "config.teacher: a label puts all its mass on one token, so only its forward KL is finite; "
                "divergence is 'sampled-reverse', set it to 'forward'"
            ),
        ),
        (
            {"source": {"prompts": 200, "group_size": 60}},
            "config.source: prompts x group_size is at most 512 rollouts; 200 x 60 is 12000",
        ),
    ],
)
def test_a_bad_setting_is_named_with_what_came_and_what_is_allowed(config: dict[str, Any], line: str) -> None:
    assert problems(config=config) == [line]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"title": ""}, "title: got 0 characters, allowed text of 1 to 80 characters"),
        ({"title": "x" * 81}, "title: got 81 characters, allowed text of 1 to 80 characters"),
        ({"title": 3}, "title: got 3, allowed text of 1 to 80 characters"),
        ({"title": "  "}, "title: got only blanks, allowed is text; write some"),
        ({"lesson": "x" * 2001}, "lesson: got 2001 characters, allowed text of 1 to 2000 characters"),
        ({"try": ["a"] * 9}, "try: got a list of 9, allowed at most 8"),
        ({"try": "a"}, 'try: got "a", allowed a list of at most 8, each text of 1 to 300 characters'),
        ({"try": ["a", True]}, "try.1: got true, allowed text of 1 to 300 characters"),
        ({"try_": []}, 'try_: unknown key; did you mean "try"?'),
        ({"treshold": 1}, 'treshold: unknown key; did you mean "config.clip.threshold"?'),
        (
            {"config": None},
            f"config: got null, allowed an object with {', '.join(list(Config.model_fields)[:-1])} and plane",
        ),
    ],
)
def test_a_bad_text_or_group_is_named(changes: dict[str, Any], line: str) -> None:
    assert problems(**changes) == [line]


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\n", "\x7f", "\x9b", "\u2028", "\u202e", "\u2066"])
@pytest.mark.parametrize("field", ["title", "lesson", "try"])
def test_characters_that_act_on_a_reader_are_refused(field: str, character: str) -> None:
    text = f"a{character}b"
    (line,) = problems(**{field: [text] if field == "try" else text})
    assert f"U+{ord(character):04X} at position 1" in line
    assert line.isprintable()


def test_markup_is_text_and_kept_as_it_is() -> None:
    title = "<script>alert(1)</script> é 漢 🙂"
    assert parse_preset(json.dumps(PLAIN | {"title": title})).title == title


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (SCHEMA_VERSION + 1, "made by a newer version"),
        (10**15, "made by a newer version"),
        (0, "there was no such version"),
        (-1, "there was no such version"),
        (True, "got true, allowed 1"),
        (1.0, "got 1.0, allowed 1"),
        ("1", 'got "1", allowed 1'),
        (None, "got null, allowed 1"),
    ],
)
def test_another_schema_version_is_the_only_thing_said(version: Any, said: str) -> None:
    (line,) = problems(schema_version=version, config={"from the future": 1})
    assert line.startswith("schema_version: ")
    assert said in line


def test_a_missing_version_is_said() -> None:
    text = json.dumps({key: value for key, value in PLAIN.items() if key != "schema_version"})
    assert refused(text) == ['schema_version: missing; add it: "schema_version": 1']


@pytest.mark.parametrize("text", ["[]", "3", '"a"', "null", "true"])
def test_only_an_object_is_a_preset(text: str) -> None:
    (line,) = refused(text)
    assert line.endswith("allowed an object with schema_version, title, lesson, try and config")


def test_every_problem_gets_its_line_and_many_are_counted() -> None:
    assert len(problems(title="", lesson="", config={"seed": -1, "clip": {"on": 0}})) == 4
    flood = problems(**{f"key{i}": 1 for i in range(10_000)})
    assert len(flood) == 21
    assert flood[-1] == "and 9980 more; correct these first"


def test_the_first_presets_still_ship() -> None:
    assert set(names()) >= KNOWN


@pytest.mark.parametrize("name", names())
def test_a_shipped_preset_is_written_as_the_program_writes_it(name: str) -> None:
    preset = builtin(name)
    assert (resources.presets() / f"{name}.json").read_text("utf-8") == dumps_preset(preset)
    assert 2 <= len(preset.try_) <= 3


@pytest.mark.parametrize("name", names())
def test_presets_that_are_compared_share_seed_step_size_and_temperature(name: str) -> None:
    config = builtin(name).config
    update = Update(optimiser="adam", step_size=0.004) if name in HARD else Update(optimiser="sgd", step_size=0.3)
    assert (config.seed, config.update, config.source.temperature) == (0, update, 1.0)


@pytest.mark.parametrize("name", ["opsd-clipped", "opsd-frozen-teacher"])
def test_a_defence_changes_one_setting_of_the_collapse(name: str) -> None:
    change = {"opsd-clipped": "clip.on=true", "opsd-frozen-teacher": "teacher.parameters=frozen"}[name]
    assert builtin(name).config == override(builtin("opsd-collapse").config, [change])


def test_a_small_batch_is_the_large_one_with_fewer_prompts() -> None:
    large, small = builtin("rl-noise-cancels").config, builtin("rl-small-batch").config
    assert override(large, ["source.prompts=2"]) == small


@pytest.mark.parametrize(
    "name", ["", "nothing", "../presets/sft-fan", "sft-fan.json", "a\0b", "x" * 5000, "\udcff", "~"]
)
def test_a_name_that_is_no_preset_is_refused_with_the_names(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        builtin(name)
    (line,) = caught.value.problems
    assert "sft-fan" in line
    assert line.isprintable()


def test_a_name_never_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(dumps_preset(builtin("sft-fan")), encoding="utf-8")
    with pytest.raises(InvalidInput, match="no preset is called"):
        builtin(str(path))


def test_a_mistyped_name_is_recognised() -> None:
    with pytest.raises(InvalidInput, match='no preset is called "opsd-colapse"; did you mean "opsd-collapse"'):
        builtin("opsd-colapse")


def test_the_schema_says_what_a_preset_file_needs() -> None:
    schema = json_schema()
    assert schema["required"] == ["schema_version", "title", "lesson", "config"]
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(PLAIN)
    assert all(group["additionalProperties"] is False for group in schema["$defs"].values())
    json.dumps(schema, allow_nan=False)
