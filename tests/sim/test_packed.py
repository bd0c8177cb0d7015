"""JSON text packed for an address, and what is told of one that did not come whole."""

import pytest

from sim.errors import InvalidInput
from sim.packed import pack, unpack

VALUE = {"settings": [{"clip.on": True, "source.alpha": 0.5}], "runs": [[0, number, 1] for number in range(40)]}


def told(packed: str, most: int = 100_000) -> str:
    with pytest.raises(InvalidInput) as refused:
        unpack(packed, "own", most)
    (problem,) = refused.value.problems
    return problem


def test_what_was_cut_short_is_told_from_what_is_damaged() -> None:
    packed = pack(VALUE)
    assert unpack(packed, "own", 100_000)
    assert told(packed[: len(packed) // 8 * 4]) == told("") == "own: cut short; copy the whole link"
    assert told("!" + packed) == "own: damaged; copy the whole link"


def test_no_more_is_unpacked_than_is_allowed() -> None:
    assert told(pack("a" * 1_000_000), 1000).startswith("own: over 1000 bytes unpacked, allowed at most 1000")
    assert told(pack("a" * 1_000_000)[:200], 1000).startswith("own: over 1000 bytes unpacked")
