import asyncio
from functools import partial

import pytest

from app.frames import FIXED, NEAR, Frames
from sim.errors import NonFinite
from sim.timeline import Moment
from tests.app import conftest
from tests.app.conftest import SMALL, Paced, run, sample

MOMENT = Moment(SMALL)
until = partial(conftest.until, within=20)


def test_however_many_ask_a_frame_is_computed_once(paced: Paced, paced_frames: Frames) -> None:
    async def many() -> list[object]:
        return await asyncio.gather(*(paced_frames.get(MOMENT, True) for _ in range(8)))

    first, *others = run(many())
    assert all(other is first for other in others)
    assert paced.asked == [(0, True)]


def test_a_complete_frame_serves_who_asks_for_a_fast_one(paced: Paced, paced_frames: Frames) -> None:
    async def both() -> None:
        assert await paced_frames.get(MOMENT, True) is await paced_frames.get(MOMENT, False)

    run(both())
    assert paced.asked == [(0, True)]


def test_a_computation_stops_when_nobody_waits_for_it(paced: Paced, paced_frames: Frames) -> None:
    async def leave() -> None:
        paced.open.clear()
        waiting = [asyncio.ensure_future(paced_frames.get(MOMENT, False)) for _ in range(2)]
        await until(lambda: paced.asked)
        waiting[0].cancel()
        await asyncio.sleep(0.05)
        assert paced.cancelled == []
        waiting[1].cancel()
        await until(lambda: paced.cancelled)

    run(leave())


def test_who_asks_again_after_everybody_left_gets_the_frame(paced: Paced, paced_frames: Frames) -> None:
    async def again() -> None:
        paced.open.clear()
        left = asyncio.ensure_future(paced_frames.get(MOMENT, False))
        await until(lambda: paced.asked)
        left.cancel()
        wanted = asyncio.ensure_future(paced_frames.get(MOMENT, False))
        await until(lambda: paced.cancelled)
        paced.open.set()
        assert (await wanted).draw == 0

    run(again())


def test_a_failure_reaches_all_who_wait_and_is_not_remembered(paced: Paced, paced_frames: Frames) -> None:
    async def fail() -> None:
        paced.fails = lambda moment: moment.draw == 0
        outcomes = await asyncio.gather(*(paced_frames.get(MOMENT, False) for _ in range(3)), return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {NonFinite}
        paced.fails = lambda _: False
        assert (await paced_frames.get(MOMENT, False)).draw == 0

    run(fail())


def test_the_cache_forgets_the_least_recently_used(paced: Paced) -> None:
    frames = Frames(lambda: paced, capacity=2 * (FIXED + len(sample().sites.text)))
    first, second, third = (Moment(SMALL, draw=draw) for draw in range(3))

    async def use() -> None:
        for moment in (first, second, first, third):
            await frames.get(moment, True)

    run(use())
    assert frames.known(first, True) is not None
    assert frames.known(third, True) is not None
    assert frames.known(second, True) is None
    frames.close()


@pytest.mark.parametrize("complete", [True, False])
def test_what_was_warmed_is_there(paced: Paced, paced_frames: Frames, complete: bool) -> None:
    paced_frames.warm(MOMENT)
    run(until(lambda: paced_frames.known(MOMENT, complete)))
    assert paced.asked == [(0, True)]


def test_closing_gives_up_what_is_being_computed_though_somebody_waits_for_it(
    paced: Paced, paced_frames: Frames
) -> None:
    async def scene() -> None:
        paced.open.clear()
        for draw in range(3):
            asyncio.get_running_loop().create_task(paced_frames.get(Moment(SMALL, draw=draw), complete=True))
        while not paced.asked:
            await asyncio.sleep(0.002)
        await asyncio.wait_for(asyncio.to_thread(paced_frames.close), 30)
        assert paced.cancelled == [paced.asked[0][0]]
        assert len(paced.asked) == 1

    run(scene())


def test_who_comes_from_far_away_keeps_nobody_waiting(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        await paced_frames.get(Moment(SMALL), complete=False)
        far = Moment(SMALL)
        for _ in range(NEAR + 1):
            far = far.next_step()
        paced.open.clear()
        slow = asyncio.ensure_future(paced_frames.get(far, complete=False))
        while len(paced.asked) < 2:
            await asyncio.sleep(0.002)
        assert not paced_frames.awaited
        quick = asyncio.ensure_future(paced_frames.get(Moment(SMALL).next_draw(), complete=False))
        while len(paced.asked) < 3:
            await asyncio.sleep(0.002)
        assert paced_frames.awaited
        paced.open.set()
        assert (await quick).draw == 1
        assert (await slow).step == NEAR + 1

    run(scene())
