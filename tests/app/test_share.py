"""A visitor's files to take away: one at a time, cancelled, failing, and left behind."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app import making as makings
from app.frames import Frames
from app.making import Making, duration
from app.runners import Runners
from app.share import Share, size
from app.takeaway import Order, Shown
from app.views.share import ShareDialog
from sim.errors import Cancelled, InvalidInput, NonFinite
from sim.link import LOOKS, parse_link
from sim.presets import builtin
from tests.app.conftest import SMALL, begun, run, settled, simulator, until

PAGE = "http://localhost:5006/app"


@pytest.fixture
def runners(real_frames: Frames) -> Iterator[Runners]:
    threads = Runners(real_frames, threads=1)
    yield threads
    threads.close()


@pytest.fixture
def quick(real_frames: Frames) -> Iterator[Runners]:
    threads = Runners(real_frames, threads=1)
    yield threads
    threads.close()


@pytest.fixture
def sharing_of(real_frames: Frames, runners: Runners, quick: Runners) -> Callable[..., Share]:
    return lambda session: Share(session, runners, quick, real_frames)


class Maker:
    """Stands for what makes files: notes the orders, and is done when the test lets it."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.orders: list[Order] = []
        self.fails: Exception | None = None

    def __call__(self, order: Order, _what: Any, _measure: Any, progress: Any, cancelled: Callable[[], bool]) -> bytes:
        self.orders.append(order)
        progress(3, 8)
        while not self.open.wait(0.002):
            if cancelled():
                raise Cancelled("stopped")
        if self.fails is not None:
            raise self.fails
        return b"made"


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Maker]:
    stand_in = Maker()
    monkeypatch.setattr(makings, "made", stand_in)
    yield stand_in
    stand_in.open.set()


