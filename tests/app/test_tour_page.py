"""A tour walked through in a real Chromium, with the keyboard alone."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Page, expect

from app.palette import THEMES
from app.quoting import POINTED
from sim.quotes import plain, sources
from sim.tours import builtin_tour, names, stops
from tests.page import resize, wear

pytestmark = pytest.mark.browser

#: Whether what a tour points at is outlined by a dashed line: it, and nothing beside it.
OUTLINED = """(wanted) => {
  const found = []
  const visit = (root) => {
    for (const each of root.querySelectorAll("*")) {
      const {outlineStyle, outlineWidth} = getComputedStyle(each)
      if (outlineStyle === "dashed" && parseFloat(outlineWidth) >= 2)
        found.push(each.dataset.name ?? (each.className.includes("plane") ? "picture" : each.className))
      if (each.shadowRoot) visit(each.shadowRoot)
    }
  }
  visit(document)
  return found.length === 1 && found[0] === wanted
}"""


def card(page: Page) -> Any:
    return page.get_by_role("region", name="Guided tour")


def begin(page: Page, level: str) -> Any:
    """The card of a tour, whose first step has not been shown yet."""
    page.get_by_role("tab", name="Tour").click()
    card(page).get_by_label("Tour for").select_option(level)
    expect(card(page).locator("h3")).to_have_text(builtin_tour(level).steps[0].title)
    return card(page)


def pressed(page: Page, name: str) -> None:
    """Press a button of the card from the keyboard."""
    button = card(page).get_by_role("button", name=name, exact=True)
    button.focus()
    page.keyboard.press("Enter")


def test_a_whole_tour_is_walked_with_the_keyboard(opened: Callable[..., Page]) -> None:
    page = opened("?preset=opsd-collapse")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    told = begin(page, "child")
    tour, reached, preset = builtin_tour("child"), stops(builtin_tour("child")), ""
    for place, step in enumerate(tour.steps):
        preset = step.preset or preset
        pressed(page, "Next" if place else "Show me")
        expect(told.locator(".where")).to_have_text(f"{place + 1} of {len(tour.steps)}")
        expect(told.locator("h3")).to_have_text(step.title)
        expect(told.locator(".page p")).to_have_text(plain(step.text))
        expect(page.get_by_label("Preset", exact=True)).to_have_value(preset)
        prompts = str(reached[place].config.source.prompts)
        expect(page.locator(".field.prompts output")).to_have_text(prompts)
        switch = page.get_by_role("switch", name="Clip", exact=True)
        expect(switch).to_be_checked(checked=reached[place].config.clip.on)
        page.wait_for_function(OUTLINED, arg=step.look)
        for quote in sources([step.text]):
            if quote.source == "update.ratio":
                shown = page.locator(".reading[data-name=update] .value")
                expect(shown).to_have_text(re.compile(rf"^{re.escape(quote.text)}"))
    pressed(page, "Next: high school")
    expect(told.locator("h3")).to_have_text(builtin_tour("high-school").steps[0].title)
    expect(told.locator(".where")).to_have_text(f"1 of {len(builtin_tour('high-school').steps)}")
    expect(page.get_by_label("Preset", exact=True)).to_have_value("rl-noise-cancels")
    host = urlparse(page.url).netloc
    assert [url for url in asked if urlparse(url).netloc not in ("", host)] == []


def test_who_wanders_off_is_led_back(opened: Callable[..., Page]) -> None:
    page = opened("?preset=opsd-collapse")
    told = begin(page, "child")
    show = told.get_by_role("button", name="Show me")
    expect(show).to_have_class(re.compile("wanted"))
    show.click()
    expect(show).not_to_have_class(re.compile("wanted"))
    page.get_by_label("Preset", exact=True).select_option("sft-fan")
    expect(show).to_have_class(re.compile("wanted"))
    show.click()
    expect(page.get_by_label("Preset", exact=True)).to_have_value("rl-noise-cancels")
    expect(show).not_to_have_class(re.compile("wanted"))


def test_a_number_says_what_it_is_and_points_at_where_it_stands(shown: Page) -> None:
    page = shown
    told = begin(page, "college")
    for _ in range(4):
        told.get_by_role("button", name="Next").click()
    expect(told.locator(".where")).to_have_text("5 of 8")
    number = told.locator("button.number").nth(1)
    expect(number).to_have_text("0.46")
    expect(number).to_have_attribute("title", re.compile("^length of the update over the safe radius;"))
    number.click()
    page.wait_for_function(OUTLINED, arg="update")


def test_a_dial_that_is_folded_away_is_shown_without_moving_the_page(opened: Callable[..., Page]) -> None:
    page = opened("?preset=opd-same-family")
    told = begin(page, "practitioner")
    dial = page.get_by_label("Optimiser")
    expect(dial).to_be_hidden()
    for _ in range(3):
        told.get_by_role("button", name="Next").click()
    page.wait_for_function(OUTLINED, arg="optimiser")
    expect(dial).to_be_in_viewport()
    expect(told.get_by_role("button", name="Next")).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0


def test_nothing_is_pointed_at_once_the_tour_is_out_of_sight(opened: Callable[..., Page]) -> None:
    page = opened("?preset=opsd-collapse")
    begin(page, "child").get_by_role("button", name="Next").click()
    page.wait_for_function(OUTLINED, arg="update")
    page.get_by_role("tab", name="Readings").click()
    page.wait_for_function(f"() => !({OUTLINED})('update')")


def test_what_is_pointed_at_is_outlined_in_each_theme(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-noise-cancels")
    told = begin(page, "child")
    for place, target in enumerate(("picture", *(step.look for step in builtin_tour("child").steps[1:3]))):
        told.get_by_role("button", name="Next" if place else "Show me").click()
        for theme in THEMES:
            wear(page, theme)
            page.wait_for_function(OUTLINED, arg=target)


def test_every_formula_is_drawn_within_the_card(shown: Page) -> None:
    page = shown
    told = begin(page, "phd")
    tour = builtin_tour("phd")
    for place, step in enumerate(tour.steps):
        told.get_by_role("button", name="Next" if place else "Show me").click()
        expect(told.locator("h3")).to_have_text(step.title)
        if step.formula:
            around = told.bounding_box()
            assert around is not None
            for drawn in told.locator(".formula math").all():
                box = drawn.bounding_box()
                assert box is not None
                assert box["height"] > 12
                assert box["width"] > 60
                assert box["x"] >= around["x"]
                assert box["x"] + box["width"] <= around["x"] + around["width"]
            # A converter that gives up leaves the source in the text.
            assert "\\" not in told.locator(".formula").inner_text()


def test_a_card_is_as_wide_as_it_has_room(shown: Page) -> None:
    page = shown
    told = begin(page, "researcher")
    told.get_by_role("button", name="Show me").click()
    expect(told.get_by_role("button", name="Show me")).not_to_have_class(re.compile("wanted"))
    for width, height in ((1280, 720), (1024, 768), (768, 1024), (390, 844)):
        resize(page, width, height)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = told.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width + 1
        text = told.locator(".page").bounding_box()
        assert text is not None
        assert text["height"] > 60


def test_levels_are_offered_from_easy_to_hard_and_a_step_is_told_to_who_cannot_see_it(
    opened: Callable[..., Page],
) -> None:
    page = opened("?preset=opsd-collapse")
    told = begin(page, "child")
    offered = told.get_by_label("Tour for").locator("option")
    expect(offered).to_have_text([builtin_tour(name).level for name in names()])
    expect(told.locator(".told")).to_have_attribute("aria-live", "polite")
    expect(told.locator(".told")).to_contain_text(builtin_tour("child").steps[0].title)
    expect(told.locator(".look")).to_have_text(f"Look at: {POINTED['picture']}")
