"""A reload, a broken socket, a server that was restarted, a laptop that slept: all come back to the same event."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.page import DRAWN, PATIENCE, events
from tests.server import free_port, serving

pytestmark = pytest.mark.browser

ARROWS = """() => {
  const {x, y} = Bokeh.documents[0].get_model_by_name("arrows").data
  return JSON.stringify([Array.from(x), Array.from(y)])
}"""
#: Lets a test close the page's connections, as a network does.
SOCKETS = """
window.sockets = []
const Plain = window.WebSocket
window.WebSocket = class extends Plain { constructor(...given) { super(...given); window.sockets.push(this) } }
"""
BREAK = "() => { window.broken = true; for (const socket of window.sockets) socket.close() }"
HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", {value: hidden, configurable: true})
  Object.defineProperty(document, "visibilityState", {value: hidden ? "hidden" : "visible", configurable: true})
  document.dispatchEvent(new Event("visibilitychange"))
}"""
#: An entry of the history that knows its visit and not its event yet, as that of who leaves within half a second.
UNMARKED = "() => history.replaceState({gradcloud: {tab: history.state.gradcloud.tab}}, '')"
BACK = """() => !window.broken && document.documentElement.style.visibility === ""
  && performance.getEntriesByType("navigation")[0].type === "reload" """


@pytest.fixture
def breakable(page: Page) -> Page:
    page.add_init_script(SOCKETS)
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    return page


def log(page: Page) -> list[str]:
    """What the log says was done, and where."""
    return page.evaluate("""() => {
      const roots = [document]
      for (const root of roots) {
        for (const each of root.querySelectorAll("*")) if (each.shadowRoot) roots.push(each.shadowRoot)
      }
      const table = roots.map((root) => root.querySelector(".log table")).find(Boolean)
      const rows = Array.from(table.querySelectorAll("tbody tr"))
      return rows.map((row) => [row.classList[0], row.getAttribute("aria-current"),
        ...Array.from(row.cells).slice(0, 3).map((cell) => cell.textContent)].join(" | "))
    }""")


def act(page: Page, address: str, query: str = "?preset=opsd-collapse") -> tuple[list[str], Any]:
    """Three draws, a clip and a return to the second; what the log and the picture are then."""
    page.goto(address + query)
    page.wait_for_function(DRAWN)
    for i in (1, 2, 3):
        page.get_by_role("button", name="Draw", exact=True).click()
        expect(events(page).nth(i)).to_contain_text(re.compile("inside|near|past"))
    page.get_by_role("switch", name="Clip", exact=True).click()
    expect(events(page).nth(4)).to_contain_text(re.compile("clip on.*(inside|near|past)", re.DOTALL))
    events(page).nth(2).click()
    expect(events(page).nth(5)).to_contain_text(re.compile("back to #2.*(inside|near|past)", re.DOTALL))
    expect(page.get_by_role("switch", name="Clip", exact=True)).not_to_be_checked()
    page.wait_for_function("() => Object.values(sessionStorage).some((text) => text.includes('back to #2'))")
    return log(page), page.evaluate(ARROWS)


def came_back(page: Page, before: tuple[list[str], Any]) -> None:
    """Wait until the page is back, and look whether all is as it was."""
    page.wait_for_function(BACK)
    page.wait_for_function(DRAWN)
    page.wait_for_function(f"(arrows) => ({ARROWS})() === arrows", arg=before[1])
    expect(events(page)).to_have_count(len(before[0]))
    assert log(page) == before[0]
    expect(page.get_by_role("switch", name="Clip", exact=True)).not_to_be_checked()
    expect(page.get_by_role("alert").filter(has_text="connection lost")).to_have_count(0)


def goes_on(page: Page) -> None:
    page.get_by_role("button", name="Draw", exact=True).click()
    expect(events(page).nth(6)).to_contain_text("batch 3 drawn")


def test_a_reload_and_a_broken_socket_that_is_told_come_back_to_the_same_event(breakable: Page, served: str) -> None:
    before = act(breakable, served)
    breakable.reload()
    came_back(breakable, before)
    breakable.evaluate(UNMARKED)
    breakable.reload()
    came_back(breakable, before)
    breakable.evaluate(BREAK)
    expect(breakable.get_by_role("alert").filter(has_text="connection lost")).to_be_visible()
    came_back(breakable, before)
    goes_on(breakable)


