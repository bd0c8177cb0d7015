"""What fails while a session is kept or taken up is told, and the next thing that is done is kept all the same."""

import asyncio
import json
from typing import Any

import pytest

from app.frames import Frames
from tests.app.conftest import run
from tests.app.test_keeper import ready, text_of, until


@pytest.mark.parametrize("broken", ["app.views.keeper.parse_session", "app.session.Session.restore"])
def test_whatever_goes_wrong_with_a_text_is_told_and_what_is_done_next_is_kept(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("out of room")

    async def scene() -> None:
        text = await text_of(paced_frames)
        monkeypatch.setattr(broken, fails)
        session, keeper = await ready(paced_frames, kept=text)
        await until(lambda: keeper.back)
        assert "RuntimeError: out of room" in session.problems[0]
        session.draw()
        await until(lambda: keeper.told)
        assert json.loads(keeper.told[-1])["events"][-1]["label"] == "batch 1 drawn"
        session.close()
        keeper.close()

    run(scene())


def test_a_text_that_could_not_be_made_once_is_made_the_next_time(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        session, keeper = await ready(paced_frames)
        await until(lambda: keeper.told)
        with monkeypatch.context() as broken:
            tries: list[Any] = []
            broken.setattr(session, "kept", lambda: tries.append(1) or 1 / 0)
            session.draw()
            await until(lambda: tries)
            await asyncio.sleep(0.05)
        session.draw()
        await until(lambda: "batch 2 drawn" in keeper.told[-1])
        session.close()
        keeper.close()

    run(scene())
