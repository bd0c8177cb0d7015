"""The keeper: what was done stays in the browser's tab, and a reload or a lost connection comes back to it."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import param

from app import theme
from app.address import mark, remembered
from app.playable import Playable
from app.push import Push
from app.session import Session
from app.views.messages import Component, said
from app.views.script import HISTORY, script
from sim.errors import InvalidInput
from sim.session_file import Kept, parse_session
from sim.timeline import Event

#: An entry of the browser's history: the event that led there, and by what its moment is known again.
Entry = tuple[int | None, str | None]
#: Seconds after which what was done is kept, at most: at rest, and while every batch would be written anew.
STILL, PLAYING = 0.3, 3.0

_HERE = Path(__file__).with_suffix("")

logger = logging.getLogger(__name__)


class Keeper(Component):
    """Gives the browser the session as text and takes it back from a tab that was reloaded; pauses while unseen.

    Args:
        target: what is paused while nobody can see it, and goes on when somebody can.
        session: what is kept; None keeps nothing.
        document: the visitor's document, where there is one.
    """

    back = param.Boolean(default=False, doc="what the tab had kept is on show, or was refused")

    _esm = script(_HERE, HISTORY)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, target: Playable, session: Session | None = None, document: Any = None, **params: Any) -> None:
        super().__init__(**params)
        self._target, self._session, self._push = target, session, Push(document)
        self._ready = self._resume = self._returning = False
        self._task: asyncio.Task[None] | None = None
        self._kept: Event | None = None
        if session is not None:
            session.param.watch(self._follow, "logged")
            session.param.watch(self._paused, "playing")
            session.param.watch(self._shown, ["frame", "failure"])

    def close(self) -> None:
        """Stop for good; for when the visitor has left."""
        self._push.close()
        if self._task is not None:
            self._task.cancel()

    def _handle_msg(self, data: Any) -> None:
        hidden = said(data, "hidden", bool)
        if hidden is not None:
            self._see(not hidden)
        if said(data, "ready", bool) and not self._ready and self._session is not None:
            self._ready = True
            text = said(data, "kept", str)
            if text is None:
                self._follow()
            else:
                entry = said(data, "event", int), said(data, "moment", str)
                self._run(self._return(text, self._session, self._session.timeline.current, entry))

    def _see(self, seen: bool) -> None:
        """Pause what nobody sees; go on with what was paused so, and only with that."""
        target = self._target
        if not seen and target.playing:
            target.pause()
            self._resume = True
        elif seen and self._resume:
            self._resume = False
            target.play()

    async def _return(self, text: str, session: Session, begun: Event, entry: Entry) -> None:
        """Take up what a tab had kept; whatever is wrong with it is told, and the session begins as it would have."""
        try:
            # Not on the event loop: a stranger's text may be as long as a file.
            kept = await asyncio.to_thread(parse_session, text, "what this tab had kept")
            await self._push(lambda: self._restored(session, begun, kept, entry))
        except InvalidInput as error:
            problems = error.problems
            await self._push(lambda: self._refused(session, problems))
        except Exception as error:
            logger.exception("what a tab had kept could not be taken up")
            told = f"what this tab had kept could not be taken up ({type(error).__name__}: {error}); begin anew"
            await self._push(lambda: self._refused(session, [told]))
        finally:
            self._ended()
        self._follow()

    def _refused(self, session: Session, problems: list[str]) -> None:
        self._returning = False
        self.back = True
        session.refuse(problems)

    def _restored(self, session: Session, begun: Event, kept: Kept, entry: Entry) -> None:
        # Who has already done something does not lose it.
        if session.timeline.current is not begun:
            self.back = True
            return
        self._returning = True
        newest, there = kept.timeline.current, remembered(kept.timeline, *entry)
        if there is not None and there.moment.key != newest.moment.key:
            kept.timeline.rewind(there.index)
        name, preset = session.preset_name, session.preset
        session.restore(kept)
        self._kept = newest
        # What was done last may not have been kept any more, and yet be in the address.
        if there is None and mark(begun.moment.key) == entry[1] and begun.moment.key != newest.moment.key:
            session.open(preset, name, begun.moment, begun.label)

    def _shown(self, *_: Any) -> None:
        session = self._session
        if not self._returning or session is None:
            return
        frame, moment = session.frame, session.timeline.current.moment
        there = frame is not None and (frame.config, frame.step, frame.draw) == (
            moment.config, moment.step, moment.draw
        )  # fmt: skip
        if there or session.failure:
            self._returning = False
            self.back = True

    def _paused(self, *_: Any) -> None:
        """Keep what was played as soon as it pauses."""
        if self._session is not None and not self._session.playing and self._task is not None and not self._returning:
            self._task.cancel()
            self._task = None
            self._follow()

    def _follow(self, *_: Any) -> None:
        session = self._session
        if self._ready and session is not None and self._task is None and session.timeline.current is not self._kept:
            self._run(self._keep(session))

    async def _keep(self, session: Session) -> None:
        await asyncio.sleep(PLAYING if session.playing else STILL)
        try:
            await self._push(lambda: self._send(session))
        finally:
            self._ended()
        # What was done meanwhile.
        self._follow()

    def _send(self, session: Session) -> None:
        self._kept = session.timeline.current
        try:
            text = session.kept()
        except InvalidInput:
            # What is too long for a file is not kept; a shorter text would come back to something else.
            text = ""
        self._send_msg({"text": text})

    def _ended(self) -> None:
        # What was cancelled has been replaced already.
        if self._task is asyncio.current_task():
            self._task = None

    def _run(self, work: Any) -> None:
        self._task = asyncio.get_running_loop().create_task(work)
