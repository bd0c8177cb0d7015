"""Who plays never gets ahead of the browser, however long that takes to draw."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from app.frames import Frames
from app.seen import Seen
from app.views.witness import Witness
from tests.app.conftest import begun, run, settled, until
from tests.app.test_linked import PAIR
from tests.app.test_linked import begun as compared

Made = Callable[[], Any]


@pytest.fixture(params=[begun, partial(compared, chosen=PAIR)], ids=["session", "comparison"])
def made(request: pytest.FixtureRequest, paced_frames: Frames, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Makes what plays, which stays next to no time at a batch."""
    for module in ("session", "abreast"):
        monkeypatch.setattr(f"app.{module}.PACE", 0.01)
    return partial(request.param, paced_frames)


def test_no_batch_is_drawn_before_the_last_one_was_seen_and_pause_waits_for_nothing(made: Made) -> None:
    async def scene() -> None:
        target = made()
        witness = Witness(target.seen)
        await settled(target)
        assert witness.asked == 0
        target.play()
        for batch in (1, 2, 3):
            await until(lambda batch=batch: witness.asked == batch)  # type: ignore[misc]
            await asyncio.sleep(0.1)
            assert (target.frame.draw, witness.asked, target.playing) == (batch, batch, True)
            # Nothing of this is the answer.
            for said in (batch - 1, batch + 1, str(batch), True, None, float(batch), [batch]):
                witness._handle_msg({"drawn": said})
            witness._handle_msg(batch)
            await asyncio.sleep(0.05)
            assert target.frame.draw == batch
            if batch < 3:
                witness._handle_msg({"drawn": batch})
        target.pause()
        assert not target.playing
        await settled(target)
        # An answer that comes late starts nothing, and the next play asks for one of its own.
        witness._handle_msg({"drawn": 3})
        await asyncio.sleep(0.05)
        assert target.frame.draw == 3
        target.play()
        await until(lambda: witness.asked == 4)
        await asyncio.sleep(0.1)
        assert target.frame.draw == 4
        target.close()

    run(scene())


def test_where_nobody_could_answer_nobody_is_waited_for(made: Made) -> None:
    async def scene() -> None:
        target = made()
        target.play()
        await until(lambda: target.frame is not None and target.frame.draw >= 4)
        target.close()

    run(scene())


def test_a_witness_that_comes_later_is_told_what_was_asked_last() -> None:
    seen = Seen()
    seen.ask()
    seen.ask()
    assert Witness(seen).asked == 2
