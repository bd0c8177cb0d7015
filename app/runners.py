"""Runs of the process: steps that are taken in threads of their own, few at a time; who comes later waits his turn."""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import torch

from app.frames import Frames
from sim.errors import Cancelled, GradcloudError
from sim.timeline import Moment
from sim.train import Record, train

#: Records that a run has, about; at most twice as many.
RECORDS = 25
#: Seconds that a step waits, at most, for pictures that visitors wait for.
COURTESY = 1.0

logger = logging.getLogger(__name__)


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


class Race:
    """Runs that are taken side by side, a record of each in turn, in one thread."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = tuple(runs)
        self.future: Future[None] = Future()
        self.began = False
        self._stop = threading.Event()

    @property
    def over(self) -> bool:
        """Whether nothing more is coming."""
        return self.future.done()

    @property
    def stopping(self) -> bool:
        """Whether it was told to stop."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Stop before the next step; what has come stays."""
        self._stop.set()
        if self.future.cancel():
            self.end("")

    def end(self, failure: str) -> None:
        """Nothing more is coming of the runs that are under way."""
        for run in self.runs:
            if not run.over:
                run.failure, run.stopped, run.over = failure, not failure, True


class Runners:
    """Threads that take steps for all visitors of the process.

    Args:
        frames: the process's frames: whoever waits for one goes first.
        take: takes the steps, as sim.train.train does.
        threads: how many races are under way at a time; by default half of the machine's cores.
    """

    def __init__(self, frames: Frames, take: Callable[..., Iterator[Record]] = train, threads: int = 0) -> None:
        self._frames, self._take = frames, take
        self._pool = ThreadPoolExecutor(
            threads or max(1, (os.cpu_count() or 2) // 2), "ahead", torch.set_num_threads, (1,)
        )

    def start(self, runs: Sequence[Run]) -> Race:
        """Begin runs, or put them in the queue."""
        race = Race(runs)
        race.future = self._pool.submit(self._race, race)
        return race

    def close(self) -> None:
        """Stop the threads; for tests."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _race(self, race: Race) -> None:
        race.began = True
        try:
            simulator = self._frames.renderer().aside()
        except Exception as error:
            logger.exception("a run could not begin")
            race.end(_said(error))
            return
        began = time.monotonic()
        under_way = {index: self._steps(race, run, simulator, began) for index, run in enumerate(race.runs)}
        while under_way:
            for index, records in list(under_way.items()):
                if self._next(race, race.runs[index], records):
                    del under_way[index]

    def _steps(self, race: Race, run: Run, simulator: object, began: float) -> Iterator[Record]:
        def progress(taken: int) -> None:
            run.taken, run.seconds = taken, time.monotonic() - began
            self._give_way(race)

        return self._take(
            simulator, run.moment.config, run.steps, every=run.every, progress=progress,
            cancel=lambda: race.stopping, begin=run.moment.path,
        )  # fmt: skip

    def _next(self, race: Race, run: Run, records: Iterator[Record]) -> bool:
        """Append a run's next record; whether nothing more is coming of it."""
        try:
            if race.stopping:
                raise Cancelled("stopped")
            run.records.append(next(records))
            return False
        except StopIteration:
            pass
        except Cancelled:
            run.stopped = True
        except Exception as error:
            if not isinstance(error, GradcloudError):
                logger.exception("a run ended early")
            run.failure = _said(error)
        run.over = True
        return True

    def _give_way(self, race: Race) -> None:
        until = time.monotonic() + COURTESY
        while self._frames.awaited and not race.stopping and time.monotonic() < until:
            time.sleep(0.005)


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, GradcloudError) else f"{type(error).__name__}: {error}"
