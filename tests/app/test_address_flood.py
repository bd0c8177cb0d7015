"""However much is done at once, and whatever comes from the browser, its history is neither flooded nor believed."""

import asyncio
from typing import Any

import pytest

from app.address import Place
from app.frames import Frames
from app.session import Session
from app.views.address import BURST
from sim.presets import builtin
from sim.timeline import Moment
from tests.app.conftest import run, settled
from tests.app.test_address_bar import PLAIN, Bar, closed, opened, quick, rested

__all__ = ["quick"]


def test_a_flood_of_acts_and_batches_stays_below_what_browsers_take(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.views.address.SOON", 0.0)

    async def scene() -> None:
        session, bar = await opened(paced_frames)
        loop = asyncio.get_running_loop()
        began = loop.time()
        for _ in range(300):
            session.step()
            await asyncio.sleep(0.002)
        took = loop.time() - began
        assert len(bar.told) <= BURST + 2 * took + 2
        await rested(bar)
        assert bar.address == Place.of(session).said()["query"] == f"{PLAIN}&view=1;step=300"
        count, began = len(bar.told), loop.time()
        session.play()
        while len(session.timeline.events) < 340:
            await asyncio.sleep(0.002)
        session.pause()
        await rested(bar)
        assert len(bar.told) - count <= 2 * (loop.time() - began) + 2
        assert not any(message["entry"] for message in bar.told[count:])
        assert bar.address == Place.of(session).said()["query"]
        closed(session, bar)

    run(scene())


def test_a_slider_that_is_held_tells_nothing_until_it_is_let_go(paced_frames: Frames) -> None:
    async def scene() -> None:
        session, bar = await opened(paced_frames)
        for place in range(20):
            session.dials.param.update(alpha=1 - place / 40, dragging=True)
            await asyncio.sleep(0.005)
        await rested(bar)
        assert len(bar.told) == 1
        session.dials.dragging = False
        await rested(bar)
        assert [entry["query"] for entry in bar.entries] == [PLAIN, f"{PLAIN}&view=1;source.alpha=0.525"]
        closed(session, bar)

    run(scene())


@pytest.mark.parametrize(
    "message",
    [
        None, 7, [], {}, {"turn": "1"}, {"turn": True}, {"turn": 1.0}, {"ready": 1}, {"query": "x"},
    ],
)  # fmt: skip
def test_a_message_of_no_known_shape_is_ignored(paced_frames: Frames, message: object) -> None:
    async def scene() -> None:
        session, bar = await opened(paced_frames)
        bar._handle_msg(message)
        await rested(bar)
        assert (len(bar.told), len(session.timeline.events)) == (1, 1)
        closed(session, bar)

    run(scene())


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("\x00" * 90, "the address: the link: got "),
        ("x" * 200_000, "the address: got 200000 characters, allowed at most 4000"),
        ("preset=none&view=1;draw=3", 'the address: no preset is called "none"'), (7, ""),
        ("preset=\ud800", "the address: "),
    ],
)  # fmt: skip
def test_a_strangers_way_back_is_told_and_opens_what_is_right_in_it(
    paced_frames: Frames, query: Any, told: str
) -> None:
    async def scene() -> None:
        session, bar = await opened(paced_frames)
        bar.hear(turn=1, query=query, event=10**30, moment="\ud800")
        assert len(session.timeline.events) in (2, 3)
        assert session.timeline.root(session.timeline.current).moment == Moment(builtin("opsd-collapse").config)
        assert "".join(session.problems).startswith(told)
        closed(session, bar)

    run(scene())


def test_nothing_is_told_before_the_browser_is_there_and_nothing_after_it_has_left(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = Session(paced_frames, builtin("rl-small-batch"), "rl-small-batch")
        session.begin()
        bar = Bar(session)
        session.step()
        bar.hear(turn=1, query="preset=sft-fan", event=0, moment="")
        await settled(session)
        assert (bar.told, session.preset_name) == ([], "rl-small-batch")
        bar.hear(ready=True)
        await rested(bar)
        assert bar.address == f"{PLAIN}&view=1;step=1"
        session.step()
        bar.close()
        await asyncio.sleep(0.1)
        assert len(bar.told) == 1
        session.close()

    run(scene())
