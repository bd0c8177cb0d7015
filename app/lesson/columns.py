"""Columns of numbers and words as few bytes, of which the page in the file reads exactly what it would have shown."""

import json
import struct
import zlib
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from app.picture import MISSING

Kind = Literal["digits", "floats", "places"]
#: The mantissa that stands for a number that is not known.
UNKNOWN = 2**15 - 1
#: Bytes that a number of each kind takes.
WIDTHS = {"digits": 3, "floats": 3, "places": 3}


def digits(values: ArrayLike) -> bytes:
    """Numbers rounded to the three significant digits that the page writes: mantissas in two bytes, exponents in one.

    The value is mantissa * 10^exponent with 100 <= |mantissa| < 1000, halves rounded away from zero as in JavaScript;
    whatever writes three digits of a number writes the same three of this one. Exponents are those of single precision.
    """
    exact = np.asarray(values, np.float32).astype(np.float64)
    missing, size = exact <= MISSING / 2, np.abs(exact)
    known = (size > 0) & ~missing
    exponent = np.zeros(len(exact), np.int64)
    exponent[known] = np.floor(np.log10(size[known])).astype(np.int64) - 2
    # Two factors: powers of ten up to 10^22 are exact, and the product of a single by one of them mostly is.
    half = np.clip(exponent, -22, 22)
    scaled = np.where(half < 0, size * 10.0**-half, size / 10.0**half) / 10.0 ** (exponent - half)
    # A logarithm may be off by one next to a power of ten.
    exponent = exponent + (scaled >= 1000).astype(np.int64) - ((scaled < 100) & known)
    scaled = np.where(scaled >= 1000, scaled / 10, np.where((scaled < 100) & known, scaled * 10, scaled))
    mantissa = np.floor(scaled + 0.5)
    exponent += mantissa == 1000
    mantissa = np.where(mantissa == 1000, 100, mantissa) * np.sign(exact)
    mantissa, exponent = np.where(missing, UNKNOWN, mantissa), np.where(known, exponent, 0)
    return _planes(mantissa.astype("<i2")) + exponent.astype(np.int8).tobytes()


def floats(values: ArrayLike) -> bytes:
    """Single-precision numbers without the last byte of each: 16 bits of mantissa are finer than a screen."""
    bits = np.asarray(values, "<f4").view("<u4")
    return _planes(((bits + 0x80) & 0xFFFFFF00).astype("<u4"))[len(bits) :]


def places(values: ArrayLike) -> bytes:
    """Whole numbers from 0 to 2^24 - 1."""
    found = np.asarray(values, np.int64)
    if len(found) and not 0 <= found.min() <= found.max() < 2**24:
        raise ValueError(f"places from 0 to {2**24 - 1} are packed; got {found.min()} to {found.max()}")
    return _planes(found.astype("<u4"))[: 3 * len(found)]


class Packing:
    """Columns that many pictures add rows to, each column in one piece: like bytes side by side take least room."""

    def __init__(self, columns: dict[str, Kind]) -> None:
        self._kinds = columns
        self._rows: dict[str, list[NDArray[Any]]] = {name: [] for name in columns}
        self._words: dict[str, int] = {}

    def add(self, **columns: ArrayLike) -> None:
        """More rows of some columns."""
        for name, values in columns.items():
            self._rows[name].append(np.asarray(values))

    def word(self, text: str) -> int:
        """The place of a text among all that are told apart."""
        return self._words.setdefault(text, len(self._words))

    def words(self, texts: Iterable[str]) -> list[int]:
        """The places of texts."""
        return [self.word(text) for text in texts]

    def packed(self, head: dict[str, Any]) -> bytes:
        """All of it, deflated: the head as JSON, its length before it, then each column in the order of the head."""
        write = {"digits": digits, "floats": floats, "places": places}
        rows = {name: np.concatenate(parts) if parts else np.zeros(0) for name, parts in self._rows.items()}
        columns = [[name, kind, len(rows[name])] for name, kind in self._kinds.items()]
        text = json.dumps(head | {"words": list(self._words), "columns": columns}, allow_nan=False).encode()
        body = b"".join(write[kind](rows[name]) for name, kind in self._kinds.items())
        return zlib.compress(struct.pack("<I", len(text)) + text + body, 9)


def _planes(values: NDArray[Any]) -> bytes:
    """All first bytes, then all second ones, and so on: bytes of one kind side by side."""
    return values.view(np.uint8).reshape(len(values), -1).T.tobytes() if len(values) else b""
