"""How long the page takes: from opening to the first picture, and from a control's change to the new frame."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page

from tests.page import DRAWN, browsing
from tests.server import serving

PATIENCE = 120_000
#: The arrows that are drawn, as text.
READ = "() => Bokeh.documents[0].get_model_by_name('arrows').data.x.join()"


def page_times(rounds: int) -> dict[str, list[float]]:
    """Seconds of each round, by what was timed; the first round only warms the server."""
    times: dict[str, list[float]] = {"page: opening to first picture": [], "page: clip toggled to new frame": []}
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as address, browsing() as page:
        page.set_default_timeout(PATIENCE)
        for done in range(rounds + 1):
            opened = _timed(lambda: (page.goto(address), page.wait_for_function(DRAWN)))
            page.get_by_role("switch", name="Clip", exact=True).wait_for()
            toggled = _toggled(page)
            if done:
                times["page: opening to first picture"].append(opened)
                times["page: clip toggled to new frame"].append(toggled)
    return times


def _toggled(page: Page) -> float:
    before = page.evaluate(READ)
    switch = page.get_by_role("switch", name="Clip", exact=True)

    def toggle() -> None:
        switch.click()
        page.wait_for_function(f"(before) => ({READ})() !== before", arg=before)

    return _timed(toggle)


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
