"""Strict JSON: what parse_json refuses, and what the refusal says."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.codec import MAX_BYTES, MAX_DEPTH, parse_json
from sim.errors import InvalidInput
from sim.sentences import MAX_PROBLEMS, dotted, limited, shown

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def problems(data: str | bytes) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        parse_json(data)
    return caught.value.problems


def said_of(data: str | bytes) -> list[str]:
    """The problems, none if it is read."""
    try:
        parse_json(data)
    except InvalidInput as error:
        return error.problems
    return []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        ("\ufeff{}", "byte order mark"),
        (b'{"a": "\xff"}', "byte 0xff at offset 7 is not UTF-8"),
        ("{}".encode("utf-16"), "not UTF-8"),
        (b"\xc0\xaf", "not UTF-8"),
        ("[" * 100_000, "levels deep"),
        ('{"a":' * 20_000, "levels deep"),
        ("]" * 200_000, "not JSON at line 1, column 1"),
        ('{"a" 1}', "line 1, column 6"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 1,\n}', "not JSON at line"),
        ("{} {}", "not JSON at line 1, column 4"),
        ('"a\nb"', "control character"),
        ('"' + "\\" * 99, "not JSON"),
        ("01", "not JSON"),
        ("+1", "not JSON"),
        ("0x10", "not JSON"),
        ("1_000", "not JSON"),
        ("\u0661", "not JSON"),
        ("// no\n{}", "not JSON"),
    ],
    ids=lambda value: repr(value[:12]),
)
def test_what_is_no_json_is_refused_with_its_place(data: str | bytes, said: str) -> None:
    (line,) = problems(data)
    assert line.startswith("preset: ")
    assert said in line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": {"b": NaN}}', "a.b: got NaN"),
        ('{"a": [1, -Infinity]}', "a.1: got -Infinity"),
        ('{"a": 1e999}', "a: got 1e999"),
        ('{"a": -1e400}', "a: got -1e400"),
        ('{"a": 1' + "0" * 400 + "}", "a: got 1000"),
        ('{"a": 1' + "0" * 100_000 + "}", "a: got 1000"),
        ('{"a": 1, "b": {"c": 1, "c": 1}}', "b.c: given twice"),
        ('{"a": 1, "\\u0061": 1}', "a: given twice"),
        ('{"a": "\\ud800"}', "a: holds half of a surrogate pair"),
        ('{"\\udfff": 1}', "preset: a key holds half of a surrogate pair"),
    ],
)
def test_what_json_leaves_open_is_refused_with_its_field(text: str, line: str) -> None:
    (said,) = problems(text)
    assert said.startswith(line)
    assert len(said) < 200


def test_text_that_is_no_text_is_refused() -> None:
    assert "surrogate" in problems('{"a": "\ud800"}')[0]


@pytest.mark.parametrize("data", [b" " * MAX_BYTES + b"1", " " * MAX_BYTES + "1", '"' + "é" * (MAX_BYTES // 2) + '"'])
def test_size_is_counted_in_bytes(data: str | bytes) -> None:
    assert problems(data) == [f"preset: over {MAX_BYTES} bytes, allowed at most {MAX_BYTES}; shorten it"]


def test_the_bounds_themselves_are_allowed() -> None:
    assert parse_json(b" " * (MAX_BYTES - 1) + b"1") == 1
    deep = parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert json.dumps(deep) == "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert problems("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)) != []


def test_brackets_inside_strings_are_not_depth() -> None:
    assert parse_json(json.dumps("[{\\" * 1000 + '"')) == "[{\\" * 1000 + '"'


def test_a_flood_of_problems_is_cut_short() -> None:
    said = problems("[" + ", ".join(["NaN"] * 1000) + "]")
    assert len(said) == MAX_PROBLEMS + 1
    assert said[-1] == "and 980 more; correct these first"
    assert limited(["a"]) == ["a"]


@given(VALUES)
def test_whatever_is_json_is_read_as_the_standard_library_reads_it(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_no_input_raises_anything_else(data: str | bytes) -> None:
    assert all(line.isprintable() for line in said_of(data))


@given(st.text(st.sampled_from('[]{}",:\\ 01eE+-.ntfNaI\ud800\x00u')), st.integers(0, 200))
def test_no_broken_json_raises_anything_else(text: str, cut: int) -> None:
    whole = '{"a": [1, {"b": "c\\u00e9", "d": -1.5e3}], "e": null}' + text
    assert all(line.isprintable() for line in said_of(whole[cut:]))


@given(st.text())
def test_what_is_shown_of_a_text_cannot_act_on_a_terminal(text: str) -> None:
    assert shown(text).isprintable()
    assert len(shown(text)) < 400
    assert dotted(("a", text, 3)).isprintable()


def test_values_are_shown_shortened() -> None:
    assert shown("x" * 100) == '"' + "x" * 48 + '..."'
    assert shown({"a": 1}) == "an object of 1 key"
    assert shown([1, 2]) == "a list of 2"
    assert [shown(value) for value in (True, None, 1.5, "é")] == ["true", "null", "1.5", '"é"']
    assert re.fullmatch(r'a\."b c"\.0', dotted(("a", "b c", 0)))
