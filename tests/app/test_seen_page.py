"""A browser that takes longer over a batch than the server does, in a real Chromium."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.page import PATIENCE

pytestmark = pytest.mark.browser

FEW = "view=1;source.prompts=2;source.group_size=4"
#: Counts the batches that come, and takes half a second over each; the server draws one in a tenth of that.
SLOWED = """(name) => {
  window.batches = 0
  Bokeh.documents[0].get_model_by_name(name).properties.data.change.connect(() => {
    window.batches += 1
    for (const until = performance.now() + 500; performance.now() < until;);
  })
}"""
#: What may still come once Pause was pressed: the batch that is on its way, and one that the press had to wait for.
LATE = 2


@pytest.mark.parametrize(
    ("query", "name"),
    [
        (f"?preset=opsd-collapse&{FEW}", "arrows"),
        ("?page=compare&with=rl-small-batch,opsd-clipped", "arrows-a"),
    ],
    ids=["page", "comparison"],
)
def test_pause_takes_effect_at_once_where_the_browser_is_slow(page: Page, served: str, query: str, name: str) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(served + query)
    page.wait_for_function(f"window.Bokeh?.documents[0]?.get_model_by_name('{name}')?.data.x.length > 0")
    page.get_by_label("Speed").select_option("10")
    page.evaluate(SLOWED, name)
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_function("batches >= 10")
    page.get_by_role("button", name="Pause", exact=True).click()
    pressed = page.evaluate("batches")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible(timeout=PATIENCE)
    assert page.evaluate("batches") - pressed <= LATE


def test_a_frame_that_has_no_player_plays_by_key(opened: Callable[..., Page]) -> None:
    page = opened(f"?preset=opsd-collapse&{FEW}&embed=1")
    page.goto(page.url + "&hide=player")
    page.wait_for_function("window.Bokeh?.documents[0]?.get_model_by_name('arrows')?.data.x.length > 0")
    page.evaluate(SLOWED, "arrows")
    page.locator(".verdict").click()
    page.keyboard.press(" ")
    page.wait_for_function("batches >= 4")