def test_a_link_says_what_is_on_show_and_how_it_is_looked_at(real_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(real_frames, builtin("rl-small-batch"))
        await settled(session)
        plain = Shown.of(session)
        assert plain.link.look == {}
        session.look.param.update(theme="dark", radius="linear", side="tokens", selected=7)
        session.draw()
        await settled(session)
        session.look.selected = 7
        what = Shown.of(session)
        assert set(what.link.look) == {*LOOKS, "token"}
        for log in (False, True):
            link, problems = parse_link(f"{PAGE}?{what.query(log)}")
            assert problems == []
            assert (link.moment, dict(link.look)) == (session.timeline.current.moment, what.link.look)
            assert (link.kept is not None) == log
        # What was shared stays what it was.
        assert plain.link.moment.draw == 0
        assert len(plain.kept.timeline.events) == 1
        session.close()

    run(scene())


def test_where_the_log_does_not_fit_into_a_link_that_is_said(
    sharing_of: Callable[..., Share], real_frames: Frames
) -> None:
    async def scene() -> None:
        session = begun(real_frames)
        for seed in range(1, 120):
            config = SMALL.model_copy(update={"seed": seed * 7919})
            session.timeline.act("control", f"seed {seed}", session.timeline.current.moment.with_config(config))
        share = sharing_of(session)
        share.pin()
        await until(lambda: share.links)
        plain, logged = share.links or ()
        assert plain.query
        assert not plain.problem
        assert logged.query == ""
        assert re.fullmatch(
            r"the log does not fit into a link \([0-9,]+ characters, at most 1,900 are safe\)", logged.problem
        )
        assert share.html([], 960, "16:9", PAGE).startswith(f'<iframe src="{PAGE}?')
        share.close()
        session.close()

    run(scene())


def test_one_file_at_a_time_and_each_is_handed_over_once(
    sharing_of: Callable[..., Share], real_frames: Frames, maker: Maker
) -> None:
    async def scene() -> None:
        session = begun(real_frames)
        share = sharing_of(session)
        view, sent = ShareDialog(share), list[Any]()
        view._send_msg = sent.append  # type: ignore[method-assign]
        view._handle_msg({"make": "gif", "frames": 4, "along": "draws"})
        assert maker.orders == []
        assert view.told == "nothing is shared yet; open the dialog first."
        view._handle_msg({"opened": "1"})
        view._handle_msg({"make": "gif", "frames": 4, "along": "draws"})
        await until(lambda: view.total)
        assert (view.busy, view.done, view.total) == (True, 3, 8)
        assert view.told == "GIF: 3 of 4 frames measured, 0 drawn."
        view._handle_msg({"make": "csv"})
        assert maker.orders == [Order("gif", frames=4)]
        assert view.told.startswith("another file is being made")
        # A dialog that is opened anew meanwhile still shows how far the file is.
        view._handle_msg({"opened": "1"})
        assert view.told.startswith("GIF: 3 of 4")
        maker.open.set()
        await until(lambda: sent)
        name = "a-small-one-seed0-step0-draw0-4-draws.gif"
        assert sent == [{"name": name, "mime": "image/gif", "data": b"made"}]
        assert share.take() is None
        assert not view.busy
        assert view.told == f"{name} is made, 1 kB."
        share.close()
        session.close()

    run(scene())


def test_a_file_is_cancelled_and_the_next_one_is_made(
    sharing_of: Callable[..., Share], real_frames: Frames, maker: Maker
) -> None:
    async def scene() -> None:
        session = begun(real_frames)
        share = sharing_of(session)
        share.pin()
        share.start("lesson", frames=5, along="steps")
        await until(lambda: share.progress[0])
        assert share.told() == "Lesson: 3 of 8 frames measured, 5 with the clip off and 5 with it on."
        share.stop()
        await until(lambda: not share.busy)
        assert share.told() == "Lesson cancelled; nothing was made."
        assert share.take() is None
        maker.open.set()
        share.start("png", scale=1)
        await until(lambda: not share.busy)
        assert (share.take() or ())[2:] == (b"made",)
        share.close()
        session.close()

    run(scene())


@pytest.mark.parametrize("error", [NonFinite("rollout: the policy's logits are not finite"), OSError("no space left")])
def test_a_file_that_fails_is_told_and_takes_nothing_along(
    sharing_of: Callable[..., Share], real_frames: Frames, maker: Maker, error: Exception
) -> None:
    async def scene() -> None:
        session = begun(real_frames)
        frame = await settled(session)
        share = sharing_of(session)
        share.pin()
        maker.fails = error
        maker.open.set()
        share.start("mp4", frames=3, along="draws")
        await until(lambda: not share.busy)
        assert share.told().startswith("The MP4 file could not be made: ")
        assert str(error) in share.told()
        assert share.take() is None
        assert session.frame is frame
        assert (session.failure, session.problems) == ("", [])
        assert len(session.timeline.events) == 1
        session.draw()
        assert (await settled(session)).draw == 1
        share.close()
        session.close()

    run(scene())


def test_who_leaves_ends_the_work(sharing_of: Callable[..., Share], real_frames: Frames, maker: Maker) -> None:
    async def scene() -> None:
        session = begun(real_frames)
        share = sharing_of(session)
        share.pin()
        share.start("gif", frames=2, along="draws")
        await until(lambda: maker.orders)
        waiting = sharing_of(session)
        waiting.pin()
        waiting.start("gif", frames=3, along="draws")
        share.close()
        waiting.close()
        await until(lambda: not share.busy and not waiting.busy)
        # Nothing of the one that waited was begun, and nobody tells a page that is gone.
        await asyncio.sleep(0.05)
        assert maker.orders == [Order("gif", frames=2)]
        assert share.take() is None
        assert asyncio.all_tasks() - {asyncio.current_task()} <= {session._task}
        session.close()

    run(scene())


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ((["dails"], 960, "16:9", PAGE), 'unknown part "dails"; did you mean "dials"?'),
        (([], 10, "16:9", PAGE), "width: got 10, allowed a whole number, 320 to 3840"),
        (([], 960, "1:1", PAGE), 'shape: got "1:1", allowed 16:9 or 4:3'),
        (([], 960, "4:3", "javascript:alert(1)"), "page: got"),
        (([], 960, "4:3", "http://" + "a" * 1000), "page: got"),
    ],
)
def test_a_frame_that_cannot_be_is_refused_by_name(
    sharing_of: Callable[..., Share], real_frames: Frames, order: Any, told: str
) -> None:
    async def scene() -> None:
        session = begun(real_frames)
        share = sharing_of(session)
        share.pin()
        await until(lambda: share.links)
        with pytest.raises(InvalidInput) as caught:
            share.html(*order)
        assert told in "\n".join(caught.value.problems)
        share.close()
        session.close()

    run(scene())


