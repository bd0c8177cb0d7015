"""The address bar: it follows what is on show, and back and forward return to it."""

import asyncio
import time
from pathlib import Path
from typing import Any

from app import theme
from app.address import LONGEST, Place, follow, origin, remembered
from app.push import Push
from app.session import Session
from app.views.messages import Component, said
from app.views.script import HISTORY, script
from sim.link import TOKEN, parse_link, read_link

#: Seconds that the address lags behind what is done: acts in one go are one entry, and a batch or a look rests first.
SOON, STILL = 0.05, 0.4
#: Changes at once, and in each second after that: browsers take no more than 100 to 200 in half a minute.
BURST, RATE = 30.0, 2.0

_HERE = Path(__file__).with_suffix("")


class AddressBar(Component):
    """Keeps the browser's address at what a session has on show, and takes it back to where it was.

    A preset, a control, a step or a return to an event makes an entry of the browser's history; a batch and a look
    change the one that is there.

    Args:
        session: what is on show.
        document: the visitor's document.
    """

    _esm = script(_HERE, HISTORY)
    _stylesheets = [theme.BASE]  # noqa: RUF012

    def __init__(self, session: Session, document: Any = None, **params: Any) -> None:
        super().__init__(**params)
        self._session, self._push = session, Push(document)
        self._event, self._here = session.timeline.current, Place.of(session)
        self._due: list[tuple[bool, Place, float]] = []
        self._ready = self._returning = False
        self._turn = 0
        self._room, self._since = BURST, time.monotonic()
        self._task: asyncio.Task[None] | None = None
        session.param.watch(self._acted, "logged")
        session.look.param.watch(self._looked, ["theme", "radius", "side", "selected"])

    def close(self) -> None:
        """Stop for good; for when the visitor has left."""
        self._push.close()
        if self._task is not None:
            self._task.cancel()

    def _handle_msg(self, data: Any) -> None:
        turn = said(data, "turn", int)
        if said(data, "ready", bool):
            self._ready, self._turn = True, 0
            self._note(False)
        elif turn is not None and self._ready:
            self._turn = turn
            self._return(said(data, "query", str) or "", said(data, "event", int), said(data, "moment", str))

    def _return(self, query: str, index: int | None, moment: str | None) -> None:
        """Go to an entry of the browser's history: back in the log if it is there, and else as by a link."""
        session = self._session
        if len(query) > LONGEST:
            # No entry that the page made is longer, and a stranger's would be read while others wait.
            link, problems = read_link({})[0], [f"got {len(query)} characters, allowed at most {LONGEST}"]
        else:
            link, problems = parse_link(query) if query else read_link({})
        event = remembered(session.timeline, index, moment)
        self._returning = True
        try:
            if event is None:
                follow(session, link, [f"the address: {problem}" for problem in problems])
            elif origin(session.timeline.current) != origin(event):
                session.rewind(event.index)
                if TOKEN in link.look:
                    session.pick(int(link.look[TOKEN]))
        finally:
            self._returning = False
        # What was on its way to another entry.
        self._due.clear()
        self._note(False)

    def _acted(self, *_: Any) -> None:
        timeline, before = self._session.timeline, self._event
        if timeline.current is before:
            return
        self._event = timeline.current
        # None where another log took the place of the one that there was.
        new = [event.kind for event in timeline.events if event.index > before.index]
        self._note(not self._returning and (not new or any(kind != "draw" for kind in new)))

    def _looked(self, *_: Any) -> None:
        self._note(False)

    def _note(self, entry: bool) -> None:
        """Note where the session is, for an entry of its own or for the one that is there."""
        place, now = Place.of(self._session), time.monotonic()
        entry = entry and not place.is_at(self._here)
        self._here = place
        if not self._ready:
            return
        if self._due and (not entry or (self._due[-1][0] and now - self._due[-1][2] < SOON)):
            self._due[-1] = (self._due[-1][0], place, self._due[-1][2])
        else:
            self._due.append((entry, place, now))
        if self._task is None or entry:
            if self._task is not None:
                self._task.cancel()
            self._task = asyncio.get_running_loop().create_task(self._tell())

    async def _tell(self) -> None:
        while self._due:
            await asyncio.sleep(SOON if any(entry for entry, _, _ in self._due) else STILL)
            while (wait := self._crowded()) > 0:
                await asyncio.sleep(wait)
            await self._push(self._send)
        self._task = None

    def _crowded(self) -> float:
        """Seconds until there is room for what is due, which is one change if there is not room for all of it."""
        now = time.monotonic()
        self._room, self._since = min(BURST, self._room + RATE * (now - self._since)), now
        if self._room < len(self._due):
            self._due[:] = [(any(entry for entry, _, _ in self._due), *self._due[-1][1:])]
        return max(0.0, (1 - self._room) / RATE)

    def _send(self) -> None:
        due, self._due = self._due, []
        self._room -= len(due)
        for entry, place, _ in due:
            self._send_msg({"entry": entry, "turn": self._turn, **place.said()})
