"""How many look at once: who comes in, whose place is given away, and what the others are told."""

import pytest

from app.visitors import AGAIN, DEFAULT, GRACE, MOST, VARIABLE, Visitors, full, limit
from sim.errors import InvalidInput


class Hall:
    """Visitors to a server whose connections a test makes and breaks."""

    def __init__(self, limit: int) -> None:
        self.now = 0.0
        self.connections: dict[str, int] = {}
        self.here = Visitors(limit, lambda: self.now)

    def comes(self, visitor: str) -> bool:
        admitted = self.here.admit(visitor, self.connections.items)
        if admitted:
            self.connections[visitor] = 1
            self.here.arrived(visitor)
        return admitted


def test_nobody_comes_in_beyond_the_limit_until_somebody_leaves() -> None:
    hall = Hall(2)
    assert hall.comes("a")
    assert hall.comes("b")
    assert not hall.comes("c")
    hall.connections["a"] = 0
    assert hall.comes("c")
    assert not hall.comes("d")
    del hall.connections["b"]
    hall.here.left("b")
    assert hall.comes("d")


def test_who_has_the_page_and_no_connection_yet_keeps_his_place_for_a_while() -> None:
    hall = Hall(1)
    assert hall.here.admit("slow", hall.connections.items)
    hall.now = GRACE - 1
    assert not hall.comes("next")
    hall.now = GRACE
    assert hall.comes("next")


def test_who_reloads_takes_his_own_place_again() -> None:
    hall = Hall(1)
    assert hall.comes("a")
    hall.connections["a"] = 0
    assert hall.comes("a, reloaded")


def test_who_was_not_let_in_does_not_count() -> None:
    hall = Hall(1)
    assert hall.comes("a")
    for other in "bcd":
        assert not hall.comes(other)
        hall.connections[other] = 1
        hall.here.arrived(other)
    hall.connections["a"] = 0
    assert hall.comes("e")


def test_the_limit_is_the_environments_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert limit() == DEFAULT
    monkeypatch.setenv(VARIABLE, str(MOST))
    assert limit() == MOST
    for wrong in ("0", "-1", "1.5", "many", "", str(MOST + 1), "9" * 30, "0000000019999", "²"):
        monkeypatch.setenv(VARIABLE, wrong)
        with pytest.raises(InvalidInput, match=f"{VARIABLE}: got .*, allowed a whole number, 1 to {MOST}"):
            limit()


def test_who_was_not_let_in_is_told_how_many_may_look_and_when_to_try_again() -> None:
    said = full(3)
    assert "3 people at once" in said
    assert f'content="{AGAIN}"' in said
    assert f"every\n{AGAIN} seconds" in said
    assert "1 person at once" in full(1)
