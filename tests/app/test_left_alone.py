"""Left alone, the page neither grows nor asks for anything: an hour of play, a hidden tab, numbers that diverge."""

import math
import os
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.spare import FRAMES
from sim.config import Config
from sim.link import Link
from sim.presets import builtin, dumps_preset
from sim.timeline import LIMIT, Moment
from tests.app.conftest import full_log
from tests.page import DRAWN, PATIENCE, events
from tests.server import serving

pytestmark = pytest.mark.browser

#: How many batches are played before each of two measurements, and how much more the page and the server may hold at
#: the second: megabytes, nodes, listeners. The log is full from the start: a row that came back without a verdict makes
#: way for one with it, about half a node more a batch. The server keeps the frames, about 12 kilobytes each of these,
#: and gives memory back every so many: what it holds is the least of what is seen over as many before.
DRAWS = (75, 150)
MORE = {"heap": 1.7, "nodes": 300, "listeners": 7, "server": 20.0}
#: Seconds that so many batches may take on a busy machine.
LONG = 1200
HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", {value: hidden, configurable: true})
  Object.defineProperty(document, "visibilityState", {value: hidden ? "hidden" : "visible", configurable: true})
  document.dispatchEvent(new Event("visibilitychange"))
}"""


def small(name: str, **update: Any) -> Config:
    """A preset's settings with few answers, and an update's settings changed."""
    config = builtin(name).config
    return config.model_copy(
        update={
            "source": config.source.model_copy(update={"prompts": 1, "group_size": 2}),
            "update": config.update.model_copy(update=update),
        }
    )


def load(page: Page, path: Path, config: Config) -> None:
    path.write_text(dumps_preset(builtin("rl-small-batch").model_copy(update={"config": config})), "utf-8")
    page.get_by_label("Preset file").set_input_files(path)


def spoken(page: Page) -> list[str]:
    """What the browser sends to the server from now on, and asks it for."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    return sent


def fall_silent(page: Page, sent: list[str]) -> None:
    """Wait until what was under way has come, on a busy machine too."""
    until = time.monotonic() + PATIENCE / 1000
    while sent:
        assert time.monotonic() < until, sent[-1]
        sent.clear()
        page.wait_for_timeout(4000)


def test_a_page_that_nobody_touches_asks_the_server_for_nothing(page: Page, opened: Callable[..., Page]) -> None:
    sent = spoken(page)
    opened("?preset=rl-small-batch")
    expect(events(page).nth(0)).to_contain_text(re.compile("inside|near|past"))
    assert sent
    fall_silent(page, sent)
    page.wait_for_timeout(5000)
    assert sent == []


def test_a_hidden_page_pauses_and_goes_on_once_it_is_seen(page: Page, opened: Callable[..., Page]) -> None:
    sent = spoken(page)
    opened("?preset=rl-small-batch")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(events(page).nth(2)).to_contain_text(re.compile("inside|near|past|no signal"))
    page.evaluate(HIDE, True)
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    fall_silent(page, sent)
    count = events(page).count()
    page.wait_for_timeout(3000)
    assert sent == []
    assert events(page).count() == count
    page.evaluate(HIDE, False)
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    expect(events(page).nth(count)).to_contain_text("drawn")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.evaluate(HIDE, True)
    page.evaluate(HIDE, False)
    page.wait_for_timeout(1500)
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_a_number_that_is_not_finite_stops_play_says_what_to_do_and_back_works(
    opened: Callable[..., Page], tmp_path: Path
) -> None:
    page = opened("?preset=rl-small-batch")
    load(page, tmp_path / "wild.json", small("sft-foreign-style", step_size=100.0))
    expect(events(page).nth(1)).to_contain_text("past")
    alert = page.get_by_role("alert").filter(has_text="not finite")
    for step in range(1, 12):
        page.get_by_role("button", name="Step", exact=True).click()
        came = re.compile("taken.*(past|near|inside|no signal|failed)", re.DOTALL)
        expect(events(page).nth(step + 1)).to_contain_text(came)
        if "failed" in events(page).nth(step + 1).inner_text():
            break
    expect(alert).to_contain_text(f"Event #{step + 1} (step {step} taken) could not be computed")
    expect(alert).to_contain_text("step size 100")
    expect(alert).to_contain_text("go back and take smaller steps")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(events(page).nth(step + 2)).to_contain_text(re.compile("batch 1 drawn.*failed", re.DOTALL))
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(alert).to_contain_text("batch 1 drawn")
    assert events(page).count() == step + 3
    for _ in range(2):
        page.get_by_role("button", name="Back", exact=True).click()
    expect(alert).to_have_count(0)
    expect(events(page).nth(step + 4)).to_contain_text(f"back to #{step}")
    expect(events(page).nth(step + 4)).to_contain_text(re.compile("past|near|inside|no signal"))


