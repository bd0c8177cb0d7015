"""The glossary in a real Chromium."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Page, expect

from sim.glossary import glossary
from tests.app.test_glossary import WORDS

pytestmark = pytest.mark.browser

#: The element that has the focus, through all shadow roots, by its words.
FOCUSED = """() => {
  let at = document.activeElement
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
  return [at.tagName, at.innerText ?? "", at.getAttribute("data-term") ?? "", at.id]
}"""


def dialog(page: Page) -> Any:
    return page.get_by_role("dialog", name="Glossary")


def entries(page: Page) -> Any:
    return dialog(page).locator(".entry:visible")


def test_a_readings_name_opens_its_entry_and_gets_the_focus_back(shown: Page) -> None:
    page = shown
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    name = page.get_by_role("button", name="Density", exact=True)
    name.focus()
    page.keyboard.press("Enter")
    expect(dialog(page)).to_be_visible()
    here = dialog(page).locator(".entry.here")
    expect(here).to_be_in_viewport()
    expect(here.locator("dt b")).to_have_text("Density")
    expect(here).to_contain_text(WORDS["Density"].text)
    expect(here.locator("math")).to_be_visible()
    assert page.evaluate(FOCUSED)[3] == "term-density"
    assert page.url.endswith("#term-density")
    page.keyboard.press("Escape")
    expect(dialog(page)).to_be_hidden()
    assert page.evaluate(FOCUSED)[2] == "density"
    assert "#" not in page.url
    host = urlparse(page.url).netloc
    assert [url for url in asked if urlparse(url).netloc not in ("", host)] == []


def test_the_button_opens_it_and_what_is_typed_filters_it(shown: Page) -> None:
    page = shown
    page.get_by_role("button", name="Glossary").click()
    total = len(glossary().entries)
    expect(entries(page)).to_have_count(total)
    page.keyboard.type("noise scale")
    expect(dialog(page).get_by_label("Find")).to_have_value("noise scale")
    expect(entries(page).filter(has_text="noise scale")).not_to_have_count(0)
    assert 0 < entries(page).count() < 6
    expect(dialog(page).get_by_role("status")).to_have_text(re.compile(rf"^\d of {total}$"))
    dialog(page).get_by_label("Find").fill("no such word")
    expect(entries(page)).to_have_count(0)
    dialog(page).get_by_label("Find").fill("")
    expect(entries(page)).to_have_count(total)
    dialog(page).get_by_role("button", name="Close").click()
    expect(dialog(page)).to_be_hidden()
    assert page.evaluate(FOCUSED)[1] == "Glossary"


def test_what_is_typed_in_it_does_nothing_to_the_page(shown: Page) -> None:
    page = shown
    page.get_by_role("button", name="Glossary").click()
    expect(entries(page)).not_to_have_count(0)
    dialog(page).locator("dl").focus()
    for key in ("d", "s", "c", "r", "1", "ArrowRight", "Home"):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    expect(dialog(page)).to_be_hidden()
    expect(page.locator(".log tbody tr")).to_have_count(1)


def test_the_focus_stays_within_it(shown: Page) -> None:
    page = shown
    page.get_by_role("button", name="Glossary").click()
    expect(entries(page)).not_to_have_count(0)
    dialog(page).get_by_label("Find").fill("noise scale")
    inside = "() => { let at = document.activeElement; while (at?.shadowRoot?.activeElement) " \
             "at = at.shadowRoot.activeElement; return at === document.body || !!at.closest('dialog') }"  # fmt: skip
    for _ in range(20):
        page.keyboard.press("Tab")
        assert page.evaluate(inside)


def test_an_address_opens_it_at_a_word(opened: Callable[..., Page]) -> None:
    page = opened("?preset=opsd-collapse#term-token-scale")
    here = dialog(page).locator(".entry.here")
    expect(here.locator("dt b")).to_have_text("token scale")
    expect(here).to_be_in_viewport()


@pytest.mark.parametrize("fragment", ["#term-no-such-word", "#term-<img src=x>", "#term-"])
def test_an_address_of_no_word_does_no_harm(opened: Callable[..., Page], fragment: str) -> None:
    page = opened("?preset=opsd-collapse" + fragment)
    expect(page.get_by_role("button", name="Glossary")).to_be_visible()
    assert page.locator("img").count() == 0
    expect(dialog(page).locator(".entry.here")).to_have_count(0)
