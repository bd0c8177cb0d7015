"""The picture as a table, in a real Chromium."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app.numbers import significant
from tests.page import events

pytestmark = pytest.mark.browser

LENGTHS = "() => Array.from(Bokeh.documents[0].get_model_by_name('arrows').data.length).reverse()"


def test_every_arrow_that_is_drawn_is_a_row_of_the_table_the_longest_first(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch")
    fold = page.locator("summary", has_text="The picture as a table")
    expect(page.locator(".as-table table")).to_have_count(0)
    fold.focus()
    page.keyboard.press("Enter")
    rows, pager = page.locator(".as-table .arrows tbody tr"), page.locator(".pager span")
    drawn = page.evaluate(LENGTHS)
    pages = -(-len(drawn) // 25)
    told: list[str] = []
    for number in range(1, pages + 1):
        expect(pager).to_contain_text(f"page {number} of {pages}")
        # The column of the lengths.
        told += rows.evaluate_all("(all) => all.map((row) => row.cells[6].textContent)")
        if number < pages:
            page.get_by_role("button", name="Next page").click()
    assert told == [significant(float(each)) for each in drawn]
    # Beyond the end there is nothing, and the button keeps the focus.
    after = page.get_by_role("button", name="Next page")
    after.focus()
    page.keyboard.press("Enter")
    expect(after).to_be_focused()
    page.get_by_role("button", name="Previous page").click()
    expect(pager).to_contain_text(f"page {pages - 1} of {pages}")


def test_the_table_follows_the_picture_and_every_number_has_a_heading(opened: Callable[..., Page]) -> None:
    page = opened()
    page.locator("summary", has_text="The picture as a table").click()
    first = page.locator(".as-table .arrows tbody tr").first
    before = first.text_content()
    page.get_by_role("button", name="Draw", exact=True).click()
    expect(events(page)).to_have_count(2)
    expect(first).not_to_have_text(before or "")
    expect(page.get_by_role("table", name="The trail")).to_be_visible()
    for name in ("The averaged update", "The safe radius", "The scale", "The readings", "The arrows"):
        table = page.get_by_role("table", name=name)
        expect(table).to_be_visible()
        columns = table.locator("thead th").count()
        assert columns >= 2
        counts = table.locator("tbody tr").evaluate_all("(all) => all.map((row) => row.cells.length)")
        assert set(counts) == {columns}
        expect(table.locator("tbody th[scope=row]")).to_have_count(len(counts))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
