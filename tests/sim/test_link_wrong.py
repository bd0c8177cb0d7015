"""Whatever is wrong with a link is named, its other values are kept, and no text takes long or makes reading fail."""

import dataclasses
import time
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.link import MAX_READ, Link, parse_link, read_link
from sim.link_items import DEFAULT, differing, written
from sim.packed import pack
from sim.presets import builtin
from sim.sentences import MAX_PROBLEMS
from sim.session_file import Kept
from sim.timeline import Moment, Path, Timeline
from tests.links import OWN, configs
from tests.sim.test_link import HERE, kept, read, same


@given(st.data())
@HERE
def test_a_bad_value_is_named_and_all_others_are_kept(data: st.DataObject) -> None:
    base = builtin("opd-jsd").config
    config = data.draw(configs(base))
    good = {key: written(value) for key, value in differing(config, base)}
    bad: dict[str, str] = data.draw(
        st.dictionaries(
            st.sampled_from(
                ["clip.on", "seed", "teacher.policy", "source.alpha", "draw", "step", "theme", "scale", "token"]
            ),
            st.sampled_from(["maybe", "NaN", "-1", "1e999", "", "null", "[[]]", "ß", "{}", "9" * 5000]),
            min_size=1,
        )
    )
    said = {**good, **bad}
    link, problems = read_link(
        {"preset": ["opd-jsd"], "view": [";".join(["1", *(f"{k}={v}" for k, v in said.items())])]}
    )
    assert len(problems) == len(bad)
    for key in bad:
        assert any(problem.startswith(f"{key}: got ") for problem in problems), (key, problems)
    others = {key: value for key, value in good.items() if key not in bad}
    kept_there = {key: written(value) for key, value in differing(link.moment.config, base)}
    # A label's teacher may have needed what was refused.
    assert kept_there == others or "teacher.policy" in {*good, *bad}


def test_settings_that_exclude_each_other_are_taken_together_or_one_after_the_other() -> None:
    together = "teacher.policy=label;teacher.divergence=forward;teacher.context=none"
    for more in ("", ";clip.on=maybe"):
        link, problems = parse_link(f"preset=opsd-collapse&view=1;{together}{more}")
        assert link.moment.config.teacher.policy == "label"
        assert len(problems) == bool(more)
    link, problems = parse_link("preset=opsd-collapse&view=1;teacher.policy=label;draw=2")
    assert (link.moment.config, link.moment.draw) == (builtin("opsd-collapse").config, 2)
    assert problems == ["teacher: a label reads no context; context is 'hint', set it to 'none'"]


@pytest.mark.parametrize(
    ("view", "told"),
    [
        ("2;draw=3", ["view: got version 2, allowed 1: made by a newer gradcloud; what this one knows of it is kept"]),
        ("2;draw=3;hue=9", ["view: got version 2", "hue: unknown key; "]),
        ("0;draw=3", ["view: got version 0, allowed 1: there was no such version"]),
        ("draw=3", ['view: got "draw=3" where its version stands']),
        (";draw=3", ['view: got "" where its version stands']),
        ("one;draw=3", ['view: got "one" where its version stands']),
        ("9" * 5000 + ";draw=3", ["view: got version 999999999, "]),
        ("²;draw=3", ['view: got "²" where its version stands']),
        ("1;draw=3;draw=4", ["draw: given twice"]),
        ("1;draw=3;alpha=0.5;source.alpha=0.4", ["source.alpha: given twice"]),
        ("1;draw=3;\x00\n=1;\x00\n=2", ['"\\u0000\\n": given twice', '"\\u0000\\n": unknown key']),
        ("1;draw=3;" + "x" * 5000, ['view: got "xxx']),
        ("1;draw=3;clip.no=true", ['clip.no: unknown key; did you mean "clip.on"?']),
        ("1;draw=3;side=tuor", ['side: got "tuor"; did you mean "tour"?']),
        ("1;draw=3;token=-1", ['token: got "-1", allowed a whole number']),
        ("1;draw=3;token=٣", ['token: got "٣", allowed a whole number']),
        ("1;draw=3;step=20000", ["step: got 20000, allowed at most 4000 with 128 answers a batch"]),
        ("1;draw=3;own=abc", ["own: a preset of its own beside the name of one"]),
        ("1;draw=3;path=abc", ["path: cut short"]),
        ("1;draw=3;log=abc", ["log: cut short"]),
    ],
)
def test_what_is_wrong_is_told_and_the_batch_is_kept(view: str, told: list[str]) -> None:
    link, problems = parse_link(f"preset=opsd-collapse&view={quote(view, safe=';=')}")
    assert len(problems) == len(told)
    assert all(problem.startswith(start) for problem, start in zip(problems, told, strict=True)), problems
    assert (link.name, link.moment.draw, link.moment.step) == ("opsd-collapse", 3, 0)
    assert all("\n" not in problem and "\0" not in problem for problem in problems)


