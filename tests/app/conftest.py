"""Sessions without a browser or a server, and a renderer whose pace a test sets."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

import pytest
from playwright.sync_api import Browser, Page, expect

from app.frames import Frames
from app.session import Session
from sim.config import Config, Source
from sim.errors import Cancelled, NonFinite
from sim.frame import Frame
from sim.presets import Preset, builtin
from sim.session_file import dumps_session
from sim.simulator import Simulator
from sim.timeline import LIMIT, Moment, Path, Timeline
from sim.world import World
from tests.page import DRAWN, PATIENCE
from tests.server import serving

Value = TypeVar("Value")
SMALL = Config(source=Source(prompts=2, group_size=4))
PRESET = Preset(title="A small one", lesson="Two prompts.", try_=("Draw.",), config=SMALL)


@cache
def simulator() -> Simulator:
    return Simulator(World.load())


@cache
def sample() -> Frame:
    return simulator().frame(Moment(SMALL))


class Paced:
    """Stands for a simulator: notes what it is asked for, and answers when the test lets it."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, bool]] = []
        self.cancelled: list[int] = []
        self.open = threading.Event()
        self.open.set()
        self.fails: Callable[[Moment], bool] = lambda _: False

    def distance(self, path: Path) -> int:
        return path.length

    def frame(self, moment: Moment, complete: bool = True, cancel: Callable[[], bool] | None = None) -> Frame:
        self.asked.append((moment.draw, complete))
        while not self.open.wait(0.002):
            if cancel is not None and cancel():
                self.cancelled.append(moment.draw)
                raise Cancelled("the test waits no longer")
        if self.fails(moment):
            raise NonFinite("rollout: the policy's logits are not finite")
        return replace(sample(), config=moment.config, step=moment.step, draw=moment.draw)


@pytest.fixture
def paced() -> Paced:
    return Paced()


@pytest.fixture
def paced_frames(paced: Paced) -> Iterator[Frames]:
    frames = Frames(lambda: paced)
    yield frames
    paced.open.set()
    frames.close()


@pytest.fixture
def forgetful_frames() -> Iterator[Frames]:
    """Real frames, of which only the newest is kept: what is shown again is computed again."""
    frames = Frames(simulator, capacity=0)
    yield frames
    frames.close()


@pytest.fixture
def real_frames() -> Iterator[Frames]:
    frames = Frames(simulator)
    yield frames
    frames.close()


def begun(frames: Frames, preset: Preset = PRESET) -> Session:
    session = Session(frames, preset)
    session.begin()
    return session


def run(main: Coroutine[Any, Any, Value]) -> Value:
    """What a coroutine returns. In a thread of its own: playwright keeps a loop running in the main one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, main).result()


async def until(condition: Callable[[], object], within: float = 60) -> None:
    """Let the loop run until a condition is true; TimeoutError if it is not within so many seconds."""
    async with asyncio.timeout(within):
        while not condition():
            await asyncio.sleep(0.002)


async def settled(session: Session) -> Frame:
    """The frame once nothing more is coming."""
    await until(lambda: session.settled)
    assert session.frame is not None
    return session.frame


def full_log(config: Config) -> str:
    """A session that has as many events as a log keeps."""
    preset = builtin("sft-fan").model_copy(update={"config": config})
    timeline = Timeline(config, preset.title)
    # One batch drawn again and again, which costs one frame.
    for _ in range(LIMIT // 2):
        timeline.act("draw", "batch 1 drawn", timeline.current.moment.next_draw())
        timeline.back()
    return dumps_session(timeline, {0: (None, preset)})


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page."""
    with serving(tmp_path_factory.mktemp("served")) as address:
        yield address


@pytest.fixture
def opened(page: Page, served: str) -> Callable[..., Page]:
    """Opens the page and waits for its picture."""
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)

    def open_page(query: str = "", width: int = 1280, height: int = 720) -> Page:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(served + query)
        page.wait_for_function(DRAWN)
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
        return page

    return open_page


@pytest.fixture(scope="module")
def shown(browser: Browser, served: str) -> Iterator[Page]:
    """The page with its picture, opened once for the tests of a file that look and undo what they do to it."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    page.goto(served)
    page.wait_for_function(DRAWN)
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    yield page
    context.close()
