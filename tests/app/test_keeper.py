"""What a tab keeps is a stranger's text until it was read, and what nobody sees does not play."""

import asyncio
import json
from functools import partial
from typing import Any

import pytest

from app.frames import Frames
from app.session import Session
from app.views.keeper import Keeper
from app.views.log import row
from sim.presets import builtin
from tests.app import conftest
from tests.app.conftest import PRESET, Paced, begun, run, settled

until = partial(conftest.until, within=20)


class Kept(Keeper):
    """Notes what it sends."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, session)
        self.told: list[Any] = []

    def _send_msg(self, data: Any) -> None:
        self.told.append(data["text"])

    def hear(self, **message: Any) -> None:
        self._handle_msg(message)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.views.keeper.STILL", 0.02)
    monkeypatch.setattr("app.views.keeper.PLAYING", 0.3)
    monkeypatch.setattr("app.session.PACE", 0.01)


async def ready(frames: Frames, **message: Any) -> tuple[Session, Kept]:
    """A session with a keeper that the browser has greeted."""
    session = begun(frames)
    await settled(session)
    keeper = Kept(session)
    keeper.hear(ready=True, hidden=False, **message)
    return session, keeper


async def text_of(frames: Frames) -> str:
    """What a tab has kept after two draws, a control, another preset and a return."""
    session, keeper = await ready(frames)
    session.draw()
    session.draw()
    session.dials.clip = True
    session.open(builtin("rl-small-batch"), "rl-small-batch")
    session.rewind(2)
    await settled(session)
    await until(lambda: keeper.told and "back to #2" in keeper.told[-1])
    session.close()
    keeper.close()
    return str(keeper.told[-1])


def test_a_tab_that_was_reloaded_is_where_it_was(paced_frames: Frames) -> None:
    async def scene() -> None:
        text = await text_of(paced_frames)
        session, keeper = await ready(paced_frames, kept=text)
        await until(lambda: keeper.back)
        assert session.kept() == text
        assert [event.label for event in session.timeline.events][-2:] == [
            builtin("rl-small-batch").title,
            "back to #2",
        ]
        assert (session.preset, session.preset_name) == (PRESET, None)
        assert session.frame is not None
        assert (session.frame.draw, session.dials.clip) == (2, False)
        # The process still has these frames.
        assert [row(event, session.outcome(event))["ratio"] != "–" for event in session.timeline.events][2]
        session.first()
        session.newest()
        assert session.preset_name == "rl-small-batch"
        await settled(session)
        session.close()
        keeper.close()

    run(scene())


def test_a_frame_that_is_not_known_any_more_is_computed(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        text = await text_of(paced_frames)
        other = Frames(lambda: paced)
        session, keeper = await ready(other, kept=text)
        await until(lambda: keeper.back)
        assert session.frame is not None
        assert session.frame.draw == 2
        unseen = session.timeline.event(1)
        assert row(unseen, session.outcome(unseen))["ratio"] == "–"
        session.close()
        keeper.close()
        other.close()

    run(scene())


def test_an_event_that_cannot_be_computed_is_come_back_to_with_its_reason(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        text = await text_of(paced_frames)
        other = Frames(lambda: paced)
        paced.fails = lambda moment: moment.draw == 2
        session, keeper = await ready(other, kept=text)
        await until(lambda: keeper.back)
        assert "logits are not finite" in session.failure
        assert session.kept() == text
        session.close()
        keeper.close()
        other.close()

    run(scene())


@pytest.mark.parametrize("leaves", [True, False])
def test_what_is_come_back_to_is_given_up_when_the_visitor_leaves_or_acts(
    paced: Paced, paced_frames: Frames, leaves: bool
) -> None:
    async def scene() -> None:
        text = await text_of(paced_frames)
        other = Frames(lambda: paced)
        session, keeper = await ready(other, kept=text)
        paced.open.clear()
        await until(lambda: paced.asked[-1] == (2, False))
        if leaves:
            session.close()
            keeper.close()
        else:
            session.first()
        await until(lambda: paced.cancelled == [2])
        paced.open.set()
        if not leaves:
            assert (await settled(session)).draw == 0
            await until(lambda: keeper.back)
        session.close()
        keeper.close()
        other.close()

    run(scene())


@pytest.mark.parametrize("text", ["", "nonsense", "[" * 100_000, '{"schema_version": 9}', "x" * 3_000_000])
def test_a_text_that_is_no_session_is_refused_in_words_and_the_session_goes_on(paced_frames: Frames, text: str) -> None:
    async def scene() -> None:
        session, keeper = await ready(paced_frames, kept=text)
        await until(lambda: keeper.back)
        assert session.problems
        assert len(session.timeline.events) == 1
        session.draw()
        await until(lambda: keeper.told)
        assert json.loads(keeper.told[-1])["events"][-1]["label"] == "batch 1 drawn"
        session.close()
        keeper.close()

    run(scene())


def test_who_has_already_done_something_does_not_lose_it(paced_frames: Frames) -> None:
    async def scene() -> None:
        text = await text_of(paced_frames)
        session, keeper = await ready(paced_frames, kept=text)
        session.draw()
        await until(lambda: keeper.back)
        assert [event.label for event in session.timeline.events] == ["A small one", "batch 1 drawn"]
        session.close()
        keeper.close()

    run(scene())


def test_a_tab_is_asked_once(paced_frames: Frames) -> None:
    async def scene() -> None:
        text = await text_of(paced_frames)
        session, keeper = await ready(paced_frames)
        keeper.hear(ready=True, kept=text)
        await asyncio.sleep(0.1)
        assert len(session.timeline.events) == 1
        session.close()
        keeper.close()

    run(scene())


def test_what_happens_while_it_plays_is_kept_now_and_then_and_at_once_when_it_pauses(paced_frames: Frames) -> None:
    async def scene() -> None:
        session, keeper = await ready(paced_frames)
        await until(lambda: keeper.told)
        session.play()
        await until(lambda: len(session.timeline.events) > 20)
        assert len(keeper.told) <= 3
        session.pause()
        last = session.timeline.current.label
        await until(lambda: last in keeper.told[-1])
        # Frames that come later change nothing of what was done.
        count = len(keeper.told)
        await settled(session)
        await asyncio.sleep(0.1)
        assert len(keeper.told) == count
        session.close()
        keeper.close()

    run(scene())


def test_what_is_too_long_for_a_file_is_not_kept(paced_frames: Frames, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.session_file.MAX_BYTES", 100)

    async def scene() -> None:
        session, keeper = await ready(paced_frames)
        await until(lambda: keeper.told)
        assert keeper.told == [""]
        session.close()
        keeper.close()

    run(scene())


def test_what_nobody_sees_does_not_play_and_what_was_paused_by_hand_stays_paused(paced_frames: Frames) -> None:
    async def scene() -> None:
        session, keeper = await ready(paced_frames)
        session.play()
        keeper.hear(hidden=True)
        assert not session.playing
        await settled(session)
        count = len(session.timeline.events)
        await asyncio.sleep(0.1)
        assert len(session.timeline.events) == count
        keeper.hear(hidden=False)
        assert session.playing
        session.pause()
        for hidden in (True, False, False):
            keeper.hear(hidden=hidden)
            assert not session.playing
        session.close()
        keeper.close()

    run(scene())


@pytest.mark.parametrize(
    "message", [None, 7, [], {}, {"ready": 1}, {"kept": "{}"}, {"hidden": "yes"}, {"hidden": None}]
)
def test_a_message_of_no_known_shape_is_ignored(paced_frames: Frames, message: object) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        keeper = Kept(session)
        keeper._handle_msg(message)
        session.draw()
        await asyncio.sleep(0.1)
        assert (keeper.told, keeper.back, session.playing) == ([], False, False)
        session.close()
        keeper.close()

    run(scene())
