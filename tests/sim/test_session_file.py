"""Sessions as JSON: whatever was done comes back, and whatever is wrong is named."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.config import Clip, Config, Plane, Source, Teacher
from sim.errors import InvalidInput
from sim.presets import MAX_BYTES as PRESET_BYTES
from sim.presets import Preset, builtin, dumps_preset
from sim.session_file import MAX_BYTES, MAX_STEPS, Kept, dumps_session, json_schema, parse_session
from sim.timeline import LABEL, Moment, Timeline

OWN = Preset(title="My own", lesson="Mine.", try_=("Draw.",), config=Config(seed=7))
OPENED: list[tuple[str | None, Preset]] = [(name, builtin(name)) for name in ("rl-small-batch", "sft-fan")]
OPENED.append((None, OWN))
CONFIGS = [
    Config(), Config(clip=Clip(on=True)), Config(source=Source(alpha=-0.0)), Config(source=Source(alpha=0.0)),
    Config(teacher=Teacher(weight=0.1 + 0.2)), Config(plane=Plane(basis="random")), Config(seed=2**31 - 1),
]  # fmt: skip
ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("start"), st.integers(0, len(OPENED) - 1)),
        st.tuples(st.just("control"), st.integers(0, len(CONFIGS) - 1)),
        st.tuples(st.sampled_from(["draw", "step", "back", "newest", "clear"]), st.just(0)),
        st.tuples(st.just("visit"), st.sampled_from([1, 2, 30, 200])),
        st.tuples(st.just("rewind"), st.integers(0, 60)),
    ),
    max_size=18,
)
HERE = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Played:
    """A timeline and the presets of its events, as a visitor makes them."""

    def __init__(self) -> None:
        name, preset = OPENED[0]
        self.timeline = Timeline(preset.config, preset.title)
        self.presets = {0: (name, preset)}

    def act(self, kind: str, value: int) -> "Played":
        timeline, here = self.timeline, self.timeline.current.moment
        events = timeline.events
        if kind == "start":
            name, preset = OPENED[value]
            self.presets[timeline.start(preset.title, preset.config).index] = (name, preset)
        elif kind == "clear":
            opened = self.presets[timeline.root(timeline.current).index]
            timeline.clear("from here on")
            self.presets = {0: opened}
        elif kind == "rewind":
            timeline.rewind(events[value % len(events)].index)
        elif kind in ("back", "newest"):
            getattr(timeline, kind)()
        else:
            ahead = here
            for _ in range(value if kind == "visit" else 0):
                ahead = ahead.next_step()
            moment = {
                "control": here.with_config(CONFIGS[value % len(CONFIGS)]), "draw": here.next_draw(),
                "step": here.next_step(), "visit": ahead,
            }[kind]  # fmt: skip
            timeline.act("step" if kind == "visit" else kind, f"{kind} “{value}”", moment)  # type: ignore[arg-type]
        return self

    def all(self, acts: list[tuple[str, int]]) -> "Played":
        for act in acts:
            self.act(*act)
        return self

    def kept(self) -> dict[int, tuple[str | None, Preset]]:
        indices = {event.index for event in self.timeline.events}
        return {index: each for index, each in self.presets.items() if index in indices}

    def text(self) -> str:
        return dumps_session(self.timeline, self.presets)


def told(timeline: Timeline) -> list[tuple[Any, ...]]:
    """All that can be seen of a timeline, each moment by its key and its steps."""
    return [
        (event.index, event.kind, event.label, event.moment.key, event.moment.path.key, event.moment.draw,
         event.moment.step, event.parent, event.branch, timeline.root(event).index)
        for event in timeline.events
    ]  # fmt: skip


@HERE
@given(ACTS, ACTS, st.sampled_from([8, 1000]))
def test_a_session_comes_back_as_it_was_and_goes_on_as_it_would_have(
    before: list[tuple[str, int]], after: list[tuple[str, int]], limit: int
) -> None:
    with patch("sim.timeline.LIMIT", limit):
        played = Played().all(before)
        text = played.text()
        kept = parse_session(text)
        assert told(kept.timeline) == told(played.timeline)
        assert kept.presets == played.kept()
        assert (kept.timeline.branches, kept.timeline.forgotten) == (
            played.timeline.branches,
            played.timeline.forgotten,
        )
        assert kept.timeline.followed == played.timeline.followed
        assert dumps_session(kept.timeline, kept.presets) == text == played.text()
        again = Played()
        again.timeline, again.presets = kept.timeline, dict(kept.presets)
        assert told(again.all(after).timeline) == told(played.all(after).timeline)


def test_a_file_says_what_it_says_by_name() -> None:
    played = Played().act("draw", 0).act("visit", 1000).act("rewind", 1).act("start", 2)
    value = json.loads(played.text())
    assert value["paths"] == [
        {"settings": 0, "draw": 1, "steps": 1},
        {"after": 0, "settings": 0, "draw": 0, "steps": 999},
    ]
    assert value["events"][0]["preset"] == "rl-small-batch"
    assert value["events"][2] == {
        "index": 2, "kind": "step", "label": "visit “1000”", "parent": 1, "branch": 0, "settings": 0, "draw": 0,
        "path": 1,
    }  # fmt: skip
    assert value["events"][3] == {"index": 3, "kind": "rewind", "label": "back to #1", "parent": 1}
    assert value["events"][4]["own_preset"] == 0
    assert value["own_presets"][0] == json.loads(dumps_preset(OWN))


def test_a_full_log_of_draws_takes_less_than_a_preset_may() -> None:
    played = Played().all([("draw", 0)] * 2000)
    assert len(played.timeline.events) == 1000
    assert len(played.text().encode()) < PRESET_BYTES


def test_settings_that_only_the_sign_of_a_zero_tells_apart_are_kept_apart() -> None:
    played = Played().act("control", 2).act("control", 3)
    keys = [event.moment.key for event in parse_session(played.text()).timeline.events]
    assert keys == [event.moment.key for event in played.timeline.events]
    assert len(set(keys)) == 3


def refused(value: Any) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        parse_session(value if isinstance(value, str | bytes) else json.dumps(value))
    assert caught.value.problems
    return caught.value.problems


def long() -> Any:
    return json.loads(Played().act("draw", 0).act("step", 0).act("rewind", 1).act("start", 2).text())


def event(i: int, **changes: Any) -> Callable[[Any], object]:
    return lambda file: file["events"][i].update(changes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (event(1, kind="fly"), "events.1.kind"),
        (event(1, label="a\nb"), "events.1.label"),
        (event(1, label="x" * (LABEL + 1)), "events.1.label"),
        (event(1, index=0), "events.1.index: got 0"),
        (event(1, parent=7), "events.1.parent: got 7"),
        (event(2, parent=2), "events.2.parent: got 2"),
        (event(4, parent=3), "events.4.parent: got 3"),
        (event(1, branch=2), "events.1.branch: got 2, allowed 0 to 1"),
        (event(1, settings=9), "events.1.settings: got 9, allowed 0 to 1"),
        (event(1, path=9), "events.1.path: got 9, allowed 0 to 0"),
        (event(1, draw=-1), "events.1.draw: got -1"),
        (event(1, draw=True), "events.1.draw: got true"),
        (event(1, preset="sft-fan"), "events.1.preset"),
        (event(3, draw=1), "events.3.draw: a rewind has its parent's"),
        (event(3, kind="draw"), "events.3.settings: missing"),
        (event(0, parent=0), "events.0.kind"),
        (event(0, preset="sft-fam"), 'events.0.preset: no preset is called "sft-fam"; did you mean "sft-fan"?'),
        (event(0, preset="../../etc/passwd"), "events.0.preset: no preset"),
        (event(4, own_preset=3), "events.4.own_preset: got 3, allowed 0 to 0"),
        (event(1, wild=1), "events.1.wild: unknown key"),
        (lambda file: file["events"].clear(), "events: got a list of 0"),
        (lambda file: file["events"].pop(0), "events.0.kind"),
        (lambda file: file.pop("events"), "events: missing; add it: a list of at most 1000, each an object"),
        (lambda file: file.update(events=[file["events"][0]] * 1001), "events: got a list of 1001, allowed at"),
        (lambda file: file.update(followed=[3]), "followed.0: got 3"),
        (lambda file: file.update(followed=["1"]), "followed.0"),
        (lambda file: file["paths"][0].update(after=0), "paths.0.after: got 0, allowed none"),
        (lambda file: file["paths"][0].update(settings=5), "paths.0.settings: got 5"),
        (lambda file: file["paths"][0].update(steps=MAX_STEPS + 1), "paths.0.steps"),
        (lambda file: file.update(paths=[file["paths"][0] | {"steps": MAX_STEPS}] * 2), "paths: 40000 steps in all"),
        (lambda file: file["settings"][0]["clip"].update(treshold=1), "settings.0.clip.treshold"),
        (lambda file: file["settings"][0]["source"].update(alpha=3), "settings.0.source.alpha: got 3"),
        (lambda file: file["own_presets"][0].update(title=" "), "own_presets.0.title"),
        (lambda file: file.update(schema_version=2), "newer version"),
        (lambda file: file.pop("schema_version"), "schema_version: missing"),
        (lambda file: file.update(branches=0), "branches: got 0"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_field(change: Callable[[Any], object], words: str) -> None:
    file = long()
    change(file)
    assert any(words in line for line in refused(file)), refused(file)


def test_too_much_is_refused_before_it_is_read() -> None:
    assert "over 2000000 bytes" in refused(" " * (MAX_BYTES + 1))[0]
    assert "levels deep" in refused("[" * 100_000)[0]
    assert "allowed an object" in refused([])[0]


def test_steps_beyond_what_a_file_may_hold_are_not_written() -> None:
    played = Played()
    moment = Moment(Config())
    for _ in range(2):
        moment = Moment(Config(), moment.path.then(Config(), 0, MAX_STEPS))
    played.timeline.act("step", "far", moment)
    with pytest.raises(InvalidInput, match="got 40000, allowed 1 to 20000"):
        played.text()


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 10**12), st.floats(), st.text(max_size=8), st.just("x" * 5000),
    # Made anew each time, for what is put into one would be in those of later examples too.
    st.builds(list), st.builds(dict), st.builds(lambda: [[]]), st.builds(lambda: {"a": {}}),
)  # fmt: skip


def places(value: Any) -> list[tuple[Any, Any]]:
    """Each container of a JSON value with each of its keys."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [(value, key) for key in keys] + [each for key in keys for each in places(value[key])]


