"""The lines of a JSON text's fields, beside a writer that notes each line while it writes."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.codec import MAX_DEPTH, parse_json
from sim.errors import InvalidInput
from sim.lines import WHOLE, field, lines, located
from sim.sentences import Path, dotted

KEYS = st.sampled_from(["a", "b", "0", "", "a.b", 'say "x": no', "\\", "\n", "é", "🙂", "[", "}", ",", ":"])
#: Lists, and objects as pairs, so that a key may come more than once.
TREES = st.recursive(
    st.sampled_from([0, -1.5e300, True, None, "", "a\nb", '"', "\\", "[{,:}]", "\u2028"]),
    lambda inner: st.lists(inner, max_size=4) | st.lists(st.tuples(KEYS, inner), max_size=4).map(tuple),
    max_leaves=12,
)
BLANKS = st.sampled_from(["", "", " ", "\n", "\r\n", "\t", "\n\n ", " \n"])


class Writer:
    """Writes a tree with blanks between any two tokens, and notes on which line the value of each path begins."""

    def __init__(self, data: st.DataObject) -> None:
        self.text, self.lines = "", dict[Path, int]()
        self._data = data

    def put(self, token: str) -> None:
        self.text += self._data.draw(BLANKS) + token

    def write(self, tree: Any, path: Path = ()) -> None:
        self.text += self._data.draw(BLANKS)
        for gone in [each for each in self.lines if each[: len(path)] == path]:
            del self.lines[gone]
        self.lines[path] = self.text.count("\n") + 1
        if not isinstance(tree, list | tuple):
            self.text += json.dumps(tree, ensure_ascii=self._data.draw(st.booleans()))
            return
        pairs = isinstance(tree, tuple)
        self.text += "{" if pairs else "["
        for i, each in enumerate(tree):
            if i:
                self.put(",")
            if pairs:
                self.put(json.dumps(each[0], ensure_ascii=self._data.draw(st.booleans())))
                self.put(":")
            self.write(each[1] if pairs else each, (*path, each[0] if pairs else i))
        self.put("}" if pairs else "]")


def elements(path: Path) -> tuple[str, ...]:
    return tuple(dotted((each,)) for each in path)


@settings(max_examples=60, deadline=None)
@given(TREES, st.data())
def test_every_value_has_the_line_on_which_it_was_written(tree: Any, data: st.DataObject) -> None:
    writer = Writer(data)
    writer.write(tree)
    json.loads(writer.text)
    wanted = list(writer.lines)
    assert lines(writer.text, map(elements, wanted)) == [writer.lines[path] for path in wanted]
    # What is not there has the line of what it would stand in.
    assert lines(writer.text, [(*elements(path), "none", "1") for path in wanted]) == [
        writer.lines[path] for path in wanted
    ]


@given(st.lists(KEYS | st.integers(0, 99), min_size=1, max_size=4), st.sampled_from(["missing", 'got ": ", allowed 0']))
def test_the_field_of_a_problem_is_told_from_its_words(path: list[Any], words: str) -> None:
    assert field(f"{dotted(tuple(path))}: {words}") == elements(tuple(path))


@pytest.mark.parametrize(
    "problem", [f"{WHOLE}: empty", "and 3 more; correct these first", ": x", "", "no field at all"]
)
def test_what_is_about_no_field_has_none(problem: str) -> None:
    assert field(problem) == ()


def problems(text: str, before: int | None = 0) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        parse_json(text, WHOLE)
    return located(caught.value.problems, text, "mine.json", before)


def test_a_problem_gets_the_file_and_the_line_and_one_of_the_whole_only_the_file() -> None:
    text = '{"a": 1,\n"b": [\n\n1e999],\n "a": {"c":\nNaN}}'
    assert [line.partition(", ")[0] for line in problems(text)] == [
        "mine.json:5: a: given twice",
        "mine.json:6: a.c: got NaN",
        "mine.json:4: b.0: got 1e999",
    ]
    assert problems(text, 10)[1].startswith("mine.json:16: a.c: ")
    assert problems(text, None)[1].startswith("mine.json: a.c: ")
    assert problems("")[0].startswith("mine.json: empty")


def test_a_broken_text_is_told_with_its_line_once() -> None:
    assert problems('{"a":\n 1 2}') == ["mine.json:2: not JSON at column 4: expecting ',' delimiter; correct it there"]
    assert problems("{}\nx", 6)[0].startswith("mine.json:8: not JSON at column 1: ")


@pytest.mark.parametrize(
    ("part", "around", "path"),
    [
        ("[]", "[%s]", ("4999",)),
        ('{"a":0}', "[%s]", ("4999", "a")),
        ('"\\\\\\""', "[%s]", ("4999",)),
        ('"a":{"b":0}', "{%s}", ("a", "b")),
    ],
)
def test_the_last_of_very_many_has_its_line(part: str, around: str, path: tuple[str, ...]) -> None:
    assert lines(around % ",\n".join([part] * 5000), [path] * 20) == [5000] * 20


def test_the_deepest_text_that_is_read_and_one_far_deeper_have_their_lines() -> None:
    for depth in (MAX_DEPTH, 20_000):
        assert lines("[\n" * depth + "]" * depth, [("0",) * (MAX_DEPTH - 1)]) == [MAX_DEPTH]
