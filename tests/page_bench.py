"""How long the page takes: to the first picture, to the frame of a changed control, and for a batch in the browser."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from sim.link_items import DEFAULT
from sim.presets import builtin
from sim.timeline import LIMIT
from tests.app.conftest import full_log
from tests.page import DRAWN, LAID_OUT, browsing, events
from tests.server import serving

PATIENCE = 120_000
#: The arrows that are drawn, as text.
READ = "() => Bokeh.documents[0].get_model_by_name('arrows').data.x.join()"


def page_times(rounds: int) -> dict[str, list[float]]:
    """Seconds of each round, by what was timed; the first round only warms the server."""
    times: dict[str, list[float]] = {"page: opening to first picture": [], "page: clip toggled to new frame": []}
    logs = "page: browser's work a batch, log begun", "page: browser's work a batch, log full"
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as address, browsing() as page:
        page.set_default_timeout(PATIENCE)
        for done in range(rounds + 1):
            opened = _timed(lambda: (page.goto(address), page.wait_for_function(DRAWN)))
            page.get_by_role("switch", name="Clip", exact=True).wait_for()
            toggled = _toggled(page)
            if done:
                times["page: opening to first picture"].append(opened)
                times["page: clip toggled to new frame"].append(toggled)
        times[logs[0]] = [_worked(page) for _ in range(rounds)]
        path = Path(folder) / "session.json"
        path.write_text(full_log(builtin(DEFAULT).config), "utf-8")
        page.get_by_label("Preset file").set_input_files(path)
        expect(events(page)).to_have_count(LIMIT, timeout=PATIENCE)
        times[logs[1]] = [_worked(page) for _ in range(rounds)]
    return times


def _toggled(page: Page) -> float:
    before = page.evaluate(READ)
    switch = page.get_by_role("switch", name="Clip", exact=True)

    def toggle() -> None:
        switch.click()
        page.wait_for_function(f"(before) => ({READ})() !== before", arg=before)

    return _timed(toggle)


def _worked(page: Page) -> float:
    """Seconds that the page's main thread is busy with a batch, until all has been drawn."""
    before, tools = page.evaluate(READ), page.context.new_cdp_session(page)
    tools.send("Performance.enable")

    def busy() -> float:
        metrics = tools.send("Performance.getMetrics")["metrics"]
        return next(float(each["value"]) for each in metrics if each["name"] == "TaskDuration")

    began = busy()
    page.get_by_role("button", name="Draw", exact=True).click()
    page.wait_for_function(f"(before) => ({READ})() !== before", arg=before)
    page.evaluate(LAID_OUT)
    return busy() - began


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
