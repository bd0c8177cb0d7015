"""A file to take away in the making, in a thread of the process."""

import time
from collections.abc import Callable

from app.frames import Frames
from app.runners import Task
from app.takeaway import KINDS, MOVING, Order, Shown, made
from sim.errors import Cancelled
from sim.frame import Frame
from sim.simulator import Simulator
from sim.timeline import Moment


class Making(Task):
    """A file in the making; `done` counts the frames of `total`, and `data` is there once it is made."""

    def __init__(self, order: Order, what: Shown, frames: Frames) -> None:
        super().__init__()
        self.order, self.what = order, what
        self.done, self.total, self.size = 0, 0, 0
        self._since, self._from = 0.0, 0
        self.data: bytes | None = None
        self.failure = ""
        self._frames = frames

    def work(self, simulator: Simulator, give_way: Callable[[], None]) -> None:
        """Make the file."""

        def measure(moment: Moment) -> Frame:
            # What the page has is not computed twice, and what it has not is not kept: others' frames would be lost.
            known = self._frames.known(moment, complete=True)
            return known or simulator.frame(moment, cancel=lambda: self.stopping)

        def progress(done: int, total: int) -> None:
            # The first frame mostly is on show and measured already, and frames are drawn at a pace of their own.
            if done == 1 or self.done < self.stage <= done:
                self._since, self._from = time.monotonic(), done
            self.done, self.total = done, total
            give_way()

        data = made(self.order, self.what, measure, progress, lambda: self.stopping)
        if self.stopping:
            raise Cancelled("sharing: stopped")
        self.size, self.data = len(data), data

    @property
    def stage(self) -> int:
        """How many frames are measured before any is drawn; 0 where none is drawn."""
        return self.order.frames if KINDS[self.order.kind].section == MOVING else 0

    @property
    def left(self) -> float | None:
        """Seconds that the frames under way will take, to be measured or to be drawn; None before that can be told."""
        until = self.stage if self.done < self.stage else self.total
        gone = self.done - self._from
        return (time.monotonic() - self._since) / gone * (until - self.done) if self._from and gone > 1 else None

    def far(self) -> str:
        """How far it has come, in words."""
        count, left = self.order.frames, self.left
        said = f"{self.done} of {self.total} frames measured, {count} with the clip off and {count} with it on"
        if self.stage:
            said = f"{min(self.done, count)} of {count} frames measured, {max(0, self.done - count)} drawn"
        what = "draw" if 0 < self.stage <= self.done else "measure"
        return said if not left else f"{said}; about {duration(left)} left to {what}"

    def end(self, failure: str) -> None:
        """Nothing more is coming."""
        self.failure = failure


def duration(seconds: float) -> str:
    """A time as people say it."""
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"
