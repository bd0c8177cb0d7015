"""The implicit target of what a visitor has on show, measured in the background once somebody wants to see it."""

import asyncio
import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import param
import torch

from app.frames import Frames
from app.push import Push
from app.session import Session
from app.showing import BLINK
from sim.config import Config
from sim.errors import GradcloudError
from sim.frame import Frame
from sim.implicit import ROLLOUTS, Outcomes, compared, sampled_answers
from sim.language import Problem
from sim.simulator import Recent
from sim.timeline import Path

#: Counts of final answers that the process keeps.
KEPT = 256
#: Seconds that a piece of the sampling waits, at most, for pictures that visitors wait for.
COURTESY = 1.0
_PROMPT = re.compile(r"(?:<bos> )?ask (\d+) ([+*]) (\d+) ([+*]) (\d+) \?")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wanted:
    """What the outcomes are a function of: the steps taken, the prompt, beta and the seed."""

    path: Path
    problem: Problem
    beta: float
    seed: int


class Targets:
    """Measures outcomes for all visitors of the process, in a thread of its own, and keeps what it counted.

    A change of beta alone asks no model, and the reference is the student before its first step.

    Args:
        frames: the process's frames: whoever waits for one goes first.
        sampled: counts final answers, as sim.implicit.sampled_answers does.
    """

    def __init__(self, frames: Frames, sampled: Callable[..., "Counter[str]"] = sampled_answers) -> None:
        self._frames, self._sampled = frames, sampled
        self._counts: Recent[Counter[str]] = Recent(KEPT)
        self._pool = ThreadPoolExecutor(1, "target", torch.set_num_threads, (1,))

    async def get(self, wanted: Wanted) -> Outcomes:
        """The outcomes of reference and student, and the target; given up when the caller is cancelled."""
        stop = threading.Event()
        try:
            return await asyncio.wrap_future(self._pool.submit(self._outcomes, wanted, stop))
        finally:
            stop.set()

    def close(self) -> None:
        """Stop the thread; for tests."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _outcomes(self, wanted: Wanted, stop: threading.Event) -> Outcomes:
        before, after = (self._count(path, wanted, stop) for path in (Path(), wanted.path))
        return compared(before, after, wanted.problem, wanted.beta)

    def _count(self, path: Path, wanted: Wanted, stop: threading.Event) -> "Counter[str]":
        key = (path.key, wanted.problem, wanted.seed)
        known = self._counts.get(key)
        if known is not None:
            return known

        def cancel() -> bool:
            until = time.monotonic() + COURTESY
            while self._frames.awaited and not stop.is_set() and time.monotonic() < until:
                time.sleep(0.005)
            return stop.is_set()

        simulator = self._frames.renderer().aside()
        params = simulator.state(path, stop.is_set).params
        model = simulator.world.policies["base"].model
        counts = self._sampled(model, params, wanted.problem, ROLLOUTS, wanted.seed, cancel)
        return self._counts.put(key, counts)


class ImplicitTarget(param.Parameterized):
    """A visitor's implicit target: measured while `opened`, anew whenever what it depends on changes.

    Args:
        session: what is on show.
        targets: the process's measurements.
        document: the visitor's document, where there is one.
    """

    opened = param.Boolean(default=False, doc="whether the visitor looks at it")
    keep = param.Boolean(default=False, doc="stay with the prompt, whatever the batch")
    found = param.ClassSelector(class_=Outcomes, doc="the last outcomes that were measured")
    found_for = param.ClassSelector(class_=Wanted, doc="what they were measured for")
    busy = param.Boolean(default=False, doc="whether a measurement takes longer than a blink")
    failure = param.String(default="", doc="why there are none")
    wanted = param.ClassSelector(class_=Wanted, doc="what is to be measured, None for nothing")

    def __init__(self, session: Session, targets: Targets, document: Any = None) -> None:
        super().__init__()
        self.session, self._targets, self._push = session, targets, Push(document)
        self._task: asyncio.Task[None] | None = None
        session.param.watch(self._follow, ["frame", "playing"])
        self.param.watch(self._follow, ["opened", "keep"])

    @property
    def waits(self) -> str:
        """Why nothing is measured although the section is open, as a sentence; empty otherwise."""
        if self.session.playing:
            return "Measured when the page pauses: while it plays, each batch is gone before its answers are counted."
        if self.session.frame is not None and self._problem(self.session.frame) is None:
            return "No prompt of this batch needs the key move. Draw another batch."
        return ""

    def close(self) -> None:
        """Stop for good; for when the visitor has left."""
        self._push.close()
        if self._task is not None:
            self._task.cancel()

    def _follow(self, *_: Any) -> None:
        wanted = self._now()
        if wanted == self.wanted:
            return
        if self._task is not None:
            self._task.cancel()
        self.param.update(wanted=wanted, busy=False, failure="")
        if wanted is not None:
            self._task = asyncio.get_running_loop().create_task(self._measure(wanted))

    def _now(self) -> Wanted | None:
        """What is to be measured for the frame on show."""
        session, frame = self.session, self.session.frame
        if not self.opened or session.playing or frame is None or absent(frame.config):
            return None
        path, problem = session.timeline.current.moment.path, self._problem(frame)
        # A step that was just ordered: its frame comes later, and with it another look here.
        if problem is None or path.length != frame.step:
            return None
        return Wanted(path, problem, frame.config.reference.beta, frame.config.seed)

    def _problem(self, frame: Frame) -> Problem | None:
        if self.keep and self.found_for is not None:
            return self.found_for.problem
        return first_problem(frame)

    async def _measure(self, wanted: Wanted) -> None:
        measuring = asyncio.ensure_future(self._targets.get(wanted))
        try:
            done, _ = await asyncio.wait({measuring}, timeout=BLINK)
            if not done:
                await self._push(lambda: self.param.update(busy=True))
            found = await measuring
            await self._push(lambda: self.param.update(found=found, found_for=wanted, busy=False))
        except Exception as error:
            if not isinstance(error, GradcloudError):
                logger.exception("an implicit target could not be measured")
            why = str(error) if isinstance(error, GradcloudError) else f"{type(error).__name__}: {error}"
            await self._push(lambda: self.param.update(failure=why, busy=False))
        finally:
            measuring.cancel()


def absent(config: Config) -> str:
    """Why some settings have no implicit target, as what follows "none, as"; empty where they have one."""
    reference, teacher = config.reference, config.teacher
    if reference.beta == 0:
        return "nothing pulls back to the reference (β is 0)"
    if teacher.weight > 0:
        return "the signal is not the reward alone (λ is above 0)"
    if config.source.alpha == 0:
        return "no answer is the student's own (α is 0)"
    if reference.divergence == "forward":
        return "the pull is the forward KL, and the target is that of the reverse one"
    return ""


def first_problem(frame: Frame) -> Problem | None:
    """The first prompt of a batch that needs the key move, as a problem; None where there is none."""
    for rollout in frame.rollouts:
        asked = _PROMPT.match(rollout.prompt)
        if asked is not None:
            a, first_op, b, second_op, c = asked.groups()
            problem = Problem(int(a), first_op, int(b), second_op, int(c))
            if problem.needs_key_move:
                return problem
    return None