def test_what_is_given_twice_is_told_and_the_last_counts() -> None:
    link, problems = parse_link("preset=sft-fan&preset=rl-grpo&view=1;draw=1&view=1;draw=2&theme=dark&theme=projector")
    assert [problem.partition(":")[0] for problem in problems] == ["preset", "view", "theme"]
    assert (link.name, link.moment.draw, link.look) == ("rl-grpo", 2, {"theme": "projector"})


def test_an_address_from_before_there_were_versions_is_still_read() -> None:
    link = read("http://localhost:5006/app?preset=rl-grpo&theme=dark")
    assert (link.name, link.look, link.moment.draw) == ("rl-grpo", {"theme": "dark"}, 0)
    assert link.query() == "preset=rl-grpo&view=1;theme=dark"
    both, problems = parse_link("preset=rl-grpo&theme=dark&view=1;theme=projector")
    assert (both.look, problems) == ({"theme": "projector"}, [])


def test_an_address_that_was_copied_out_of_html_is_read_as_what_the_html_means() -> None:
    link = read("http://localhost:5006/app?embed=1&amp;preset=sft-fan&amp;view=1;draw=2&amp;theme=dark&amp;hide=log")
    assert (link.name, link.moment.draw, link.look) == ("sft-fan", 2, {"theme": "dark"})
    assert read("x=1&amp;view=1;draw=2").moment.draw == 2
    assert parse_link("preset=rl-grpo&preset=sft-fan&amp;preset=sft-fan")[1] == [
        "preset: given 3 times, allowed once; the last is kept"
    ]


def test_an_unknown_preset_is_named_and_what_the_link_says_beside_it_is_kept() -> None:
    link, problems = parse_link("preset=opsd-colapse&view=1;draw=4;clip.on=true;scale=linear")
    assert problems == ['no preset is called "opsd-colapse"; did you mean "opsd-collapse"?']
    assert (link.name, link.moment.draw, link.look) == (DEFAULT, 4, {"scale": "linear"})
    assert link.moment.config.clip.on


@pytest.mark.parametrize("key", ["hue", "zzzz", "amp view", "x" * 5000, "<i>" * 40])
def test_an_unknown_key_takes_a_line_and_not_the_list_of_all_settings(key: str) -> None:
    (line,) = parse_link(f"preset=sft-fan&view=1;{key}=1")[1]
    assert line.endswith(": unknown key; `gradcloud schema preset` lists them")
    assert len(line) < 120


@pytest.mark.parametrize(
    "text", ["", "?", "nonsense", "http://localhost:5006/app", "x=1", "https://evil.example/?q=1#preset=x"]
)
def test_what_is_no_link_is_told(text: str) -> None:
    link, problems = parse_link(text)
    assert (link.name, len(problems)) == (DEFAULT, 1)
    assert "allowed is an address with preset=, view= or both" in problems[0]


LOGGED = kept([("draw", 0), ("step", 0), ("control", 1), ("start", 2), ("draw", 0), ("rewind", 3)])
STEPPED = kept([("draw", 0), ("step", 0), ("control", 4), ("step", 0)])


