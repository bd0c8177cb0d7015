"""What a visitor opens from files and saves to them: read off the event loop, one at a time, and nothing lost by it."""

import asyncio
import base64
import binascii
import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import param

from app.address import follow
from app.push import Push
from app.session import Session
from app.takeaway import Order, Shown
from sim.errors import InvalidInput
from sim.opening import MAX_BYTES, Opened, parse_file
from sim.session_file import Kept

#: Characters of a file's name that are told, and that the log has.
_NAME, _SHORT = 120, 40

logger = logging.getLogger(__name__)


class Files(param.Parameterized):
    """A preset is opened as from the menu, an export at its moment; a session takes the place of the log.

    That log can be returned to until something else is done.

    Args:
        session: what opens them.
        document: the visitor's document, where there is one.
    """

    told = param.String(default="", doc="what is being opened, or what a session took the place of")
    undoable = param.Boolean(default=False, doc="whether there is a log to return to")

    def __init__(self, session: Session, document: Any = None) -> None:
        super().__init__()
        self._session, self._push = session, Push(document)
        self._before: Kept | None = None
        self._taken = session.timeline.current
        self._notice = ""
        self._next: tuple[str, str] | None = None
        self._reading: asyncio.Task[None] | None = None
        session.param.watch(self._acted, "logged")

    def close(self) -> None:
        """Stop for good; for when the visitor has left."""
        self._push.close()
        if self._reading is not None:
            self._reading.cancel()

    def open(self, name: str, size: int, encoded: str | None) -> None:
        """Open a file that comes as base64, or that was too large to come; of several the newest."""
        origin = "".join(each if each.isprintable() else "\ufffd" for each in name[:_NAME]) or "the file"
        if size > MAX_BYTES or encoded is None:
            self._session.refuse([f"{origin}: got {size:,} bytes, allowed {MAX_BYTES:,}; open a smaller file"])
            return
        self.told = f"Opening {origin}"
        self._next = (origin, encoded)
        if self._reading is None or self._reading.done():
            self._reading = asyncio.get_running_loop().create_task(self._read())

    def undo(self) -> None:
        """Return to the log whose place a session took; what is there now is kept in its turn."""
        if self._before is not None:
            before = self._before
            self._replace(before)
            self._say(f"Back to the log of {_events(before)}.")

    def dismiss(self) -> None:
        """Say no more, and give up the log that there was."""
        self._before = None
        self._say("")

    def saved(self, kind: Literal["preset", "session"]) -> tuple[str, str]:
        """The name and the text of a file of what is on show.

        Raises:
            InvalidInput: if the session is more than a file may hold.
        """
        what = Shown.of(self._session)
        return what.filename(Order(kind)), what.text(kind)

    async def _read(self) -> None:
        # One after the other: what a thread has begun to read it reads to its end.
        while self._next is not None:
            (origin, encoded), self._next = self._next, None
            change = await self._change(origin, encoded)
            if self._next is None:
                await self._push(change)

    async def _change(self, origin: str, encoded: str) -> Callable[[], None]:
        """What a file changes, once it was read."""
        try:
            # Not on the event loop, on which everybody else would wait.
            opened = await asyncio.to_thread(_parsed, origin, encoded)
        except InvalidInput as error:
            return partial(self._refused, error.problems)
        except Exception as error:
            logger.exception("a file could not be opened")
            told = f"{origin}: could not be opened ({type(error).__name__}: {error}); tell who serves this page"
            return partial(self._refused, [told])
        return partial(self._take, origin, opened)

    def _refused(self, problems: list[str]) -> None:
        self._say(self._notice)
        self._session.refuse(problems)

    def _take(self, origin: str, opened: Opened) -> None:
        session = self._session
        if opened.kept is not None:
            before = self._replace(opened.kept)
            self._say(f"{origin} took the place of the log of {_events(before)}.")
        else:
            self._say(self._notice)
            name = origin if len(origin) <= _SHORT else origin[: _SHORT - 1] + "…"
            follow(session, opened, [], f"as {name} has it")

    def _replace(self, kept: Kept) -> Kept:
        """Put a session in the place of the log, which can be returned to."""
        before = self._session.so_far()
        self._session.restore(kept)
        self._before, self._taken = before, self._session.timeline.current
        return before

    def _acted(self, *_: Any) -> None:
        """Give up the log that there was once something is done, which a return to it would lose."""
        if self._before is None or self._session.timeline.current is self._taken:
            return
        opening = self.told != self._notice
        self._before, self._notice = None, ""
        self.param.update(told=self.told if opening else "", undoable=False)

    def _say(self, notice: str) -> None:
        self._notice = notice
        self.param.update(told=notice, undoable=self._before is not None)


def _parsed(origin: str, encoded: str) -> Opened:
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput([f"{origin}: did not arrive whole; open it again"]) from None
    return parse_file(data, origin)


def _events(kept: Kept) -> str:
    events = len(kept.timeline.events)
    return f"{events} event{'s' * (events != 1)}"
