"""Of a session that comes back, the entry of the history that was gone to is on show, not the newest event."""

from typing import Any

import pytest

from app.address import mark
from app.frames import Frames
from app.session import LINKED, Session
from sim.session_file import parse_session
from tests.app.conftest import PRESET, run, settled
from tests.app.test_keeper import Kept, quick, ready, text_of, until

__all__ = ["quick"]


def entry(text: str, index: int) -> dict[str, Any]:
    """What an entry of the browser's history says of an event of what a tab had kept."""
    return {"event": index, "moment": mark(parse_session(text).timeline.at(index).key)}


def test_an_entry_that_was_gone_back_to_is_on_show_and_not_the_newest(paced_frames: Frames) -> None:
    async def scene() -> None:
        text = await text_of(paced_frames)
        session, keeper = await ready(paced_frames, kept=text, **entry(text, 3))
        await until(lambda: keeper.back)
        assert [event.label for event in session.timeline.events][-2:] == ["back to #2", "back to #3"]
        assert session.timeline.current.moment.config.clip.on
        # That one went back there is kept as well.
        await until(lambda: keeper.told and "back to #3" in keeper.told[-1])
        session.close()
        keeper.close()

    run(scene())


@pytest.mark.parametrize("index", [2, 5])
def test_an_entry_whose_moment_is_on_show_adds_nothing(paced_frames: Frames, index: int) -> None:
    async def scene() -> None:
        text = await text_of(paced_frames)
        session, keeper = await ready(paced_frames, kept=text, **entry(text, index))
        await until(lambda: keeper.back)
        assert session.kept() == text
        session.close()
        keeper.close()

    run(scene())


@pytest.mark.parametrize(
    "wrong", [{"event": 99}, {"event": 1, "moment": "x"}, {"event": "3"}, {"event": True}, {"moment": 3}]
)
def test_an_entry_that_is_not_of_this_session_leaves_the_newest(paced_frames: Frames, wrong: dict[str, Any]) -> None:
    async def scene() -> None:
        text = await text_of(paced_frames)
        session, keeper = await ready(paced_frames, kept=text, **wrong)
        await until(lambda: keeper.back)
        assert session.kept() == text
        session.close()
        keeper.close()

    run(scene())


def test_what_the_address_has_and_the_tab_had_not_kept_any_more_is_gone_on_to(paced_frames: Frames) -> None:
    async def scene() -> None:
        text = await text_of(paced_frames)
        moment = parse_session(text).timeline.at(2).next_draw().next_draw()
        session = Session(paced_frames, PRESET)
        session.begin(moment)
        await settled(session)
        keeper = Kept(session)
        keeper.hear(ready=True, hidden=False, kept=text, event=9, moment=mark(moment.key))
        await until(lambda: keeper.back)
        assert [event.label for event in session.timeline.events][-3:] == ["back to #2", PRESET.title, LINKED]
        assert session.timeline.current.moment == moment
        assert session.preset == PRESET
        session.close()
        keeper.close()

    run(scene())
