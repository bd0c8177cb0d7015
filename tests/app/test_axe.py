"""An automated audit of each page in each theme: axe-core, which reaches into shadow roots."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from app.palette import THEMES
from tests.page import PATIENCE

pytestmark = pytest.mark.browser

#: Nothing is fetched beforehand: only rules on sounds and films look at that, and the page has none.
ASKED = {"resultTypes": ["violations"], "preload": False}


def settled(page: Page) -> Page:
    """A page once all its numbers are there."""
    expect(page.get_by_text("computing")).to_have_count(0, timeout=PATIENCE)
    return page


def found(page: Page, *passed_over: str) -> list[str]:
    """What the audit finds wrong in any theme: the theme, the rule, how grave it is, and where."""
    # Colours that are on their way from one to another are neither's.
    page.add_style_tag(content="* { transition: none !important; animation: none !important; }")
    wrong = []
    for theme in THEMES:
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
        told = Axe().run(page, options=ASKED).response["violations"]
        wrong += [
            f"{theme}: {each['id']} ({each['impact']}): {node['target'][-1]} {node['html'][:100]}"
            for each in told
            for node in each["nodes"]
            if each["id"] not in passed_over
        ]
    return wrong


def test_nothing_is_found_on_the_page_with_all_dials_open(opened: Callable[..., Page]) -> None:
    page = settled(opened())
    page.get_by_text("more", exact=True).click()
    for name in ("Readings", "Tokens", "Tour"):
        tab = page.get_by_role("tab", name=name)
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        page.wait_for_timeout(500)
        assert found(page) == [], name


def test_nothing_is_found_in_the_list_of_keys_nor_in_the_glossary(opened: Callable[..., Page]) -> None:
    page = opened()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert found(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Glossary").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    # An entry's address is one to copy, which the page follows itself: the audit seeks its end outside the shadow root.
    assert found(page, "skip-link") == []


def test_nothing_is_found_among_the_curves_of_a_look_ahead_nor_in_an_implicit_target(
    opened: Callable[..., Page],
) -> None:
    page = settled(opened("?preset=rl-kl-regularised"))
    # Few answers, so that ten steps are seconds.
    page.get_by_label("Prompts a batch").fill("1")
    expect(page.locator(".field.prompts output")).to_have_text("2")
    page.get_by_text("Implicit target", exact=True).click()
    expect(page.locator(".answers li").first).to_be_visible()
    page.get_by_label("Take this step").fill("10")
    page.get_by_role("button", name="Run ahead").click()
    expect(page.locator(".run .far")).to_have_text("step 10 of 10", timeout=5 * PATIENCE)
    expect(page.locator(".curves canvas").first).to_be_visible()
    assert found(page) == []


def test_nothing_is_found_among_the_claims(page: Page, served: str) -> None:
    page.goto(f"{served}?page=claims")
    expect(page.get_by_role("heading", name="Claims, measured")).to_be_visible()
    assert found(page) == []


def test_nothing_is_found_where_four_presets_are_compared(page: Page, served: str) -> None:
    page.goto(f"{served}?page=compare&with=opsd-collapse,opsd-clipped,rl-grpo,sft-fan")
    expect(page.get_by_role("button", name="Play")).to_be_visible(timeout=PATIENCE)
    assert found(settled(page)) == []


@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024)])
def test_nothing_is_found_on_small_screens(opened: Callable[..., Page], width: int, height: int) -> None:
    assert found(settled(opened(width=width, height=height))) == []