def test_links_say_of_which_opening_they_are(sharing_of: Callable[..., Share], real_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(real_frames)
        view = ShareDialog(share := sharing_of(session))
        for opening in ("1", "2", "3" * 41):
            view._handle_msg({"opened": opening})
            assert (view.linked, view.plain) == ("", "")
            await until(lambda: view.plain)
            assert view.linked == opening[:40]
        share.close()
        session.close()

    run(scene())


def test_a_frame_leaves_out_what_it_is_told_to(sharing_of: Callable[..., Share], real_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(real_frames)
        view = ShareDialog(share := sharing_of(session))
        view._handle_msg({"opened": "1"})
        view._handle_msg({"page": PAGE, "shape": "4:3", "width": 800, "hidden": ["dials", "log"]})
        assert view.html == ""
        await until(lambda: view.html)
        assert "embed=1&amp;hide=dials,log" in view.html
        assert 'width="800" height="600"' in view.html
        view._handle_msg({"page": PAGE, "shape": "4:3", "width": 1, "hidden": []})
        assert (view.html, view.html_problem[:13]) == ("", "width: got 1,")
        share.close()
        session.close()

    run(scene())


@pytest.mark.parametrize(
    "message",
    [None, [], {}, {"make": 1}, {"make": None}, {"opened": 1}, {"cancel": "yes"}, {"hidden": []}, {"width": True},
     {"page": PAGE, "shape": "16:9", "width": 960.0, "hidden": []}, {"make": ["png"]}],
)  # fmt: skip
def test_a_message_that_means_nothing_does_nothing(
    sharing_of: Callable[..., Share], real_frames: Frames, maker: Maker, message: Any
) -> None:
    async def scene() -> None:
        session = begun(real_frames)
        view = ShareDialog(share := sharing_of(session))
        before = view.param.values()
        view._handle_msg(message)
        assert view.param.values() == before
        assert maker.orders == []
        share.close()
        session.close()

    run(scene())


def test_a_size_is_written_as_people_read_it() -> None:
    assert [size(count) for count in (1, 999, 54_646, 999_499, 1_390_014)] == [
        "1 kB",
        "1 kB",
        "55 kB",
        "999 kB",
        "1.4 MB",
    ]


def test_the_time_that_is_left_is_of_what_is_under_way(real_frames: Frames, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(makings.time, "monotonic", lambda: now[0])
    what: Any = None
    making = Making(Order("gif", frames=5), what, real_frames)
    told = list[str]()

    def frames(_order: Any, _what: Any, _measure: Any, progress: Any, _cancelled: Any) -> bytes:
        told.append(making.far())
        for done, seconds in enumerate((0.1, *[60.0] * 4, *[2.0] * 5), 1):
            now[0] += seconds
            progress(done, 10)
            told.append(making.far())
        return b""

    monkeypatch.setattr(makings, "made", frames)
    making.work(simulator(), lambda: None)
    assert [each.partition("; ")[2] for each in told] == [
        "", "", "", "about 2 min left to measure", "about 60 s left to measure", "",
        "", "about 6 s left to draw", "about 4 s left to draw", "about 2 s left to draw", "",
    ]  # fmt: skip
    assert [duration(seconds) for seconds in (0.2, 89, 91, 600)] == ["1 s", "89 s", "2 min", "10 min"]
