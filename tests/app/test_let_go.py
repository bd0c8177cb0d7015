"""What is let go, left empty or pressed too quickly, in a real Chromium."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.page import events

pytestmark = pytest.mark.browser

KEYS = """(keys) => {
  for (const key of keys) document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}))
}"""


def test_a_slider_that_is_let_go_where_it_was_taken_up_is_let_go(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch")
    slider = page.get_by_role("slider", name="Prefixes from")
    box = slider.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] - 7, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for at in (x - 60, x - 90, x):
        page.mouse.move(at, y, steps=4)
    page.mouse.up()
    expect(slider).to_have_value("1")
    page.get_by_label("Preset", exact=True).select_option("opsd-collapse")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(events(page)).to_have_count(3)
    expect(events(page).nth(2)).to_contain_text("clip on")
    page.get_by_label("Preset", exact=True).select_option("sft-fan")
    expect(slider).to_have_value("0")


@pytest.mark.parametrize("part", ["path", ".words"])
def test_a_button_that_is_held_while_batches_come_is_pressed_once_it_is_let_go(
    opened: Callable[..., Page], part: str
) -> None:
    page = opened("?preset=opsd-collapse&view=1;source.prompts=2;source.group_size=4")
    page.get_by_role("combobox", name="Speed").select_option("10")
    box = page.locator(".player .play").locator(part).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    page.mouse.down()
    clock = page.locator(".player .where")
    before = clock.inner_text()
    expect(clock).not_to_have_text(before)
    page.mouse.up()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_a_number_that_is_left_empty_is_what_it_was(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch")
    page.get_by_text("more", exact=True).click()
    seed = page.get_by_label("Seed")
    seed.fill("")
    seed.press("Enter")
    expect(seed).to_have_value("0")


def test_of_presets_that_are_asked_for_at_once_the_first_and_the_last_are_opened(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch")
    # Who hears keys is there.
    page.locator("dialog[aria-labelledby=keys]").wait_for(state="attached")
    # In one call: each press of a real key is a message to the browser, and on a slow machine they take half a second.
    page.evaluate(KEYS, [*"123459", "d"])
    expect(page.get_by_label("Preset", exact=True)).to_have_value("sft-stress")
    expect(events(page).last).to_contain_text("batch 1 drawn")
    expect(events(page)).to_have_count(4)
