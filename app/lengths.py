"""How long the update is at each batch size: a visitor's measurement, under way or done."""

import asyncio
from collections.abc import Callable
from typing import Any

import param

from app.numbers import significant
from app.push import Push
from app.runners import Runners, Task
from app.session import Session
from sim.batch_law import DRAWS, BatchLaw, Size, batch_law, lengths, sizes_of
from sim.config import Config
from sim.frame import Undetermined
from sim.simulator import Simulator


class Measurement(Task):
    """The lengths under some settings, size by size; `taken` counts batches."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.sizes: list[Size] = []
        self.taken, self.total = 0, DRAWS * len(sizes_of(config))
        self.failure = ""

    def work(self, simulator: Simulator, give_way: Callable[[], None]) -> None:
        """Measure all sizes."""

        def progress(taken: int) -> None:
            self.taken = taken
            give_way()

        for size in lengths(simulator, self.config, DRAWS, progress, lambda: self.stopping):
            self.sizes.append(size)

    def end(self, failure: str) -> None:
        """Nothing more is coming."""
        self.failure = failure


class Lengths(param.Parameterized):
    """A visitor's measurement of the update's length against the batch: at most one at a time.

    Args:
        session: what is on show.
        runners: the process's threads.
        document: the visitor's document, where there is one.
    """

    changed = param.Event(doc="what has been measured")

    def __init__(self, session: Session, runners: Runners, document: Any = None) -> None:
        super().__init__()
        self.measurement: Measurement | None = None
        self.session, self._runners, self._push = session, runners, Push(document)
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether more is coming."""
        return self.measurement is not None and not self.measurement.over and not self.measurement.stopping

    @property
    def law(self) -> BatchLaw | None:
        """What the lengths say, once there is any."""
        return batch_law(self.measurement.sizes) if self.measurement is not None and self.measurement.sizes else None

    def start(self) -> None:
        """Measure under the settings on show, in place of what was measured before."""
        self.stop()
        made = self.measurement = Measurement(self.session.timeline.current.moment.config)
        self._runners.start(made)
        if self._task is not None:
            self._task.cancel()
        self._task = asyncio.get_running_loop().create_task(self._follow(made))
        self.param.trigger("changed")

    def stop(self) -> None:
        """Stop; what has been measured stays."""
        if self.running and self.measurement is not None:
            self.measurement.stop()
            self.param.trigger("changed")

    def close(self) -> None:
        """Stop for good; for when the visitor has left."""
        self._push.close()
        if self.measurement is not None:
            self.measurement.stop()
        if self._task is not None:
            self._task.cancel()

    async def _follow(self, made: Measurement) -> None:
        await made.follow(
            lambda: (made.taken, len(made.sizes)), lambda: self._push(lambda: self.param.trigger("changed"))
        )

    def summary(self) -> str:
        """What has come of it, in a sentence or two."""
        made, law = self.measurement, self.law
        if made is None:
            return ""
        if made.failure:
            return f"The lengths could not be measured to the end: {made.failure}"
        if self.running:
            return "" if made.began else "Waiting for other runs to end."
        stopped = "Stopped early. " if made.stopping else ""
        return stopped + ("Nothing measured." if law is None else said(law))


def said(law: BatchLaw) -> str:
    """What the lengths say: how they fall, and where signal and noise are equal."""
    if isinstance(law.slope, Undetermined):
        return f"No fit: {law.slope.reason}."
    falls = f"The update's length goes like the batch to the power {significant(law.slope, 2)} (−0.5: noise alone; 0: "
    falls += "signal alone). "
    prompts, rollouts = law.noise_scale_prompts, law.noise_scale_rollouts
    if isinstance(prompts, Undetermined) or isinstance(rollouts, Undetermined):
        reason = prompts.reason if isinstance(prompts, Undetermined) else ""
        return f"{falls}Noise scale undetermined: {reason}."
    return f"{falls}Signal equals noise at {significant(prompts, 2)} prompts, {significant(rollouts, 2)} rollouts."
