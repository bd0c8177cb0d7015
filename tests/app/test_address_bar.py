"""The browser is told where a session is, an entry for each act; what it says of going back is a stranger's."""

import re
from dataclasses import replace
from typing import Any

import pytest

from app.address import asked, begun, follow, mark
from app.frames import Frames
from app.session import LINKED, Session
from app.views.address import AddressBar
from sim.link import parse_link
from sim.presets import builtin
from tests.app.conftest import Paced, run, settled, until

PLAIN = "preset=rl-small-batch"


class Bar(AddressBar):
    """Notes what it sends, and keeps a tab's history as a browser does."""

    def __init__(self, session: Session) -> None:
        self.told: list[dict[str, Any]] = []
        super().__init__(session)
        self.entries: list[dict[str, Any]] = [{}]
        self.at = self.turn = 0

    def _send_msg(self, data: Any) -> None:
        self.told.append(data)
        if data["turn"] != self.turn:
            return
        if data["entry"]:
            del self.entries[self.at + 1 :]
            self.entries.append({})
            self.at += 1
        self.entries[self.at] = {key: data[key] for key in ("query", "event", "moment")}

    def hear(self, **message: Any) -> None:
        self._handle_msg(message)

    def go(self, steps: int) -> None:
        """Back or forward."""
        self.at += steps
        self.turn += 1
        self.hear(turn=self.turn, **self.entries[self.at])

    @property
    def address(self) -> str:
        return str(self.entries[self.at]["query"])


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.views.address.STILL", 0.1)
    monkeypatch.setattr("app.session.PACE", 0.01)


async def opened(frames: Frames) -> tuple[Session, Bar]:
    session = Session(frames, builtin("rl-small-batch"), "rl-small-batch")
    session.begin()
    await settled(session)
    bar = Bar(session)
    bar.hear(ready=True)
    await told(bar, 1)
    return session, bar


async def told(bar: Bar, count: int) -> None:
    """Wait until so much has been told."""
    await until(lambda: len(bar.told) >= count, within=20)


async def rested(bar: Bar) -> None:
    """Wait until nothing more is on its way."""
    await until(lambda: not bar._due and bar._task is None, within=20)


def closed(session: Session, bar: Bar) -> None:
    session.close()
    bar.close()


def test_acts_make_entries_and_batches_and_looks_change_the_one_that_is_there(paced_frames: Frames) -> None:
    async def scene() -> None:
        session, bar = await opened(paced_frames)
        session.draw()
        session.draw()
        await rested(bar)
        session.look.theme = "dark"
        await rested(bar)
        assert [entry["query"] for entry in bar.entries] == [f"{PLAIN}&view=1;draw=2;theme=dark"]
        acts = [
            session.step, lambda: session.dials.param.update(clip=True), session.first,
            lambda: session.open(builtin("sft-fan"), "sft-fan"), session.draw, session.back,
        ]  # fmt: skip
        for act in acts:
            act()
            await rested(bar)
        queries = [entry["query"].replace(";theme=dark", "") for entry in bar.entries]
        assert [re.sub(";path=[^;]*", "", query) for query in queries] == [
            f"{PLAIN}&view=1;draw=2", f"{PLAIN}&view=1;step=1", f"{PLAIN}&view=1;clip.on=true;step=1",
            f"{PLAIN}&view=1", "preset=sft-fan&view=1;draw=1", "preset=sft-fan&view=1",
        ]  # fmt: skip
        for entry in bar.entries:
            link, problems = parse_link(entry["query"])
            assert problems == []
            assert mark(link.moment.key) == entry["moment"]
            assert session.timeline.at(entry["event"]).key == link.moment.key
        closed(session, bar)

    run(scene())


def test_back_and_forward_return_to_the_events_and_make_no_entry(paced_frames: Frames) -> None:
    async def scene() -> None:
        session, bar = await opened(paced_frames)
        seen = [bar.address]
        for act in (session.step, lambda: session.dials.param.update(alpha=0.5), session.step):
            act()
            await rested(bar)
            seen.append(bar.address)
        assert len(bar.entries) == len(set(seen)) == 4
        session.look.theme = "projector"
        for steps in (-1, -1, 1, -2, 3):
            bar.go(steps)
            await rested(bar)
            assert len(bar.entries) == 4
            link, _ = parse_link(seen[bar.at])
            assert session.timeline.current.moment.key == link.moment.key
            # How it is looked at stays.
            assert bar.address == replace(link, look={"theme": "projector"}).query()
        labels = [event.label for event in session.timeline.events]
        assert labels[4:] == ["back to #2", "back to #1", "back to #2", "back to #0", "back to #3"]
        # Acting from there begins a branch, and forgets what was forward of it.
        bar.go(-2)
        session.draw()
        session.step()
        await rested(bar)
        assert (len(bar.entries), bar.at) == (3, 2)
        closed(session, bar)

    run(scene())


