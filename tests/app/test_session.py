import asyncio

import pytest

from app.fields import BY_NAME
from app.frames import Frames
from app.session import Session
from app.views.controls import Controls
from app.views.log import EventLog, row
from app.views.menu import Menu
from app.views.player import Player
from app.views.status import Status
from sim.config import Clip, Teacher
from sim.presets import builtin
from tests.app.conftest import PRESET, SMALL, Paced, begun, run, settled


def said(session: Session) -> list[tuple[str, str]]:
    return [(event.kind, event.label) for event in session.timeline.events]


def test_rewinding_and_replaying_gives_the_frame_that_was_there(forgetful_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(forgetful_frames)
        seen = [(await settled(session)).dumps()]
        for act in (session.draw, session.step, session.draw):
            act()
            seen.append((await settled(session)).dumps())
        for index in (0, 2, 3, 1):
            session.rewind(index)
            assert (await settled(session)).dumps() == seen[index]
        session.rewind(0)
        for index, act in enumerate((session.draw, session.step, session.draw)):
            act()
            assert (await settled(session)).dumps() == seen[index + 1]
        session.close()

    run(scene())


def test_a_complete_frame_replaces_the_fast_one(forgetful_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(forgetful_frames)
        shown: list[bool] = []
        session.param.watch(lambda change: shown.append(change.new.complete), "frame")
        await settled(session)
        assert shown == [False, True]
        session.close()

    run(scene())


def test_a_frame_that_is_known_is_there_before_the_page_is(paced_frames: Frames) -> None:
    async def scene() -> None:
        first = begun(paced_frames)
        frame = await settled(first)
        second = begun(paced_frames)
        assert second.frame is frame
        first.close()
        second.close()

    run(scene())


def test_a_turned_dial_is_one_event_with_its_frame(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        session.dials.clip = True
        frame = await settled(session)
        assert frame.config == SMALL.model_copy(update={"clip": Clip(on=True)})
        assert said(session) == [("preset", "A small one"), ("control", "clip on")]
        session.close()

    run(scene())


def test_what_a_label_forces_is_told_logged_and_undone(paced_frames: Frames) -> None:
    async def scene() -> None:
        hinted = SMALL.model_copy(update={"teacher": Teacher(policy="self", context="hint")})
        session = begun(paced_frames, PRESET.model_copy(update={"config": hinted}))
        session.dials.policy = "label"
        await settled(session)
        assert "forward KL" in session.dials.note
        assert session.timeline.current.moment.config.teacher == Teacher(policy="label", divergence="forward")
        session.dials.policy = "self"
        await settled(session)
        assert session.timeline.current.moment.config == hinted
        assert len(session.timeline.events) == 3
        session.close()

    run(scene())


def test_a_drag_shows_its_way_and_is_one_event(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        controls = Controls(session.dials, session.look)
        for value in (0.9, 0.7, 0.5):
            controls._handle_msg({"name": "weight", "value": value, "done": False})
            frame = await settled(session)
            assert frame.config.teacher.weight == value
        assert len(session.timeline.events) == 1
        controls._handle_msg({"name": "weight", "value": 0.5, "done": True})
        await settled(session)
        assert said(session)[1:] == [("control", "λ 0.5")]
        session.close()

    run(scene())


def drag(session: Session, value: float, done: bool = False) -> None:
    Controls(session.dials, session.look)._handle_msg({"name": "weight", "value": value, "done": done})


def test_a_drag_goes_on_after_a_failure_that_is_charged_to_no_event(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        paced.fails = lambda moment: moment.config.teacher.weight == 0.9
        drag(session, 0.9)
        await settled(session)
        assert "logits are not finite" in session.failure
        assert "event" not in session.failure.lower()
        assert session.outcome(session.timeline.current).verdict is not None
        drag(session, 0.7)
        assert (await settled(session)).config.teacher.weight == 0.7
        assert session.failure == ""
        session.close()

    run(scene())


def test_a_failure_on_the_way_of_a_drag_does_not_lose_where_it_is_by_now(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        paced.fails = lambda moment: moment.config.teacher.weight == 0.9
        paced.open.clear()
        drag(session, 0.9)
        await asyncio.sleep(0.02)
        drag(session, 0.7)
        paced.open.set()
        assert (await settled(session)).config.teacher.weight == 0.7
        session.close()

    run(scene())


def test_a_failure_where_a_drag_ends_is_that_events(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        paced.fails = lambda moment: moment.config.teacher.weight == 0.9
        drag(session, 0.9)
        drag(session, 0.9, done=True)
        await settled(session)
        assert "Event #1 (λ 0.9)" in session.failure
        assert [row(event, session.outcome(event))["verdict"] == "failed" for event in session.timeline.events] == [
            False,
            True,
        ]
        session.close()

    run(scene())


@pytest.mark.parametrize("weight", [0.7, 0.9])
def test_a_drag_that_ends_where_it_began_shows_what_was_there(
    paced: Paced, paced_frames: Frames, weight: float
) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        frame = await settled(session)
        paced.fails = lambda moment: moment.config.teacher.weight == 0.9
        drag(session, weight)
        await settled(session)
        drag(session, frame.config.teacher.weight, done=True)
        assert await settled(session) is frame
        assert (len(session.timeline.events), session.failure) == (1, "")
        session.close()

    run(scene())


def test_the_latest_request_wins(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        paced.open.clear()
        for _ in range(5):
            session.draw()
            await asyncio.sleep(0.01)
        paced.open.set()
        assert (await settled(session)).draw == 5
        assert session.timeline.current.moment.draw == 5
        shown = [event.index for event in session.timeline.events if session.outcome(event).verdict]
        assert shown == [0, 5]
        session.close()

    run(scene())


def test_what_takes_longer_than_a_blink_is_named_until_it_is_there(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        words: list[str] = []
        session.param.watch(lambda change: words.append(change.new), "busy")
        paced.open.clear()
        session.draw()
        await asyncio.sleep(0.3)
        paced.open.set()
        await settled(session)
        assert words == ["Sampling other answers", ""]
        session.close()

    run(scene())


def test_play_draws_until_paused_and_never_ahead_of_what_was_seen(
    paced: Paced, paced_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.session.PACE", 0.03)

    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        seen: list[int] = []
        session.param.watch(lambda change: seen.append(change.new.draw), "frame")
        session.play()
        assert session.playing
        while len(seen) < 4:
            await asyncio.sleep(0.002)
        paced.open.clear()
        await asyncio.sleep(0.2)
        # One batch is being drawn, and it is the last of the log: none is waiting behind it.
        assert session.timeline.current.moment.draw <= seen[-1] + 1
        paced.open.set()
        session.pause()
        await settled(session)
        assert not session.playing
        assert seen == sorted(set(seen))
        assert [event.moment.draw for event in session.timeline.events] == list(range(len(session.timeline.events)))
        session.close()

    run(scene())


@pytest.mark.parametrize(
    ("playing", "said", "then"),
    [
        (True, True, False),
        (True, False, True),
        (False, True, False),
        (False, False, True),
        (True, None, False),
        (False, None, True),
    ],
)
def test_a_press_of_play_or_pause_asks_for_what_its_button_said(
    paced_frames: Frames, playing: bool, said: bool | None, then: bool
) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        player = Player(session)
        if playing:
            session.play()
        player._handle_msg({"act": "play"} | ({} if said is None else {"playing": said}))
        assert (session.playing, player.playing) == (then, then)
        session.close()

    run(scene())


def test_a_failing_computation_keeps_the_frame_stops_play_and_leaves_the_log(
    paced: Paced, paced_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.session.PACE", 0.01)

    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        paced.fails = lambda moment: moment.draw == 3
        session.play()
        while session.playing:
            await asyncio.sleep(0.002)
        assert session.frame is not None
        assert session.frame.draw == 2
        assert "event #3" in session.failure.lower()
        assert "logits are not finite" in session.failure
        assert [row(event, session.outcome(event))["verdict"] for event in session.timeline.events][-1] == "failed"
        assert [event.moment.draw for event in session.timeline.events] == [0, 1, 2, 3]
        session.back()
        await settled(session)
        assert session.failure == ""
        session.close()

    run(scene())


def test_a_session_that_is_closed_computes_nothing_more(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        await settled(session)
        session.play()
        session.close()
        await asyncio.sleep(0.05)
        asked = len(paced.asked)
        await asyncio.sleep(0.1)
        assert len(paced.asked) == asked

    run(scene())


def test_back_and_first_follow_the_branch_that_one_is_on(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        session.draw()
        session.draw()
        session.rewind(1)
        session.step()
        session.back()
        assert session.timeline.current.moment == session.timeline.at(1)
        session.first()
        assert session.timeline.current.moment == session.timeline.at(0)
        branches = [event.branch for event in session.timeline.events]
        assert branches == [0, 0, 0, 0, 1, 0, 0]
        session.close()

    run(scene())


def test_an_event_of_another_preset_brings_its_lesson_and_its_dials_back(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        other = builtin("rl-small-batch")
        session.open(other, "rl-small-batch")
        session.draw()
        assert (session.preset, session.preset_name) == (other, "rl-small-batch")
        session.rewind(0)
        assert (session.preset, session.preset_name) == (PRESET, None)
        assert session.dials.config == SMALL
        session.rewind(2)
        assert session.preset == other
        assert session.dials.config == other.config
        session.close()

    run(scene())


def test_a_name_that_is_no_preset_is_refused_and_changes_nothing(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        frame = await settled(session)
        Menu(session)._handle_msg({"open": "../../etc/passwd"})
        assert any("no preset" in problem for problem in session.problems)
        assert len(session.timeline.events) == 1
        assert session.frame is frame
        assert session.dials.config == SMALL
        session.close()

    run(scene())


@pytest.mark.parametrize(
    ("name", "value"),
    [("seed", -1), ("weight", 7), ("decay", "x"), ("policy", "nobody"), ("clip", 3), ("basis", []), ("alpha", {})],
)
def test_a_bad_value_from_the_browser_is_answered_in_words_and_changes_nothing(
    paced_frames: Frames, name: str, value: object
) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        Controls(session.dials, session.look)._handle_msg({"name": name, "value": value, "done": True})
        assert BY_NAME[name].label in session.dials.note
        assert "Dials" not in session.dials.note
        assert session.dials.config == SMALL
        assert len(session.timeline.events) == 1
        session.close()

    run(scene())


def test_a_long_value_from_the_browser_is_quoted_in_short(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        for name in ("decay", "policy", "radius", "clip"):
            Controls(session.dials, session.look)._handle_msg({"name": name, "value": "x" * 100_000, "done": True})
            assert '"xxx' in session.dials.note
            assert len(session.dials.note) < 400
        session.close()

    run(scene())


@pytest.mark.parametrize(
    "message",
    [
        7, None, "draw", True, [], ["act"], {}, {"act": []}, {"act": "fly"}, {"act": None}, {"index": {}},
        {"index": True}, {"index": 0.0}, {"index": -1}, {"index": 99}, {"open": ["sft-fan"]}, {"open": None},
        {"save": 0}, {"dismiss": 0}, {"ready": []}, {"name": [], "value": 1, "done": True}, {"name": "weight"},
        {"name": "weight", "value": 0.5}, {"name": "weight", "value": 0.5, "done": "no"},
        {"name": "weight", "done": True}, {"name": "config", "value": {}, "done": True},
    ],
)  # fmt: skip
def test_a_message_of_no_known_shape_is_ignored(paced_frames: Frames, message: object) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        frame = await settled(session)
        controls = Controls(session.dials, session.look)
        for view in (EventLog(session), Menu(session), Player(session), Status(session), controls):
            view._handle_msg(message)
        assert (session.frame, session.settled, session.problems, session.dials.note) == (frame, True, [], "")
        assert session.dials.config == SMALL
        assert len(session.timeline.events) == 1
        session.close()

    run(scene())
