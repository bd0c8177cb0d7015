"""Frames brought on show off the event loop, for one visitor: the latest request wins, a failure is told."""

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import param

from app.frames import Frames
from app.push import Push
from sim.errors import GradcloudError
from sim.frame import Frame
from sim.timeline import Moment

#: Seconds after which a wait is worth a word.
BLINK = 0.15

logger = logging.getLogger(__name__)


class Showing(param.Parameterized):
    """The frame on show, and the computations on their way.

    Args:
        frames: the process's frames.
        document: the visitor's document, where there is one: changes are pushed to it one message a frame.
    """

    frame = param.ClassSelector(class_=Frame, doc="the last frame that could be computed")
    busy = param.String(default="", doc="what is being computed, once that takes longer than a blink")
    failure = param.String(default="", doc="what could not be computed, and where")
    playing = param.Boolean(default=False)
    settled = param.Boolean(default=False, doc="nothing more is coming for the current moment")

    def __init__(self, frames: Frames, document: Any = None, **params: Any) -> None:
        super().__init__(**params)
        self._frames, self._push = frames, Push(document)
        self._task: asyncio.Task[None] | None = None
        self._next: tuple[Moment, str] | None = None
        self._preview_shown = False
        self._previewing = False

    def close(self) -> None:
        """Stop for good; for when the visitor has left."""
        self._push.close()
        if self._task is not None:
            self._task.cancel()

    @abstractmethod
    def _came(self, moment: Moment, frame: Frame) -> None:
        """Note what a frame says; it is about to be shown."""

    @abstractmethod
    def _lost(self, why: str) -> str:
        """Note that the current moment has no frame; in a sentence, what could not be computed."""

    def _show(self, moment: Moment, work: str) -> None:
        """Show a moment; what is known of it at once, so that several who show it together stay together."""
        known = self._frames.known(moment, complete=False)
        if known is not None:
            self._put(moment, known)
        self._start(lambda: self._shown(moment, work))

    def _preview(self, moment: Moment, work: str) -> None:
        """Show a moment while a slider is dragged: what is on its way is let through, or none ever would be."""
        self._next = (moment, work)
        if not self._previewing:
            self._start(self._previews, preview=True)

    def _start(self, work: Callable[[], Awaitable[None]], *, playing: bool = False, preview: bool = False) -> None:
        """Run a computation in place of the one on its way: the latest request wins."""
        if self._task is not None:
            self._task.cancel()
        self._previewing = self._preview_shown = preview
        self.param.update(playing=playing, settled=False, failure="")
        self._task = asyncio.get_running_loop().create_task(self._guarded(work))

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
            await self._push(lambda: self.param.update(settled=True, busy=""))
        except GradcloudError as error:
            await self._failed(str(error))
        except Exception as error:
            logger.exception("a frame could not be computed")
            await self._failed(f"{type(error).__name__}: {error}")

    async def _failed(self, why: str) -> None:
        # A drag that goes on after this starts anew.
        self._previewing = False

        def tell() -> None:
            where = f"These settings could not be computed: {why}" if self._preview_shown else self._lost(why)
            self.param.update(failure=where, playing=False, busy="", settled=True)

        await self._push(tell)

    async def _shown(self, moment: Moment, work: str) -> None:
        frame = await self._fast(moment, work)
        if not frame.complete:
            await self._rest(moment)

    async def _previews(self) -> None:
        while self._next is not None:
            (moment, work), self._next = self._next, None
            try:
                frame = await self._fast(moment, work)
            except Exception:
                if self._next is None:
                    raise
        self._previewing = False
        if not frame.complete:
            await self._rest(moment)

    async def _fast(self, moment: Moment, work: str) -> Frame:
        """Show a moment's frame as soon as its picture is there, with a word if that takes long."""
        wanted = asyncio.ensure_future(self._frames.get(moment, complete=False))
        try:
            done, _ = await asyncio.wait({wanted}, timeout=BLINK)
            if not done and work:
                await self._push(lambda: self.param.update(busy=work))
            frame = await wanted
        finally:
            wanted.cancel()
        if frame is not self.frame:
            await self._push(partial(self._put, moment, frame))
        return frame

    async def _rest(self, moment: Moment) -> None:
        frame = await self._frames.get(moment, complete=True)
        await self._push(partial(self._put, moment, frame))

    def _put(self, moment: Moment, frame: Frame) -> None:
        self._came(moment, frame)
        self.param.update(frame=frame, busy="")
