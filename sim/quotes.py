"""Numbers that a text quotes, each marked with what it is the number of, so that a program can check it.

The page shows `parts`; the tests hold each number to what the program gives: `quoted`, written as it `agrees`.

In ``[2.16](update.ratio)`` the number stands in brackets and its source in parentheses:

- a reading of the frame by its path, as ``update.ratio``; ``rollouts`` and ``sites`` count them;
- ``site:longest.FIELD``: a field of the site whose arrow is longest, as ``site:longest.student_p``;
- ``set:KEY``: a setting, as ``set:clip.threshold``;
- ``claim:NAME/MEASUREMENT``: the mean of a measurement of the ledger;
- ``N@SOURCE``: the same at step N of the tour, counted from 1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.config import Config
from sim.errors import InvalidInput
from sim.frame import Frame, Reading, readings
from sim.ledger_file import Ledger
from sim.sentences import shown

_MARK = re.compile(r"\[([^\[\]]+)\]\(((?:[^()]|\([^()]*\))+)\)")
_NUMBER = re.compile(r"(?P<sign>[-−]?)(?P<digits>[0-9]+(?:,[0-9]{3})*(?:\.(?P<decimals>[0-9]+))?)(?P<unit> %|°)?")
_COUNTS = ("rollouts", "sites")


@dataclass(frozen=True)
class Quote:
    """A number as it is written, the source that it is from, and the step of the tour (None: the step's own)."""

    text: str
    source: str
    step: int | None = None


def parts(text: str) -> list[str | Quote]:
    """A text in pieces: plain text, and the numbers that it quotes."""
    found: list[str | Quote] = []
    end = 0
    for mark in _MARK.finditer(text):
        found += [text[end : mark.start()]] if mark.start() > end else []
        step, at, source = mark[2].partition("@")
        found.append(Quote(mark[1], source, int(step)) if at and step.isdigit() else Quote(mark[1], mark[2]))
        end = mark.end()
    return found + ([text[end:]] if end < len(text) else [])


def plain(text: str) -> str:
    """A text without its marks, as it is read."""
    return "".join(part if isinstance(part, str) else part.text for part in parts(text))


def quoted(quote: Quote, frame: Frame, ledger: Ledger | None) -> Reading:
    """The number that a quote's source has, in a frame or in the ledger.

    Raises:
        InvalidInput: if there is no such source.
    """
    kind, colon, rest = quote.source.partition(":")
    if colon:
        known = {"site": lambda: _of_site(frame, rest), "set": lambda: _setting(frame.config, rest),
                 "claim": lambda: _claimed(ledger, rest)}  # fmt: skip
        if kind in known:
            return known[kind]()
    if quote.source in _COUNTS:
        return float(len(frame.rollouts if quote.source == "rollouts" else frame.sites.text))
    found = dict(readings(frame)).get(quote.source)
    if found is None:
        raise _nothing(quote.source)
    return found


def agrees(text: str, value: float) -> bool:
    """Whether a number as it is written is that value, rounded to the digits that are written."""
    written = _NUMBER.fullmatch(text)
    if written is None:
        return False
    factor = 100.0 if written["unit"] == " %" else 1.0
    number = float(written["digits"].replace(",", "")) * (-1 if written["sign"] else 1)
    half = 0.5 * 10.0 ** -len(written["decimals"] or "")
    return abs(factor * value - number) <= half * (1 + 1e-9)


def longest(frame: Frame) -> int:
    """The site whose arrow is longest in the plane."""
    return int(np.argmax(np.hypot(frame.sites.x, frame.sites.y)))


def sources(texts: Sequence[str]) -> list[Quote]:
    """All quotes of some texts."""
    return [part for text in texts for part in parts(text) if isinstance(part, Quote)]


def _of_site(frame: Frame, rest: str) -> Reading:
    which, _, field = rest.partition(".")
    column = getattr(frame.sites, field, None) if which == "longest" else None
    if not isinstance(column, np.ndarray):
        raise _nothing(f"site:{rest}")
    return float(column[longest(frame)])


def _setting(config: Config, key: str) -> Reading:
    value: object = config
    for part in key.split("."):
        value = getattr(value, part, None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _nothing(f"set:{key}")
    return float(value)


def _claimed(ledger: Ledger | None, rest: str) -> Reading:
    name, _, measurement = rest.partition("/")
    for claim in ledger.claims if ledger else ():
        for each in claim.measurements:
            if (claim.name, each.name) == (name, measurement) and each.mean is not None:
                return each.mean
    raise _nothing(f"claim:{rest}")


def _nothing(source: str) -> InvalidInput:
    return InvalidInput([f"no number is called {shown(source)}; name a reading, site:longest.…, set:… or claim:…/…"])
