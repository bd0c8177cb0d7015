"""What was freed goes back to the system, every so many frames, where the C library can do that."""

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from app.spare import Spare


def test_memory_is_given_back_each_time_that_so_much_was_done() -> None:
    given: list[int] = []
    spare = Spare(3, lambda: given.append(1))
    for _ in range(8):
        spare.count()
    assert len(given) == 2


@pytest.mark.parametrize("error", [OSError, TypeError, AttributeError])
def test_a_library_that_cannot_give_anything_back_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, error: Callable[[str], Exception]
) -> None:
    def lacking(*_: Any) -> None:
        raise error("no such thing")

    monkeypatch.setattr(ctypes, "CDLL", lacking)
    Spare(1).count()