def test_a_log_is_believed_where_the_rest_was_refused_and_not_where_it_merely_differs() -> None:
    query = STEPPED.query()
    link, problems = parse_link(query.replace("step=2", "step=two"))
    assert [problem.partition(":")[0] for problem in problems] == ["step"]
    same(link, STEPPED)
    link, problems = parse_link(query.replace("step=2", "step=2;draw=5"))
    assert [problem.partition(":")[0] for problem in problems] == ["log"]
    assert (link.kept, link.moment.step, link.moment.draw) == (None, 2, 5)
    link, problems = parse_link(query.replace("preset=rl-small-batch", "preset=rl-grpo"))
    assert [problem.partition(":")[0] for problem in problems] == ["log"]
    assert link.name == "rl-grpo"


def test_steps_that_are_packed_stay_when_settings_beside_them_are_changed_by_hand() -> None:
    plain = dataclasses.replace(STEPPED, kept=None)
    query = plain.query()
    assert "path=" in query
    link = read(query + ";draw=6;clip.on=true")
    assert link.moment.path == plain.moment.path
    assert (link.moment.draw, link.moment.config.clip.on) == (6, True)
    link, problems = parse_link(query.replace("step=2", "step=3"))
    assert problems == ["path: has 2 steps and the link 3, both left out; copy the link anew"]
    assert link.moment.step == 0
    for uncounted in ("step=two", ""):
        assert parse_link(query.replace("step=2", uncounted))[0].moment.path == plain.moment.path


def test_a_link_whose_end_was_cut_off_has_its_own_steps_or_none_and_a_damaged_log_loses_only_the_log() -> None:
    for whole in (STEPPED, dataclasses.replace(STEPPED, kept=None)):
        query = whole.query()
        for length in range(len("preset=rl-small-batch"), len(query)):
            link, problems = parse_link(query[:length])
            assert link.moment.path in (Path(), whole.moment.path), query[:length]
            if "path=" in query[:length] and link.moment.path != whole.moment.path:
                assert [problem.partition(":")[0] for problem in problems][:1] == ["path"]
            if "log=" in query[:length]:
                assert link.moment.key == whole.moment.key
                assert [problem.partition(":")[0] for problem in problems] == ["log"]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("preset=rl-small-batch&view=1;step=2;path=abc;draw=3", ["path", "step"]),
        ("preset=rl-small-batch&view=1;step=2;draw=3;log=abc", ["log", "step"]),
        ("view=1;step=2;draw=3;log=abc", ["log", "preset", "step"]),
        ("view=1;step=2;draw=3;own=abc", ["own", "step"]),
        ("preset=rl-smll-batch&view=1;step=2;draw=3", ["no preset is called \"rl-smll-batch\"; did you mean "
                                                      "\"rl-small-batch\"?", "step"]),
    ],
)  # fmt: skip
def test_steps_whose_settings_cannot_be_known_are_named_and_left_out(query: str, named: list[str]) -> None:
    link, problems = parse_link(query)
    assert [problem.partition(":")[0] for problem in problems] == named
    assert "left out" in problems[-1]
    assert (link.moment.step, link.moment.draw) == (0, 3)


@pytest.mark.parametrize(
    "link",
    [
        LOGGED, dataclasses.replace(STEPPED, kept=None), Link(OWN, None, Moment(OWN.config)),
        Link(OWN, None, Moment(OWN.config), {"theme": "dark"}, Kept(Timeline(OWN.config, OWN.title), {0: (None, OWN)})),
    ],
)  # fmt: skip
def test_a_link_that_was_cut_short_anywhere_is_read_as_far_as_it_goes(link: Link) -> None:
    query = link.query()
    for length in range(len(query)):
        there, problems = parse_link(query[:length])
        assert there.preset.title
        assert all(isinstance(problem, str) for problem in problems)
        if "log=" in query[:length]:
            assert any(problem.startswith(("log: ", "no preset")) for problem in problems)
        if link.name is None and "preset=" in query[:length]:
            assert any(
                f"{DEFAULT} is opened" in problem or problem.startswith(("own: ", "no pre")) for problem in problems
            )


