"""Reset, rewind and clear: three different things; and what a session leaves behind, which is bounded."""

import asyncio
from typing import Any

import pytest

from app.frames import Frames
from app.session import Session
from app.views.log import EventLog
from tests.app.conftest import PRESET, SMALL, Paced, begun, run, settled


def said(session: Session) -> list[tuple[str, str]]:
    return [(event.kind, event.label) for event in session.timeline.events]


def test_reset_rewind_and_clear_are_three_different_things(paced_frames: Frames) -> None:
    async def scene() -> tuple[Session, list[int]]:
        session, anew = begun(paced_frames), list[int]()
        session.param.watch(lambda _: anew.append(session.timeline.current.index), "anew")
        session.draw()
        session.step()
        session.dials.clip = True
        await settled(session)
        session.look.selected = 1
        return session, anew

    async def resets() -> None:
        session, anew = await scene()
        session.reset()
        moment = session.timeline.current.moment
        assert (moment.config, moment.step, moment.draw, session.dials.clip) == (SMALL, 0, 0, False)
        assert [kind for kind, _ in said(session)] == ["preset", "draw", "step", "control", "preset"]
        assert (session.look.selected, anew) == (None, [3])
        session.close()

    async def rewinds() -> None:
        session, anew = await scene()
        session.rewind(1)
        assert session.timeline.current.moment == session.timeline.at(1)
        assert not session.dials.clip
        assert [kind for kind, _ in said(session)] == ["preset", "draw", "step", "control", "rewind"]
        assert anew == []
        session.close()

    async def clears() -> None:
        session, anew = await scene()
        frame, moment, seen = session.frame, session.timeline.current.moment, session.outcome(session.timeline.current)
        session.clear()
        assert (session.frame, session.timeline.current.moment, session.dials.clip) == (frame, moment, True)
        assert said(session) == [("preset", "from here on: A small one")]
        assert session.outcome(session.timeline.current) == seen
        assert (session.look.selected, session.preset, anew, session.settled) == (1, PRESET, [], True)
        session.draw()
        session.back()
        assert session.timeline.current.moment == moment
        session.close()

    for each in (resets, rewinds, clears):
        run(each())


@pytest.mark.parametrize("act", ["reset", "clear", "back", "first", "newest", "draw", "step"])
def test_a_failing_computation_takes_neither_the_session_nor_the_log(
    paced: Paced, paced_frames: Frames, act: str
) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        session.draw()
        frame = await settled(session)
        paced.fails = lambda _: True
        session.dials.weight = 0.25
        await settled(session)
        assert session.failure
        getattr(session, act)()
        await settled(session)
        assert session.frame is frame or act in ("back", "first", "reset")
        events = session.timeline.events
        paced.fails = lambda _: False
        session.draw()
        assert (await settled(session)).draw == session.timeline.current.moment.draw
        assert session.failure == ""
        assert session.timeline.events[: len(events)] == events
        session.close()

    run(scene())


def test_ten_thousand_resets_leave_nothing_behind(paced_frames: Frames, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.session.LIMIT", 20)
    monkeypatch.setattr("sim.timeline.LIMIT", 20)

    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        for i in range(500):
            session.reset()
            session.draw()
            session.look.selected = i
        await settled(session)
        assert len(session._presets) <= 41
        assert len(session._outcomes) <= 41
        assert len(asyncio.all_tasks()) < 5
        session.close()

    run(scene())


def test_the_rows_of_forgotten_and_of_cleared_events_are_taken_from_the_table(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sim.timeline.LIMIT", 5)

    async def scene() -> None:
        session, told = begun(paced_frames), list[Any]()
        await settled(session)
        log = EventLog(session)
        monkeypatch.setattr(log, "_send_msg", told.append)
        log._handle_msg({"ready": True})
        for _ in range(8):
            session.draw()
        await settled(session)
        shown: dict[int, str] = {}
        for message in told:
            for index in message["gone"]:
                del shown[index]
            shown |= {row["index"]: row["label"] for row in message["rows"]}
        assert shown == {event.index: event.label for event in session.timeline.events}
        assert (told[-1]["current"], told[-1]["forgotten"]) == (8, 4)
        # One more row, one row less, and what came of it: no more is sent for a batch, however long the log is.
        told.clear()
        session.draw()
        await settled(session)
        assert sum(len(message["rows"]) for message in told) <= 3
        told.clear()
        session.clear()
        assert [row["label"] for row in told[0]["rows"]] == ["from here on: A small one"]
        assert (len(told[0]["gone"]), told[0]["current"], told[0]["forgotten"]) == (4, 0, 0)
        session.close()

    run(scene())
