"""Settings by dotted key: what --set takes, and what it says of the rest."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.config import Config
from sim.errors import InvalidInput
from sim.override import HINTS, override, settings


def value_at(config: Config, key: str) -> Any:
    value: Any = config
    for part in key.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize(
    ("assignment", "key", "value"),
    [
        ("clip.on=true", "clip.on", True),
        ("source.prompts=4", "source.prompts", 4),
        ("source.alpha=0", "source.alpha", 0.0),
        ("alpha=0.25", "source.alpha", 0.25),
        ("lambda=0.5", "teacher.weight", 0.5),
        ("teacher.policy=self", "teacher.policy", "self"),
        ('teacher.policy="self"', "teacher.policy", "self"),
        ("update.step_size=1e-3", "update.step_size", 1e-3),
        ("seed=7", "seed", 7),
    ],
)
def test_a_setting_takes_json_or_a_bare_word(assignment: str, key: str, value: Any) -> None:
    changed = override(Config(), [assignment])
    assert value_at(changed, key) == value
    assert override(changed, [f"{key}={json.dumps(value_at(Config(), key))}"]) == Config()


def test_nothing_to_set_changes_nothing() -> None:
    assert override(Config(seed=3), []) == Config(seed=3)


def test_settings_that_need_each_other_are_checked_together() -> None:
    changed = override(Config(), ["teacher.policy=label", "teacher.divergence=forward"])
    assert changed.teacher.policy == "label"
    with pytest.raises(InvalidInput, match="teacher: a label puts all its mass on one token"):
        override(Config(), ["teacher.policy=label"])


@pytest.mark.parametrize(
    ("assignment", "line"),
    [
        ("clip.treshold=1", 'clip.treshold: unknown key; did you mean "clip.threshold"?'),
        ("config.clip.on=true", 'config.clip.on: unknown key; did you mean "clip.on"?'),
        ("threshold=1", 'threshold: unknown key; did you mean "clip.threshold"?'),
        ("tau=1", 'tau: unknown key; did you mean "clip.threshold"?'),
        ("teacher.lambda=1", 'teacher.lambda: unknown key; did you mean "teacher.weight"?'),
        ("clip=true", "clip: a group of settings, allowed is one of them; set clip.on, clip.kind or clip.threshold"),
        ("clip.on", '"clip.on": allowed is key=value, such as clip.on=true'),
        ("zzzz=1", "zzzz: unknown key; `gradcloud schema preset` lists them"),
        ("=1", '"": unknown key; `gradcloud schema preset` lists them'),
        ("source.alpha=3", "source.alpha: got 3, allowed 0 to 1"),
        ("source.alpha=true", "source.alpha: got true, allowed a number, 0 to 1"),
        ("source.alpha=NaN", 'source.alpha: got "NaN", allowed a number, 0 to 1'),
        ("source.alpha=1e999", 'source.alpha: got "1e999", allowed a number, 0 to 1'),
        ("source.prompts=", 'source.prompts: got "", allowed a whole number, 1 to 256'),
        ("clip.on=True", 'clip.on: got "True", allowed true or false; write true'),
        ("clip.on={}", "clip.on: got an object of 0 keys, allowed true or false"),
        (
            "plane.basis=randm",
            'plane.basis: got "randm", allowed "checkpoint", "components" or "random"; did you mean "random"?',
        ),
    ],
)
def test_what_cannot_be_set_is_said(assignment: str, line: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        override(Config(), [assignment])
    assert caught.value.problems == [line]


def test_a_key_set_twice_is_refused_under_any_of_its_names() -> None:
    with pytest.raises(InvalidInput, match=r"source\.alpha: set twice"):
        override(Config(), ["alpha=0", "source.alpha=1"])


def test_every_hint_leads_to_a_setting() -> None:
    assert set(HINTS.values()) <= set(settings())


@given(st.lists(st.sampled_from(settings()) | st.text(max_size=20), max_size=3), st.text(max_size=20))
def test_no_assignment_raises_anything_else(keys: list[str], value: str) -> None:
    try:
        changed = override(Config(), [f"{key}={value}" for key in keys])
    except InvalidInput as error:
        said = error.problems
    else:
        said = []
        assert isinstance(changed, Config)
    assert all(line.isprintable() for line in said)