@pytest.mark.slow
def test_a_laptop_that_slept_until_the_server_forgot_it_and_one_whose_server_was_restarted_come_back_to_the_same_event(
    breakable: Page, tmp_path: Path
) -> None:
    port = free_port()
    short = ("--unused-session-lifetime", "100", "--check-unused-sessions", "100")
    with serving(tmp_path, port=port, more=short) as address:
        before = act(breakable, address)
        # Asleep, nothing of the page runs: it neither polls nor comes back before somebody looks.
        breakable.evaluate(HIDE, True)
        breakable.evaluate(BREAK)
        breakable.wait_for_timeout(3000)
        assert breakable.evaluate("window.broken")
        breakable.evaluate(HIDE, False)
        came_back(breakable, before)
        breakable.evaluate("() => { window.broken = true }")
    expect(breakable.get_by_role("alert").filter(has_text="connection lost")).to_be_visible()
    with serving(tmp_path, port=port):
        came_back(breakable, before)
        goes_on(breakable)


def test_another_address_and_the_same_one_anew_begin_anew(breakable: Page, served: str) -> None:
    before = act(breakable, served)
    breakable.goto(served + "?preset=rl-small-batch")
    breakable.wait_for_function(DRAWN)
    expect(events(breakable)).to_have_count(1)
    expect(breakable.get_by_label("Preset", exact=True)).to_have_value("rl-small-batch")
    breakable.go_back()
    breakable.wait_for_function(f"(arrows) => window.Bokeh?.documents[0] && ({ARROWS})() === arrows", arg=before[1])
    expect(events(breakable)).to_have_count(6)
    breakable.goto(served + "?preset=opsd-collapse")
    breakable.wait_for_function(DRAWN)
    expect(events(breakable)).to_have_count(1)
    breakable.reload()
    breakable.wait_for_function(DRAWN)
    expect(events(breakable)).to_have_count(1)


def test_another_preset_and_ones_own_settings_come_back_too(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch")
    page.get_by_label("Preset", exact=True).select_option("sft-fan")
    expect(events(page).nth(1)).to_contain_text(re.compile("inside|near|past"))
    page.get_by_role("button", name="Step", exact=True).click()
    expect(events(page).nth(2)).to_contain_text(re.compile("step 1 taken.*(inside|near|past)", re.DOTALL))
    page.wait_for_function("() => Object.values(sessionStorage).some((text) => text.includes('step 1 taken'))")
    before = (log(page), page.evaluate(ARROWS))
    page.reload()
    page.wait_for_function(DRAWN)
    page.wait_for_function(f"(arrows) => ({ARROWS})() === arrows", arg=before[1])
    expect(events(page)).to_have_count(len(before[0]))
    assert log(page) == before[0]
    expect(page.get_by_label("Preset", exact=True)).to_have_value("sft-fan")
    events(page).nth(0).click()
    expect(page.get_by_label("Preset", exact=True)).to_have_value("rl-small-batch")


def test_what_a_tab_had_kept_is_refused_in_words_if_it_is_broken(breakable: Page, served: str) -> None:
    breakable.goto(served + "?preset=sft-dft")
    breakable.wait_for_function(DRAWN)
    breakable.get_by_role("button", name="Draw", exact=True).click()
    breakable.wait_for_function("() => Object.values(sessionStorage).some((text) => text.includes('batch 1 drawn'))")
    breakable.wait_for_function("() => window.location.search.includes('draw=1')")
    breakable.evaluate("""() => {
      addEventListener("pagehide", () => {
        for (const key of Object.keys(sessionStorage)) sessionStorage.setItem(key, '{"schema_version": 1, "<b>": 2}')
      })
    }""")
    breakable.reload()
    expect(breakable.get_by_role("alert").filter(has_text="<b>")).to_be_visible()
    breakable.wait_for_function(DRAWN)
    # What the address says is left: the preset, and the batch that was on show.
    expect(events(breakable)).to_have_count(2)
