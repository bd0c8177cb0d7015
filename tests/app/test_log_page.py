"""A full event log in a real Chromium: rows in groups, and all of them one table."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from sim.timeline import LIMIT
from tests.app.conftest import SMALL, full_log
from tests.page import events

pytestmark = pytest.mark.browser

GROUP = 50
#: The number of each row, and of the group that it stands in.
PLACES = """(rows) => rows.map((row) => [Number(row.dataset.index), Number(row.parentElement.dataset.index)])"""


def places(page: Page) -> list[tuple[int, int]]:
    found = events(page).evaluate_all(PLACES)
    return [(index, group) for index, group in found]


def test_a_full_log_is_one_table_in_groups(opened: Callable[..., Page], tmp_path: Path) -> None:
    page = opened()
    rows, groups = events(page), page.locator(".log tbody")
    path = tmp_path / "session.json"
    path.write_text(full_log(SMALL), "utf-8")
    page.get_by_label("Preset file").set_input_files(path)
    expect(rows).to_have_count(LIMIT)
    expect(rows.last).to_be_in_viewport()
    # The first event is kept always, and of the others the newest.
    numbers = [index for index, _ in places(page)]
    oldest = numbers[1]
    assert numbers == [0, *range(oldest, oldest + LIMIT - 1)]

    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    roles = Counter(node["role"]["value"] for node in tree if not node["ignored"])
    assert roles["row"] == LIMIT + 1
    assert roles["cell"] == LIMIT * roles["columnheader"]

    returning = rows.nth(1).get_by_role("button")
    returning.focus()
    expect(returning).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(rows.last.get_by_role("button")).to_have_text(str(oldest + LIMIT - 1))
    expect(rows.last).to_be_in_viewport()
    for n in range(GROUP):
        rows.first.get_by_role("button").click()
        expect(rows.nth(1).get_by_role("button")).to_have_text(str(oldest + n + 2))
    expect(rows).to_have_count(LIMIT)
    assert all(group == index // GROUP for index, group in places(page))
    expect(groups).to_have_count(len({group for _, group in places(page)}))

    page.get_by_role("button", name="Clear log").click()
    expect(rows).to_have_count(1)
    expect(groups).to_have_count(1)
