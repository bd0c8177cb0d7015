"""Frames for all visitors of a process: each computed once, off the event loop, and kept while there is room."""

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

import torch

from app.spare import Spare
from sim.errors import Cancelled
from sim.frame import Frame
from sim.simulator import Simulator
from sim.timeline import Moment, Path

#: Sites that the cache holds in all; a site takes about a quarter of a kilobyte, and a frame what FIXED sites take.
CAPACITY, FIXED = 400_000, 24
#: Steps that are taken again where pictures are computed, at most; who comes from further away waits beside the others.
NEAR = 20


class Renderer(Protocol):
    """What makes frames: a Simulator."""

    def frame(self, moment: Moment, complete: bool = True, cancel: Callable[[], bool] | None = None) -> Frame:
        """The frame of a moment; without `complete`, all that needs no norms."""
        ...

    def distance(self, path: Path) -> int:
        """How many steps must be taken again before the frames at the end of a path."""
        ...

    def aside(self) -> Simulator:
        """A simulator for steps that are taken beside all this."""
        ...


@dataclass
class _Job:
    """A computation under way in a pool, and how many wait for it; with nobody left it stops."""

    pool: str
    waiting: int = 0
    future: "Future[Frame | None]" = field(default_factory=Future)


class Frames:
    """A least-recently-used cache of frames by moment, with single flight.

    Complete frames are computed in a thread of their own, and those far from every known state in another, so that what
    takes long never stands in the way of what a visitor waits for.

    Args:
        make: makes the renderer, in a worker thread, when the first frame is asked for.
        capacity: how many sites are kept in all.
    """

    def __init__(self, make: Callable[[], Renderer], capacity: int = CAPACITY) -> None:
        workers = max(1, min(4, (os.cpu_count() or 2) - 1))
        self._pools = {
            "frame": ThreadPoolExecutor(workers, "frame", torch.set_num_threads, (1,)),
            "norms": ThreadPoolExecutor(max(1, workers - 1), "norms", torch.set_num_threads, (1,)),
            "far": ThreadPoolExecutor(1, "far", torch.set_num_threads, (1,)),
        }
        self._make, self._capacity = make, capacity
        self._renderer: Renderer | None = None
        self._making, self._lock = threading.Lock(), threading.Lock()
        self._frames: OrderedDict[str, Frame] = OrderedDict()
        self._sites, self._spare = 0, Spare()
        self._jobs: dict[tuple[str, bool], _Job] = {}
        self._closed = False

    async def get(self, moment: Moment, complete: bool) -> Frame:
        """The frame of a moment; computed once however many ask, and given up when nobody waits any more."""
        while True:
            found = self.known(moment, complete)
            if found is not None:
                return found
            job = self._join(moment, complete)
            outcome = asyncio.wrap_future(job.future)
            outcome.add_done_callback(lambda done: done.cancelled() or done.exception())
            try:
                frame = await asyncio.shield(outcome)
            finally:
                with self._lock:
                    job.waiting -= 1
            if frame is not None:
                return frame
            if self._closed:
                raise asyncio.CancelledError

    def known(self, moment: Moment, complete: bool) -> Frame | None:
        """The frame of a moment if it has been computed and is kept."""
        with self._lock:
            frame = self._frames.get(moment.key)
            if frame is None or (complete and not frame.complete):
                return None
            self._frames.move_to_end(moment.key)
            return frame

    def warm(self, moment: Moment) -> None:
        """Begin to compute a frame that somebody is likely to ask for; waits for nothing."""
        self._join(moment, complete=True)

    def renderer(self) -> Renderer:
        """What makes the frames; made now if need be, which takes seconds and is not for the event loop."""
        with self._making:
            if self._renderer is None:
                self._renderer = self._make()
            return self._renderer

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for a picture; who waits for its norms, or from far away, does not count."""
        with self._lock:
            return any(job.waiting for job in self._jobs.values() if job.pool == "frame")

    def close(self) -> None:
        """Stop the threads, and give up what they are at, which would keep the process alive to its end."""
        self._closed = True
        for pool in self._pools.values():
            pool.shutdown(wait=True, cancel_futures=True)

    def _join(self, moment: Moment, complete: bool) -> _Job:
        key = (moment.key, complete)
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.waiting == 0:
                pool = "far" if self._far(moment) else "norms" if complete else "frame"
                job = self._jobs[key] = _Job(pool)
                job.waiting += 1
                self._pools[job.pool].submit(self._run, key, job, moment)
            else:
                job.waiting += 1
            return job

    def _far(self, moment: Moment) -> bool:
        return self._renderer is not None and self._renderer.distance(moment.path) > NEAR

    def _run(self, key: tuple[str, bool], job: _Job, moment: Moment) -> None:
        frame, failure = None, None
        try:
            if job.waiting and not self._closed:
                frame = self.renderer().frame(moment, key[1], lambda: job.waiting == 0 or self._closed)
        except Cancelled:
            pass
        except BaseException as error:
            failure = error
        with self._lock:
            if self._jobs.get(key) is job:
                del self._jobs[key]
            if frame is not None:
                self._keep(moment.key, frame)
        if failure is not None:
            job.future.set_exception(failure)
        else:
            job.future.set_result(frame)
        self._spare.count()

    def _keep(self, key: str, frame: Frame) -> None:
        held = self._frames.get(key)
        if held is not None and held.complete:
            return
        self._frames[key] = frame
        self._frames.move_to_end(key)
        self._sites += _cost(frame) - (0 if held is None else _cost(held))
        while self._sites > self._capacity and len(self._frames) > 1:
            _, dropped = self._frames.popitem(last=False)
            self._sites -= _cost(dropped)


def _cost(frame: Frame) -> int:
    return FIXED + len(frame.sites.text)
