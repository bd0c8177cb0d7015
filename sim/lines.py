"""Where the values of a JSON text stand: problems that name a field get the line on which its value begins."""

import json
import re
from collections.abc import Iterable

from sim.sentences import dotted

#: What a text is called by whoever reads it, so that what is said of it as a whole is told from what is said of a
#: field: no field's name has a blank.
WHOLE = "the text"

#: A field's name, element by element, as sim.sentences.dotted writes each.
Field = tuple[str, ...]

_ELEMENT = r'(?:[A-Za-z0-9_-]{1,48}|"(?:[^"\\]|\\.)*")'
_FIELD = re.compile(rf"{_ELEMENT}(?:\.{_ELEMENT})*(?=: )")
_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_SYNTAX = re.compile(r"not JSON at line ([0-9]+), (?=column )")


def located(problems: Iterable[str], text: str, origin: str, before: int | None = 0) -> list[str]:
    """Problems of a JSON text, each with its place, as ``origin:line: field: what is wrong``.

    Args:
        problems: a line each, as readers of strict JSON tell them that were given WHOLE as their origin.
        text: the JSON text.
        origin: the file that it came from.
        before: lines of the file that come before the text; None where the file has none.
    """
    if before is None:
        return [f"{origin}: {problem.removeprefix(f'{WHOLE}: ')}" for problem in problems]
    problems = list(problems)
    fields = [field(problem) for problem in problems]
    places = iter(lines(text, filter(None, fields)) if any(fields) else [])
    told = []
    for problem, named in zip(problems, fields, strict=True):
        words = problem.removeprefix(f"{WHOLE}: ")
        if named:
            told.append(f"{origin}:{before + next(places)}: {words}")
        elif syntax := _SYNTAX.match(words):
            told.append(f"{origin}:{before + int(syntax[1])}: not JSON at {words[syntax.end() :]}")
        else:
            told.append(f"{origin}: {words}")
    return told


def field(problem: str) -> Field:
    """The field that a problem begins with; empty where it is about no field."""
    found = _FIELD.match(problem)
    return tuple(re.findall(_ELEMENT, found.group())) if found else ()


def lines(text: str, wanted: Iterable[Field]) -> list[int]:
    """The line, counted from 1, on which each field's value begins, in one pass over a JSON text.

    A field that is not there has the line of the innermost value around it that is; one whose key comes more than once
    has the last one's, whose value counts.
    """
    root, ends = _Place(), list[list[_Place]]()
    for each in wanted:
        ends.append(way := [root])
        for element in each:
            way.append(way[-1].inner.setdefault(element, _Place()))
    _walk(text, root)
    return [next((place.line for place in reversed(way) if place.line), 1) for way in ends]


class _Place:
    """A value that is looked for, or that has one inside; `line` is 0 until it has begun."""

    def __init__(self) -> None:
        self.line = 0
        self.inner: dict[str, _Place] = {}

    def begin(self, line: int) -> None:
        if self.line:
            # Its key came before: what that value had inside counts no more.
            for each in self.inner.values():
                each.begin(0)
        self.line = line


class _Around:
    """A list or an object that has begun; `index` counts the entries of a list."""

    def __init__(self, place: _Place | None, index: int | None) -> None:
        self.inner = {} if place is None else place.inner
        self.index = index

    def entry(self) -> _Place | None:
        return self.inner.get(str(self.index)) if self.inner else None

    def value(self, key: str) -> _Place | None:
        return self.inner.get(dotted((json.loads(key),))) if self.inner else None


def _walk(text: str, root: _Place) -> None:
    """Note the line of each place."""
    around = list[_Around]()
    here: _Place | None = root
    line, seen, key = 1, 0, False
    for match in _TOKENS.finditer(text):
        token = match.group()
        line, seen = line + text.count("\n", seen, match.start()), match.start()
        if token in ("]", "}"):
            around.pop()
            key = False
        elif token == "," and around[-1].index is None:
            key = True
        elif token == ",":
            around[-1].index = (around[-1].index or 0) + 1
            here = around[-1].entry()
        elif key:
            here, key = around[-1].value(token), False
        elif token != ":":
            if here is not None:
                here.begin(line)
            if token == "[":
                around.append(_Around(here, 0))
                here = around[-1].entry()
            elif token == "{":
                around.append(_Around(here, None))
                key = True
