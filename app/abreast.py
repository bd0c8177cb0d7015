"""Frames of several cells brought on show together: at no instant do two show different clocks."""

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import param

from app.cell import Came, Cell
from app.frames import Frames
from app.push import Push
from app.seen import Seen
from app.session import PACE, SAMPLING, SPEEDS
from app.showing import BLINK
from sim.frame import Frame

logger = logging.getLogger(__name__)


class Abreast(param.Parameterized):
    """The cells, and the computations on their way. A cell that fails says so, and the others go on.

    Args:
        frames: the process's frames.
        document: the visitor's document, where there is one: changes are pushed to it, one message for all cells.
    """

    cells: Any = param.List(default=[], item_type=Cell)
    frame = param.ClassSelector(class_=Frame, doc="of the first cell that has one; its clock is that of all")
    busy = param.String(default="")
    problems = param.List(default=[], item_type=str)
    playing = param.Boolean(default=False)
    settled = param.Boolean(default=False)
    speed: Any = param.Selector(default=1, objects=list(SPEEDS))
    changed = param.Event(doc="what is on show, or to be shown, has changed in some cell; then all agree")

    def __init__(self, frames: Frames, document: Any = None) -> None:
        super().__init__()
        self._frames, self._push, self.seen = frames, Push(document), Seen()
        self._task: asyncio.Task[None] | None = None
        self._here = False

    def begin(self) -> None:
        """Show the first frames; those that are known already are there before the page is."""
        known = [self._frames.known(cell.moment, complete=False) for cell in self.cells]
        self._bring(SAMPLING)
        if all(known):
            self._show([each for each in known if each is not None])

    def close(self) -> None:
        """Bring nothing any more."""
        self._push.close()
        if self._task is not None:
            self._task.cancel()

    @abstractmethod
    def _drawn(self) -> None:
        """Turn all cells to the next batch, as an event of their logs."""

    def _bring(self, work: str) -> None:
        """Show the cells' moments, all in one change."""
        self._run(partial(self._brought, work))

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        for cell in self.cells:
            cell.halt()
        self.param.update(playing=False, settled=False)

    def _run(self, work: Callable[[], Awaitable[None]], *, playing: bool = False) -> None:
        """Run a computation in place of the one on its way: the latest request wins."""
        self._stop()
        self._here = False
        self.playing = playing
        self._task = asyncio.get_running_loop().create_task(self._ended(work))

    async def _ended(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
            await self._push(lambda: self.param.update(settled=True, playing=False, busy=""))
        except Exception as error:
            logger.exception("the cells could not be shown together")
            await self._push(partial(self._broke, f"{type(error).__name__}: {error}"))

    def _broke(self, why: str) -> None:
        # An event that a watcher cut short stays set, and would not be told the next time.
        with param.parameterized.discard_events(self):
            self.param.update(changed=False)
        told = [f"The comparison stopped here: {why}; draw another batch, or reset it"]
        self.param.update(problems=told, settled=True, playing=False, busy="")

    async def _brought(self, work: str) -> None:
        came = await self._fetched(work)
        await self._push(partial(self._show, came))
        await self._rest(came)

    async def _fetched(self, work: str) -> Sequence[Came]:
        """Every cell's frame, or why there is none, once the slowest is there."""
        wanted = asyncio.gather(
            *(self._frames.get(cell.moment, complete=False) for cell in self.cells), return_exceptions=True
        )
        # Nobody waits for what a later request took the place of.
        wanted.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            done, _ = await asyncio.wait({wanted}, timeout=BLINK)
            if not done and work:
                await self._push(lambda: self.param.update(busy=work))
            return await wanted
        finally:
            wanted.cancel()

    def _show(self, came: Sequence[Came]) -> None:
        """Show all cells' frames in one change of the document."""
        for cell, each in zip(self.cells, came, strict=True):
            cell.take(each)
        frames = [each for each in came if isinstance(each, Frame)]
        self._here = True
        self.param.update(busy="", changed=True, **({"frame": frames[0]} if frames else {}))

    async def _rest(self, came: Sequence[Came]) -> None:
        """What the frames on show still lack, each cell's as it comes: it changes no clock."""

        async def complete(cell: Cell) -> None:
            try:
                each: Came = await self._frames.get(cell.moment, complete=True)
            except Exception as error:
                each = error
            await self._push(partial(self._add, cell, each))

        lacking = [
            cell for cell, each in zip(self.cells, came, strict=True) if isinstance(each, Frame) and not each.complete
        ]
        await asyncio.gather(*map(complete, lacking))

    def _add(self, cell: Cell, each: Came) -> None:
        cell.take(each)
        self.changed = True

    async def _playing(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            await self._push(self._drawn)
            came = await self._fetched("Sampling other answers")
            await self._push(partial(self._show, came))
            if not any(isinstance(each, Frame) for each in came):
                return
            await self._push(self.seen.ask)
            with suppress(TimeoutError):
                async with asyncio.timeout_at(began + PACE / self.speed):
                    await self._rest(came)
                    # Ahead of time; if one fails, that is told when it is that batch's turn.
                    ahead = (self._frames.get(cell.moment.next_draw(), complete=False) for cell in self.cells)
                    await asyncio.gather(*ahead, return_exceptions=True)
                    await asyncio.sleep(PACE)
            await self.seen.wait()