def test_going_back_twice_at_once_ends_at_the_second_and_mixes_no_entries_up(paced_frames: Frames) -> None:
    async def scene() -> None:
        session, bar = await opened(paced_frames)
        for _ in range(3):
            session.step()
            await rested(bar)
        before = [dict(entry) for entry in bar.entries]
        bar.go(-1)
        bar.go(-1)
        bar.go(-1)
        await rested(bar)
        assert (bar.at, bar.entries) == (0, before)
        assert session.timeline.current.moment.step == 0
        # What was told of the entry before is about another one.
        session.step()
        bar.at, bar.turn = 1, bar.turn + 1
        await rested(bar)
        assert bar.entries == before
        closed(session, bar)

    run(scene())


def test_an_entry_that_the_log_has_forgotten_opens_as_a_link_and_the_log_stays(paced_frames: Frames) -> None:
    async def scene() -> None:
        session, bar = await opened(paced_frames)
        session.step()
        await rested(bar)
        session.draw()
        await rested(bar)
        session.clear()
        await rested(bar)
        assert len(bar.entries) == 2
        bar.go(-1)
        await rested(bar)
        assert [event.label for event in session.timeline.events][1:] == [builtin("rl-small-batch").title]
        bar.go(1)
        await rested(bar)
        # The event that this entry had before the log was emptied is another one now, and its moment is there.
        assert session.timeline.current.moment.draw == 1
        assert len(bar.entries) == 2
        closed(session, bar)

    run(scene())


def test_a_token_of_an_entry_is_picked_out_again(paced_frames: Frames) -> None:
    async def scene() -> None:
        session, bar = await opened(paced_frames)
        session.look.selected = 4
        await rested(bar)
        session.step()
        await settled(session)
        session.look.selected = None
        await rested(bar)
        bar.go(-1)
        await settled(session)
        assert session.look.selected == 4
        await rested(bar)
        assert bar.address == f"{PLAIN}&view=1;token=4"
        closed(session, bar)

    run(scene())


def test_a_token_that_is_not_there_leaves_the_address_once_that_is_known(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        paced.open.clear()
        session = begun(paced_frames, asked({"preset": [b"rl-small-batch"], "view": [b"1;draw=7;token=99999"]}))
        bar = Bar(session)
        bar.hear(ready=True)
        await rested(bar)
        assert bar.address == f"{PLAIN}&view=1;draw=7;token=99999"
        paced.open.set()
        await settled(session)
        assert any("token: got 99999" in problem for problem in session.problems)
        await rested(bar)
        assert bar.address == f"{PLAIN}&view=1;draw=7"
        closed(session, bar)

    run(scene())


def test_what_is_done_in_one_go_is_one_entry(paced_frames: Frames) -> None:
    async def scene() -> None:
        session, bar = await opened(paced_frames)
        session.open(builtin("sft-fan"), "sft-fan")
        session.dials.param.update(alpha=0.5)
        session.step()
        await rested(bar)
        assert [entry["event"] for entry in bar.entries] == [0, 3]
        follow(session, parse_link(f"{PLAIN}&view=1;draw=9")[0], [])
        await rested(bar)
        assert [entry["query"] for entry in bar.entries][2:] == [f"{PLAIN}&view=1;draw=9"]
        assert session.timeline.current.label == LINKED
        closed(session, bar)

    run(scene())


def test_what_changes_nothing_makes_no_entry(paced_frames: Frames) -> None:
    async def scene() -> None:
        session, bar = await opened(paced_frames)
        for act in (session.first, session.reset, session.newest, session.clear):
            act()
            await rested(bar)
        assert len(bar.entries) == 1
        assert bar.entries[0]["event"] == 0
        closed(session, bar)

    run(scene())
