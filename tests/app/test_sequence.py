"""Frames that follow one another, measured one by one."""

from dataclasses import replace

import pytest

from app.sequence import measured
from sim.errors import Cancelled
from sim.frame import Frame
from sim.timeline import Along, Moment
from tests.app.conftest import SMALL, sample

START = Moment(SMALL, draw=3)


def asked(along: Along, stop: int = 9) -> tuple[list[Moment], list[tuple[int, int]]]:
    """The moments that are measured, and what is told of them, until it is to stop before one."""
    moments, told = list[Moment](), list[tuple[int, int]]()

    def measure(moment: Moment) -> Frame:
        moments.append(moment)
        return replace(sample(), draw=moment.draw)

    frames = measured(START, 3, along, measure, lambda *each: told.append(each), lambda: len(moments) == stop)
    assert [frame.draw for frame in frames] == [moment.draw for moment in moments]
    return moments, told


def test_draws_are_further_batches_and_steps_are_taken_one_after_the_other() -> None:
    assert asked("draws")[0] == [replace(START, draw=draw) for draw in (3, 4, 5)]
    assert asked("steps")[0] == [START, START.next_step(), START.next_step().next_step()]


def test_each_frame_is_told_of_and_none_is_measured_once_it_is_to_stop() -> None:
    assert asked("draws")[1] == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(Cancelled, match="stopped after 2 of 3 frames"):
        asked("draws", stop=2)
