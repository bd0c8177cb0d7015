"""Threads of the process for what takes minutes, few at a time: who comes later waits his turn."""

import asyncio
import logging
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from weakref import WeakSet

import torch

from app.frames import Frames
from sim.errors import Cancelled, GradcloudError
from sim.simulator import Simulator

#: Seconds that a task waits between two of its steps, at most, for pictures that visitors wait for.
COURTESY = 1.0
#: Seconds between two looks at what has come.
BEAT = 0.25

logger = logging.getLogger(__name__)


class Task(ABC):
    """Something that takes minutes. A thread works on it, the page reads what has come so far."""

    def __init__(self) -> None:
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

    @abstractmethod
    def work(self, simulator: Simulator, give_way: Callable[[], None]) -> None:
        """Do it all, in a thread, and give way between steps; Cancelled when it was told to stop."""

    @abstractmethod
    def end(self, failure: str) -> None:
        """Nothing more is coming: something failed, or "" where it was stopped."""

    async def follow(self, state: Callable[[], Any], tell: Callable[[], Awaitable[None]]) -> None:
        """Tell whenever the state has changed, a few times a second at most, until nothing more is coming."""
        told: Any = None
        done = asyncio.wrap_future(self.future)
        while True:
            over = self.over
            now = (self.began, over, state())
            if now != told:
                told = now
                await tell()
            if over:
                return
            await asyncio.wait({done}, timeout=BEAT)


class Runners:
    """Threads that work on tasks, for all visitors of the process.

    Args:
        frames: the process's frames: whoever waits for one goes first.
        threads: how many tasks are worked on at a time; by default half as many as there are cores.
    """

    def __init__(self, frames: Frames, threads: int = 0) -> None:
        self._frames = frames
        count = threads or max(1, (os.cpu_count() or 2) // 2)
        self._pool = ThreadPoolExecutor(count, "task", torch.set_num_threads, (1,))
        self._tasks: WeakSet[Task] = WeakSet()

    def start(self, task: Task) -> None:
        """Begin a task, or put it in the queue."""
        self._tasks.add(task)
        task.future = self._pool.submit(self._run, task)

    def close(self) -> None:
        """Stop all tasks and the threads; the process could not end before they do."""
        for task in list(self._tasks):
            task.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, task: Task) -> None:
        task.began = True
        try:
            task.work(self._frames.renderer().aside(), lambda: self._give_way(task))
        except Exception as error:
            task.end(reason(error))

    def _give_way(self, task: Task) -> None:
        until = time.monotonic() + COURTESY
        while self._frames.awaited and not task.stopping and time.monotonic() < until:
            time.sleep(0.005)


def reason(error: Exception) -> str:
    """What ended a task, in words; "" if it was told to stop."""
    if isinstance(error, Cancelled):
        return ""
    if isinstance(error, GradcloudError):
        return str(error)
    logger.error("a task ended early", exc_info=error)
    return f"{type(error).__name__}: {error}"