WIDTH = """() => {
  const {x_range: X} = Bokeh.documents[0].get_model_by_name("plane")
  return X.end - X.start
}"""


def test_a_reset_undoes_the_zoom_and_a_rewind_does_not(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch")
    page.mouse.move(582, 360)
    before = page.evaluate(WIDTH)
    page.mouse.wheel(0, -400)
    page.wait_for_function(f"(before) => ({WIDTH})() < 0.95 * before", arg=before)
    zoomed = page.evaluate(WIDTH)
    page.get_by_role("button", name="Back", exact=True).click()
    expect(events(page).nth(1)).to_contain_text("back to #0")
    assert page.evaluate(WIDTH) == pytest.approx(zoomed)
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(events(page)).to_have_count(3)
    page.wait_for_function(f"(before) => Math.abs(({WIDTH})() - before) < 1e-6 * before", arg=before)


def resident(folder: Path) -> float:
    """Megabytes that the server of a folder holds."""
    found = re.search(r"process id: (\d+)", (folder / "server.log").read_text("utf-8"))
    assert found is not None
    pages = Path("/proc") / found[1] / "statm"
    if pages.exists():
        return int(pages.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def held(page: Page) -> dict[str, float]:
    """What the browser of a paused page holds, the least of a few looks: megabytes, nodes of the page, listeners.

    While batches come it is also what they brought and the browser has not yet thrown away, a megabyte or two; and the
    last may still be on its way at the first look.
    """
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable")
    looks = []
    for _ in range(3):
        page.wait_for_timeout(500)
        tools.send("HeapProfiler.collectGarbage")
        metrics = {each["name"]: each["value"] for each in tools.send("Performance.getMetrics")["metrics"]}
        used = tools.send("Runtime.getHeapUsage")["usedSize"] / 1e6
        looks.append({"heap": used, "nodes": metrics["Nodes"], "listeners": metrics["JSEventListeners"]})
    tools.detach()
    return {what: min(look[what] for look in looks) for what in looks[0]}


def drawn(page: Page) -> int:
    """The number of the batch on show."""
    return int(page.locator(".bar .where").inner_text().split()[-1])


def played(page: Page, draws: int, folder: Path) -> dict[str, float]:
    """What the browser and the server of a folder hold after so many batches more, or the few that pass until Pause."""
    begun, until = drawn(page), time.monotonic() + LONG
    page.get_by_role("button", name="Play", exact=True).click()
    least = math.inf
    while (left := begun + draws - drawn(page)) > 0:
        assert time.monotonic() < until, left
        if left < 1.5 * FRAMES:
            least = min(least, resident(folder))
        page.wait_for_timeout(200)
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    return held(page) | {"server": min(least, resident(folder)), "draws": drawn(page)}


@pytest.mark.slow
def test_minutes_of_play_with_a_full_log_leave_memory_flat_in_browser_and_server(page: Page, tmp_path: Path) -> None:
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    config = small("sft-fan")
    # Where the log ends too, so that the address asks for nothing else than what the tab had kept.
    query = Link(builtin("sft-fan"), "sft-fan", Moment(config)).query()
    with serving(tmp_path) as address:
        page.goto(f"{address}?{query}")
        page.wait_for_function(DRAWN)
        page.evaluate(
            """(text) => addEventListener("pagehide", () => {
              sessionStorage.setItem("gradcloud " + history.state.gradcloud.tab, text)
            })""",
            full_log(config),
        )
        page.reload()
        page.wait_for_function(DRAWN)
        expect(events(page)).to_have_count(LIMIT)
        expect(page.get_by_label("Prompts a batch")).to_have_attribute("aria-valuetext", "1")
        page.get_by_label("Speed").select_option("10")
        first, last = (played(page, draws, tmp_path) for draws in DRAWS)
        expect(events(page)).to_have_count(LIMIT)
    grown = {what: last[what] - first[what] for what in MORE}
    assert all(grown[what] <= MORE[what] for what in MORE), (first, last)
