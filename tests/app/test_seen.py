"""Who plays never gets ahead of the browser, however long that takes to draw."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.frames import Frames
from app.linked import Comparison
from app.seen import Seen
from app.session import Session
from app.views.witness import Witness
from tests.app.conftest import begun, run, settled


def played(frames: Frames) -> Session | Comparison:
    return begun(frames)


def compared(frames: Frames) -> Session | Comparison:
    comparison = Comparison(frames, ["opsd-collapse", "opsd-clipped"])
    comparison.begin()
    return comparison


def draw(target: Any) -> int:
    return target.frame.draw if target.frame is not None else -1


async def reached(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.002)


@pytest.mark.parametrize("made", [played, compared])
def test_no_batch_is_drawn_before_the_last_one_was_seen_and_pause_waits_for_nothing(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch, made: Callable[[Frames], Any]
) -> None:
    for module in ("session", "abreast"):
        monkeypatch.setattr(f"app.{module}.PACE", 0.01)

    async def scene() -> None:
        target = made(paced_frames)
        witness = Witness(target.seen)
        await settled(target)
        assert witness.asked == 0
        target.play()
        for batch in (1, 2, 3):
            await reached(lambda batch=batch: witness.asked == batch)  # type: ignore[misc]
            await asyncio.sleep(0.1)
            assert (draw(target), witness.asked, target.playing) == (batch, batch, True)
            # Nothing of this is the answer.
            for said in (batch - 1, batch + 1, str(batch), True, None, float(batch), [batch]):
                witness._handle_msg({"drawn": said})
            witness._handle_msg(batch)
            await asyncio.sleep(0.05)
            assert draw(target) == batch
            if batch < 3:
                witness._handle_msg({"drawn": batch})
        target.pause()
        assert not target.playing
        await settled(target)
        # An answer that comes late starts nothing, and the next play asks for one of its own.
        witness._handle_msg({"drawn": 3})
        await asyncio.sleep(0.05)
        assert draw(target) == 3
        target.play()
        await reached(lambda: witness.asked == 4)
        await asyncio.sleep(0.1)
        assert draw(target) == 4
        target.close()

    run(scene())


@pytest.mark.parametrize("made", [played, compared])
def test_where_nobody_could_answer_nobody_is_waited_for(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch, made: Callable[[Frames], Any]
) -> None:
    for module in ("session", "abreast"):
        monkeypatch.setattr(f"app.{module}.PACE", 0.01)

    async def scene() -> None:
        target = made(paced_frames)
        target.play()
        await reached(lambda: draw(target) >= 4)
        target.close()

    run(scene())


def test_a_witness_that_comes_later_is_told_what_was_asked_last() -> None:
    seen = Seen()
    seen.ask()
    seen.ask()
    assert Witness(seen).asked == 2