@HERE
@given(ACTS, st.data())
def test_a_broken_file_is_refused_in_words_or_is_a_session(acts: list[tuple[str, int]], data: st.DataObject) -> None:
    value = json.loads(Played().all(acts).text())
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(places(value)))
        change = data.draw(st.sampled_from(["put", "drop", "copy", "add"]))
        if change == "put":
            container[key] = data.draw(SCALARS)
        elif change == "drop":
            del container[key]
        elif change == "copy":
            inner, other = data.draw(st.sampled_from(places(value)[:200]))
            container[key] = deepcopy(inner[other])
        elif isinstance(container, dict):
            container[data.draw(st.text(max_size=5))] = data.draw(SCALARS)
        if not places(value):
            break
    only_refused(json.dumps(value))


@HERE
@given(st.data())
def test_torn_text_is_refused_in_words(data: st.DataObject) -> None:
    text = Played().act("draw", 0).text()
    at, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 40))
    only_refused(text[:at] + data.draw(st.text(max_size=20)) + text[at + length :])


def only_refused(text: str) -> None:
    try:
        kept = parse_session(text)
    except InvalidInput as error:
        assert all(error.problems)
        assert max(map(len, error.problems)) < 1500
        return
    except RecursionError:
        pytest.fail("a file made the parser run out of stack")
    # What is accepted can be lived in, and kept again.
    assert isinstance(kept, Kept)
    timeline = kept.timeline
    for each in timeline.events:
        timeline.rewind(each.index)
    timeline.back()
    timeline.newest()
    timeline.act("draw", "drawn", timeline.current.moment.next_draw())
    assert timeline.root(timeline.current).index in kept.presets
    assert parse_session(dumps_session(timeline, kept.presets)).timeline.events == timeline.events


def test_the_schema_describes_each_field_of_a_file() -> None:
    properties = json_schema()["properties"]
    assert set(long()) == set(properties)
    assert json_schema()["$schema"].endswith("2020-12/schema")
