"""A visitor's files to take away: one at a time, made in a thread of the process, and given up when he leaves."""

import asyncio
import re
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

import param

from app.embed import iframe
from app.frames import Frames
from app.making import Making
from app.push import Push
from app.runners import Runners
from app.session import Session
from app.takeaway import KINDS, LESSONS, Shown, checked, missing
from sim.errors import InvalidInput
from sim.sentences import either, shown

#: Shapes of a frame in another page, width to height, and pixels that it may be wide.
SHAPES = {"16:9": (16, 9), "4:3": (4, 3)}
NARROWEST, WIDEST = 320, 3840

_PAGE = re.compile(r"https?://[^\s?#]{1,500}")


@dataclass(frozen=True)
class Address:
    """The query of a link, or why there is none."""

    query: str = ""
    problem: str = ""

    @classmethod
    def of(cls, what: Shown, log: bool) -> "Address":
        """The link of what is on show, with the log or without."""
        try:
            return cls(what.query(log))
        except InvalidInput as error:
            return cls(problem="; ".join(error.problems))


class Share(param.Parameterized):
    """What a visitor takes away of what he had on show when he asked: at most one file at a time.

    Args:
        session: what is on show.
        runners: the process's threads for what takes minutes.
        quick: the process's threads for what is there in a moment.
        frames: the process's frames.
        document: the visitor's document, where there is one.
    """

    changed = param.Event(doc="what is shared, how far a file has come, or what came of it")
    ready = param.Event(doc="a file is made; whoever hands it over takes it")

    def __init__(
        self, session: Session, runners: Runners, quick: Runners, frames: Frames, document: Any = None
    ) -> None:
        super().__init__()
        self.session = session
        self.what: Shown | None = None
        self.links: tuple[Address, Address] | None = None
        self.problems: list[str] = []
        self.reasons: dict[str, str] = {}
        self._runners, self._quick, self._frames, self._push = runners, quick, frames, Push(document)
        self._making: Making | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def busy(self) -> bool:
        """Whether a file is in the making."""
        return self._making is not None and not self._making.over

    @property
    def title(self) -> str:
        """What is shared, in words."""
        if self.what is None:
            return ""
        moment = self.what.link.moment
        return f"{self.what.preset.title}, seed {moment.config.seed}, step {moment.step}, draw {moment.draw}"

    @property
    def progress(self) -> tuple[int, int]:
        """How many frames of the file in the making are done, and of how many; of 0 before that is known."""
        return (self._making.done, self._making.total) if self._making is not None else (0, 0)

    def pin(self) -> None:
        """Share from now on what is on show now; its links, without the log and with it, follow in a moment."""
        self.what, self.links, self.problems = Shown.of(self.session), None, []
        if not self.busy:
            self._making = None
        self._run("links", self._addressed(self.what))
        self.param.trigger("changed")

    def start(self, kind: str, scale: int | None = None, frames: int | None = None, along: str | None = None) -> None:
        """Make a file of what is shared, and hand it over when it is made."""
        try:
            if self.what is None:
                raise InvalidInput(["nothing is shared yet; open the dialog first"])
            if self.busy:
                raise InvalidInput(["another file is being made; wait for it, or cancel it first"])
            making = Making(checked(kind, scale, frames, along), self.what, self._frames)
        except InvalidInput as error:
            self.problems = error.problems
        else:
            self._making, self.problems = making, []
            (self._runners if KINDS[kind].long else self._quick).start(making)
            self._run("file", self._follow(making))
        self.param.trigger("changed")

    def stop(self) -> None:
        """Give up the file in the making."""
        if self.busy and self._making is not None:
            self._making.stop()
            self.param.trigger("changed")

    def close(self) -> None:
        """Stop for good; for when the visitor has left."""
        self._push.close()
        if self._making is not None:
            self._making.stop()
        for task in self._tasks.values():
            task.cancel()

    def take(self) -> tuple[str, str, bytes] | None:
        """The name, type and bytes of the file that is made, once: what was handed over is not kept."""
        making = self._making
        if making is None or making.data is None:
            return None
        data, making.data = making.data, None
        return making.what.filename(making.order), KINDS[making.order.kind].mime, data

    def html(self, hidden: Sequence[str], width: int, shape: str, page: str) -> str:
        """The frame of what is shared for another page, as HTML; "" while no link is there.

        Raises:
            InvalidInput: for a part, a width, a shape or an address that there is not.
        """
        problems = []
        if not NARROWEST <= width <= WIDEST:
            problems.append(f"width: got {shown(width)}, allowed a whole number, {NARROWEST} to {WIDEST}")
        if shape not in SHAPES:
            problems.append(f"shape: got {shown(shape)}, allowed {either(list(SHAPES))}")
        if not _PAGE.fullmatch(page):
            problems.append(f"page: got {shown(page)}, allowed is an address that begins with http:// or https://")
        if problems:
            raise InvalidInput(problems)
        if self.links is None or self.links[0].problem:
            return ""
        across, up = SHAPES[shape]
        return iframe(self.links[0].query, hidden, width, round(width * up / across), page)

    def told(self) -> str:
        """How far the file has come, or what came of it, in a sentence or two."""
        if self.problems:
            return " ".join(f"{problem}." for problem in self.problems)
        making = self._making
        if making is None:
            return ""
        label = KINDS[making.order.kind].label
        if making.stopping:
            return f"{label} cancelled; nothing was made." if making.over else "Stopping."
        if not making.over:
            if not making.began:
                return f"{label}: waiting for other work to end."
            return f"{label}: {making.far()}." if making.total else f"Making the {label} file."
        if making.failure:
            return (
                f"The {label} file could not be made: {making.failure}. What is on show and its log are as they were."
            )
        name, recording = making.what.filename(making.order), ""
        if KINDS[making.order.kind].section == LESSONS:
            recording = f" It is a recording: {making.order.frames} {making.order.along} that were measured here."
        return f"{name} is made, {size(making.size)}.{recording}"

    def _run(self, what: str, work: Coroutine[Any, Any, None]) -> None:
        if what in self._tasks:
            self._tasks[what].cancel()
        self._tasks[what] = asyncio.get_running_loop().create_task(work)

    async def _addressed(self, what: Shown) -> None:
        # A log of 1,000 events takes a quarter of a second, and so does ffmpeg to say what it can.
        links = await asyncio.to_thread(lambda: (Address.of(what, log=False), Address.of(what, log=True)))
        reasons = await asyncio.to_thread(missing)

        def tell() -> None:
            self.links, self.reasons = links, reasons
            self.param.trigger("changed")

        await self._push(tell)

    async def _follow(self, making: Making) -> None:
        await making.follow(
            lambda: (making.done, making.total, making.stopping),
            lambda: self._push(lambda: self.param.trigger("changed")),
        )
        if making.data is not None:
            await self._push(lambda: self.param.trigger("ready"))


def size(count: int) -> str:
    """A number of bytes as people read it."""
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{max(1, round(count / 1e3))} kB"
