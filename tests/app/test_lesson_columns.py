"""Columns of few bytes: what comes back reads as what went in."""

import json
import struct
import zlib
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from app.lesson.columns import Packing, digits, floats, places
from app.picture import MISSING

SINGLES = st.floats(width=32, allow_nan=False, allow_infinity=False).filter(lambda value: value > MISSING / 2)


def three_digits(value: float) -> str:
    """A number as JavaScript's toExponential(2) writes it: of its exact digits, halves away from zero."""
    if value == 0:
        return "0"
    exact = Decimal(value)
    rounded = exact.quantize(Decimal((0, (1,), exact.adjusted() - 2)), ROUND_HALF_UP)
    return f"{rounded:.2e}"


def read_digits(data: bytes) -> list[str]:
    n = len(data) // 3
    mantissas = [int.from_bytes(bytes([data[i], data[i + n]]), "little", signed=True) for i in range(n)]
    exponents = np.frombuffer(data[2 * n :], np.int8)
    pairs = zip(mantissas, exponents, strict=True)
    return ["missing" if m == 2**15 - 1 else three_digits(float(f"{m}e{e}")) for m, e in pairs]


@settings(max_examples=60)
@given(st.lists(SINGLES, max_size=20))
def test_the_three_digits_that_are_written_are_those_of_the_exact_number(values: list[float]) -> None:
    assert read_digits(digits(values)) == [three_digits(value) for value in values]


@pytest.mark.parametrize(
    "value", [0.125, 1.125, -1.125, 2.125, 9.995, 9.994999885559082, 999.5, 0.9995, 1e-3, 1e22, 3e38, 1e-45, 1.5e-40]
)
def test_halves_powers_of_ten_and_the_ends_of_single_precision_keep_their_digits(value: float) -> None:
    single = float(np.float32(value))
    assert read_digits(digits([single])) == [three_digits(single)]


def test_a_number_that_is_not_known_stays_so() -> None:
    assert read_digits(digits([MISSING, 0, 1])) == ["missing", "0", "1.00e+0"]


@given(st.lists(SINGLES.filter(lambda value: value == 0 or 1e-30 < abs(value) < 1e30), max_size=20))
def test_a_coordinate_is_off_by_less_than_a_screen_can_show(values: list[float]) -> None:
    data, n = floats(values), len(values)
    back = [struct.unpack("<f", bytes([0, data[i], data[i + n], data[i + 2 * n]]))[0] for i in range(n)]
    assert_allclose(back, values, rtol=2**-16)


@given(st.lists(st.integers(0, 2**24 - 1), max_size=20))
def test_a_place_comes_back_exactly(values: list[int]) -> None:
    data = np.frombuffer(places(values), np.uint8).reshape(3, -1).astype(int)
    assert_array_equal(data[0] + 256 * data[1] + 65536 * data[2], values)


@pytest.mark.parametrize("value", [-1, 2**24])
def test_a_place_without_room_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="places from 0 to 16777215"):
        places([value])


def test_each_column_is_in_one_piece_and_each_word_written_once() -> None:
    packing = Packing({"a": "places", "b": "digits"})
    packing.add(a=packing.words(["x", "y"]), b=[1.0, 2.0])
    packing.add(a=packing.words(["y"]), b=[3.0])
    head, body = opened(packing.packed({"more": 1}))
    assert head == {"more": 1, "words": ["x", "y"], "columns": [["a", "places", 3], ["b", "digits", 3]]}
    assert body == places([0, 1, 1]) + digits([1, 2, 3])


def opened(packed: bytes) -> tuple[dict[str, Any], bytes]:
    data = zlib.decompress(packed)
    (long,) = struct.unpack("<I", data[:4])
    return json.loads(data[4 : 4 + long]), data[4 + long :]
