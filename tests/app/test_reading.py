"""What the page tells beside its picture, in a real Chromium: hovers, rules, notes and where they fit."""

import re
import urllib.request
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from app.numbers import significant
from app.picture import MISSING
from tests.page import DRAWN, PATIENCE, events

pytestmark = pytest.mark.browser

#: Where the tip of the longest arrow is on the screen.
TIP = """() => {
  const document = Bokeh.documents[0], plane = document.get_model_by_name("plane")
  const {x, y} = document.get_model_by_name("arrows").data, last = x.length - 1
  const box = Bokeh.index.find_one(plane).el.getBoundingClientRect(), {x_range: X, y_range: Y} = plane
  return [box.left + (x[last] - X.start) / (X.end - X.start) * plane.inner_width,
          box.top + (Y.end - y[last]) / (Y.end - Y.start) * plane.inner_height]
}"""


def test_hovering_over_a_tip_tells_about_its_token(shown: Page) -> None:
    page = shown
    expect(page.get_by_text("computing")).to_have_count(0)
    x, y = page.evaluate(TIP)
    page.mouse.move(x, y)
    told = page.get_by_role("row")
    for words in (
        r"student gives “good”\s*0\.145", r"teacher gives “good”", r"its step raises most\s*wait",
        r"student gives “wait”\s*0\.0187", r"teacher gives “wait”", r"signal.* nats", r"gradient's norm\s*[\d.]+$",
        r"share of the update.* %",
    ):  # fmt: skip
        expect(told.filter(has_text=re.compile(words))).to_be_visible()
    expect(told.filter(has_text="NaN")).to_have_count(0)


WRITTEN = """([column, values]) => {
  const {formatters} = Bokeh.documents[0].get_model_by_name("plane").toolbar.tools.find((each) => each.name === "hover")
  return values.map((value) => formatters[column].format(value, "", {}))
}"""


def test_the_hover_writes_numbers_as_the_page_does(shown: Page) -> None:
    values = [0.0, 1.0, 0.0254, 9.999, 1760.4, -0.5, 5.68e-4, -3.21e-8, 1.5e6, 99_999.0, 0.0009999]
    page = shown
    assert page.evaluate(WRITTEN, ["@norm", values]) == [significant(each) for each in values]
    assert page.evaluate(WRITTEN, ["@norm", [MISSING, float(np.float32(MISSING))]]) == ["computing"] * 2


def test_the_hover_has_a_dash_for_a_teacher_that_does_not_speak(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch")
    teacher = page.evaluate("() => Array.from(Bokeh.documents[0].get_model_by_name('arrows').data.teacher)")
    assert teacher
    assert page.evaluate(WRITTEN, ["@teacher", teacher]) == ["–"] * len(teacher)


RULES = """(how) => {
  const roots = [document], seen = []
  while (roots.length) for (const each of roots.pop().querySelectorAll("*")) {
    if (each.shadowRoot) roots.push(each.shadowRoot)
    if (each.matches(`:is(.reading, .verdict):${how} > .rule`)) {
      const {left, top, right, bottom} = each.getBoundingClientRect()
      const inside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && bottom - top > 20
      const corners = [[left + 3, top + 3], [right - 3, top + 3], [left + 3, bottom - 3], [right - 3, bottom - 3]]
      seen.push(inside && corners.every(([x, y]) => each.getRootNode().elementFromPoint(x, y) === each))
    }
  }
  return seen
}"""


def test_each_reading_shows_its_rule_to_the_mouse_and_to_the_keyboard(shown: Page) -> None:
    page = shown
    expect(page.get_by_text("computing")).to_have_count(0)
    readings = page.locator(".verdict, .reading")
    expect(readings).to_have_count(8)
    for i in range(8):
        readings.nth(i).hover()
        assert page.evaluate(RULES, "hover") == [True]
        readings.nth(i).focus()
        assert page.evaluate(RULES, "focus") == [True]


def test_each_note_stays_on_its_line(shown: Page) -> None:
    page = shown
    expect(page.get_by_text("computing")).to_have_count(0)
    notes = page.locator(".reading .note")
    assert notes.evaluate_all("(all) => all.map((each) => each.scrollWidth <= each.clientWidth)") == [True] * 9


def test_the_branch_letter_fits_beside_a_number_of_two_digits(opened: Callable[..., Page]) -> None:
    page = opened()
    for count in range(1, 10):
        page.keyboard.press("d")
        expect(events(page)).to_have_count(count + 1)
    events(page).nth(2).click()
    expect(events(page)).to_have_count(11)
    page.keyboard.press("d")
    cell = events(page).nth(11).locator("td").first
    expect(cell).to_have_text(re.compile("11.*b"))
    assert cell.evaluate("(cell) => cell.scrollWidth <= cell.clientWidth")


def test_the_lesson_is_one_press_away(shown: Page) -> None:
    page = shown
    heading = page.locator(".lesson h2")
    expect(heading).not_to_be_in_viewport()
    page.get_by_role("button", name="lesson").click()
    expect(heading).to_be_in_viewport()


def test_a_telephone_gets_the_narrow_page(browser: Browser, served: str) -> None:
    with urllib.request.urlopen(served, timeout=60) as answer:
        assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in answer.read().decode()
    context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True)
    page = context.new_page()
    page.goto(served)
    page.wait_for_function(DRAWN, timeout=PATIENCE)
    assert page.evaluate("innerWidth") == 390
    context.close()
