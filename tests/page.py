"""The page as a script drives it: a browser of this machine, opened on a served page."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests import chromium

#: Milliseconds that a frame may take on a busy machine.
PATIENCE = 60_000
#: Whether the first picture is on the canvas.
DRAWN = """() => {
  const document = window.Bokeh?.documents[0], plane = document?.get_model_by_name("plane")
  return !!plane && document.get_model_by_name("arrows").data.x.length > 0 && !!Bokeh.index.find_one(plane)
}"""

#: Comes true once what follows a change of the window or of the style has been done: canvases follow in a frame.
LAID_OUT = (
    """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 200))))"""
)


@contextmanager
def browsing(width: int = 1280, height: int = 720, scale: float = 1) -> Iterator[Page]:
    """A page of a headless browser, closed when the block ends."""
    found = chromium.find()
    if found is None:
        raise SystemExit(chromium.ADVICE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(found), args=list(chromium.LAUNCH_OPTIONS))
        try:
            size = {"width": width, "height": height}
            yield browser.new_page(viewport=size, device_scale_factor=scale)
        finally:
            browser.close()


def verdict(page: Page) -> Any:
    return page.locator(".verdict h2")


def events(page: Page) -> Any:
    return page.locator(".log tbody tr")


def wear(page: Page, theme: str) -> None:
    """Put a theme on from the menu, and wait until the page has been laid out in it."""
    page.get_by_role("combobox", name="Theme").select_option(theme)
    page.wait_for_function("(theme) => document.documentElement.dataset.theme === theme", arg=theme)
    page.evaluate(LAID_OUT)


def resize(page: Page, width: int, height: int) -> None:
    """Give the window another size, and wait until the page has been laid out in it."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(LAID_OUT)
