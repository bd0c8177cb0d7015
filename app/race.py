"""Runs that are taken side by side, and what has come of each so far."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from app.runners import Task, reason
from sim.errors import Cancelled
from sim.simulator import Simulator
from sim.timeline import Moment
from sim.train import Record, train

#: Records that a run has, about; at most twice as many.
RECORDS = 25


@dataclass
class Run:
    """One run: what was asked for, and what came of it so far. A thread writes it, the page reads it.

    `records` only grows, `taken` counts the steps; `seconds` is the time since the first step began.
    """

    name: str
    moment: Moment
    steps: int
    records: list[Record] = field(default_factory=list)
    taken: int = 0
    seconds: float = 0.0
    failure: str = ""
    stopped: bool = False
    over: bool = False

    @property
    def every(self) -> int:
        """Steps from record to record."""
        return max(1, self.steps // RECORDS)

    @property
    def left(self) -> float | None:
        """Seconds that the rest will take if it goes on as it went; None before that can be told."""
        return self.seconds / self.taken * (self.steps - self.taken) if self.taken else None

    def at(self, step: int) -> Moment:
        """The moment after some steps of this run, each taken from the first draw."""
        moment = Moment(self.moment.config, self.moment.path)
        for _ in range(step):
            moment = moment.next_step()
        return moment


class Race(Task):
    """Runs side by side: a record of each in turn, so that all have come equally far.

    Args:
        runs: what to run.
        take: takes the steps, as sim.train.train does.
    """

    def __init__(self, runs: Sequence[Run], take: Callable[..., Iterator[Record]] = train) -> None:
        super().__init__()
        self.runs = tuple(runs)
        self._take = take

    def work(self, simulator: Simulator, give_way: Callable[[], None]) -> None:
        """Take all steps; a run that fails ends alone."""
        began = time.monotonic()
        under_way = [(run, self._steps(run, simulator, began, give_way)) for run in self.runs]
        while under_way:
            under_way = [(run, records) for run, records in under_way if self._next(run, records)]

    def end(self, failure: str) -> None:
        """Nothing more is coming of the runs that are under way."""
        for run in self.runs:
            if not run.over:
                run.failure, run.stopped, run.over = failure, not failure, True

    def _steps(self, run: Run, simulator: Simulator, began: float, give_way: Callable[[], None]) -> Iterator[Record]:
        def progress(taken: int) -> None:
            run.taken, run.seconds = taken, time.monotonic() - began
            give_way()

        return self._take(
            simulator, run.moment.config, run.steps, every=run.every, progress=progress,
            cancel=lambda: self.stopping, begin=run.moment.path,
        )  # fmt: skip

    def _next(self, run: Run, records: Iterator[Record]) -> bool:
        """Append a run's next record; whether there may be another."""
        try:
            if self.stopping:
                raise Cancelled("stopped")
            run.records.append(next(records))
            return True
        except StopIteration:
            pass
        except Exception as error:
            run.failure = reason(error)
            run.stopped = not run.failure
        run.over = True
        return False