HOSTILE: list[Any] = [
    "[" * 100_000, {"a": {"b": [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]}}, [], None, 7, {"schema_version": 9},
    {"schema_version": 1, "events": "<script>"},
    {"schema_version": 1, "title": "t", "lesson": "l", "config": {"seed": -1}},
    {"schema_version": 1, "branches": 1, "settings": [{}], "events": [],
     "paths": [{"after": 0, "settings": 0, "draw": 0, "steps": 1}]},
]  # fmt: skip


@pytest.mark.parametrize("key", ["log", "path", "own"])
def test_what_is_packed_by_a_stranger_is_refused_in_words_and_in_bounded_time(key: str) -> None:
    bombs = [
        pack("x" * 30_000_000),
        pack([{}] * 60_000),
        *map(pack, HOSTILE),
        "",
        "A",
        "%00",
        "\udc80",
        "é" * 9,
        "-" * 5000,
    ]
    began = time.monotonic()
    for packed in bombs:
        preset = {} if key == "own" else {"preset": [DEFAULT]}
        link, problems = read_link({**preset, "view": [f"1;draw=3;{key}={packed}"]})
        assert problems, packed[:60]
        assert all(problem.isprintable() and len(problem) < 2000 for problem in problems)
        assert (link.name, link.moment.draw, link.kept) == (DEFAULT, 3, None)
    assert time.monotonic() - began < 30


@given(
    st.text()
    | st.text("&=;?#%+01preset view draw.ß\ud800\x00", max_size=60).map(lambda text: f"preset={DEFAULT}&view=1;{text}")
)
@settings(max_examples=60, deadline=None)
def test_no_text_makes_reading_fail(text: str) -> None:
    link, problems = parse_link(text)
    assert link.query().isascii()
    assert len(problems) <= MAX_PROBLEMS + 1
    assert "\ud800" not in "".join(problems)


def test_what_is_far_too_long_or_too_much_is_read_in_bounded_time() -> None:
    began = time.monotonic()
    assert parse_link("view=1;" + "x" * MAX_READ)[1] == [
        "the link: over 100000 characters, allowed at most 100000; copy it anew"
    ]
    many = parse_link("preset=sft-fan&view=1;draw=2;" + ";".join(f"k{i}=1" for i in range(11_000)))
    assert many[1][0] == "view: got 11001 values, allowed 100; the first 100 are kept"
    assert (many[0].moment.draw, many[0].name) == (2, "sft-fan")
    assert parse_link("view=1&" * 200)[1] == [
        "the link: over 100 parameters, allowed are preset and view; copy it anew"
    ]
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("packed", "told"),
    [
        ([], "path: damaged"), ([[], [], []], "path: damaged"), ([{}, []], "path: damaged"),
        ([[7], []], "path: damaged"),
        ([[{}], [[0, 0, True]]], "path: damaged"), ([[{}], [[1, 0, 1]]], "path: damaged"),
        ([[{}], [[0, -1, 1]]], "path: damaged"), ([[{}], [[0, 0, 0]]], "path: damaged"),
        ([[{}], [[0, 0, 1.5]]], "path: damaged"),
        ([[{}], [[0, 0, 9000]]], "path: 9000 steps of 1152000 answers in all"),
        ([[{"source.prompts": 1, "source.group_size": 1}], [[0, 0, 15_000], [0, 1, 15_000]]], "path: 30000 steps"),
        ([[{}] * 1001, []], "path: 1001 settings, allowed at most 1000"),
        ([[{"clip.on": "yes"}], []], 'path: clip.on: got "yes"'), ([[{"hue": 1}], []], "path: hue: unknown key"),
    ],
)  # fmt: skip
def test_steps_that_a_stranger_packed_are_refused_in_words(packed: Any, told: str) -> None:
    link, problems = parse_link(f"preset=opsd-collapse&view=1;draw=3;path={pack(packed)}")
    assert len(problems) == 1
    assert problems[0].startswith(told)
    assert (link.moment.step, link.moment.draw) == (0, 3)
