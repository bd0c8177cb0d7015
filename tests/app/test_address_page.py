"""In a browser: the address is what is on show, and back, forward, reload and another site lose nothing."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from app.views.address import STILL
from sim.link import parse_link
from tests.page import DRAWN, events, verdict

pytestmark = pytest.mark.browser

#: Two prompts of a preset whose every batch has a signal.
SMALL = "?preset=opsd-collapse&view=1;source.prompts=2;source.group_size=4"
#: Counts what the page does to its history, and what the browser says of it.
COUNTED = """
window.changes = {pushState: 0, replaceState: 0}
for (const name of Object.keys(changes)) {
  const plain = history[name]
  history[name] = function (...given) { window.changes[name] += 1; return plain.apply(this, given) }
}
"""
NO_STORAGE = """
Object.defineProperty(window, "sessionStorage", {get() { throw new DOMException("no storage here", "SecurityError") }})
"""


def at(page: Page, query: str) -> None:
    """Wait until the address has this query."""
    page.wait_for_function("(query) => location.search === query", arg=query)


def shown(page: Page, count: int) -> tuple[str, str]:
    """The verdict and the clock, once the log has so many events, and both say what its newest says."""
    expect(events(page)).to_have_count(count)
    expect(events(page).last).to_contain_text(re.compile("inside|near|past"))
    # A page that comes back stays blank until its picture is there, and what is not seen has no text of its own.
    expect(events(page).last).to_be_visible()
    _, _, moment, _, said = events(page).last.inner_text().split("\t")
    step, draw = moment.split(".")
    expect(verdict(page)).to_contain_text(said)
    expect(clock(page)).to_have_text(f"step {step}, draw {draw}")
    return verdict(page).inner_text(), clock(page).inner_text()


def kept(page: Page, count: int) -> None:
    """Wait until the tab has kept so many events, which it does within a second or so."""
    lengths = "Object.values(sessionStorage).map((text) => JSON.parse(text).events.length)"
    page.wait_for_function(f"(count) => {lengths}.includes(count)", arg=count)


def clock(page: Page) -> Locator:
    return page.get_by_text(re.compile(r"^step \d+, draw \d+$")).first


def press(page: Page, button: str) -> None:
    page.get_by_role("button", name=button, exact=True).click()


@pytest.fixture
def counted(opened: Callable[..., Page], page: Page) -> Callable[..., Page]:
    """Opens a page that counts changes of its history and collects what the browser complains of."""
    page.add_init_script(COUNTED)
    page.complaints = []  # type: ignore[attr-defined]
    page.on("console", lambda message: complained(page, message))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))  # type: ignore[attr-defined]
    return opened


def complained(page: Any, message: Any) -> None:
    if message.type in ("error", "warning"):
        page.complaints.append(message.text)


def test_the_address_of_a_link_stays_what_it_was_and_what_it_says_is_on_show(opened: Callable[..., Page]) -> None:
    query = f"{SMALL};clip.on=true;step=1;draw=2;theme=dark;scale=linear;token=4"
    page = opened(query)
    shown(page, 2)
    expect(clock(page)).to_have_text("step 1, draw 2")
    expect(page.get_by_role("switch", name="Clip", exact=True)).to_be_checked()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.wait_for_function("() => history.state?.gradcloud?.event === 1")
    page.wait_for_timeout(800)
    at(page, query)
    assert [row.split("\t")[1] for row in events(page).all_inner_texts()][1] == "as the link has it"


def test_back_and_forward_show_what_was_on_show_and_the_log_stays(opened: Callable[..., Page]) -> None:
    page = opened(SMALL)
    seen = [shown(page, 2)]
    queries = [SMALL]
    at(page, queries[0])
    length = page.evaluate("history.length")
    press(page, "Step")
    queries.append(queries[0] + ";step=1")
    at(page, queries[1])
    seen.append(shown(page, 3))
    press(page, "Draw")
    queries[1] = queries[0] + ";step=1;draw=1"
    at(page, queries[1])
    seen[1] = shown(page, 4)
    page.get_by_role("slider", name="Prefixes from").press("ArrowLeft")
    page.wait_for_function("() => location.search.includes('source.alpha=0.95')")
    queries.append(page.evaluate("location.search"))
    seen.append(shown(page, 5))
    page.get_by_label("Preset", exact=True).select_option("sft-fan")
    queries.append("?preset=sft-fan")
    at(page, queries[3])
    seen.append(shown(page, 6))
    assert page.evaluate("history.length") == length + 3
    here, count = 3, 6
    for way in ("back", "back", "forward", "back", "back", "forward", "forward", "forward"):
        page.evaluate(f"history.{way}()")
        here += 1 if way == "forward" else -1
        count += 1
        at(page, queries[here])
        assert shown(page, count) == seen[here]
    assert page.evaluate("history.length") == length + 3
    page.evaluate("history.go(-2)")
    at(page, queries[1])
    expect(events(page)).to_have_count(count + 1)
    kept(page, count + 1)

    # A reload is where it was, with all of the log, and so is coming back from another site.
    page.reload()
    page.wait_for_function(DRAWN)
    assert (page.evaluate("location.search"), shown(page, count + 1)) == (queries[1], seen[1])
    page.goto("about:blank")
    page.go_back()
    page.wait_for_function(DRAWN)
    assert (page.evaluate("location.search"), shown(page, count + 1)) == (queries[1], seen[1])

    # From another site straight to an older entry: its moment is on show, and the log has the rest.
    page.goto("about:blank")
    page.evaluate("history.go(-2)")
    page.wait_for_function(DRAWN)
    assert (page.evaluate("location.search"), shown(page, count + 2)) == (queries[0], seen[0])
    page.get_by_label("Preset", exact=True).select_option("sft-fan")
    at(page, "?preset=sft-fan")


def test_bad_values_are_named_on_the_page_and_the_rest_is_on_show(opened: Callable[..., Page]) -> None:
    page = opened(SMALL.replace("view=1", "view=2;draw=3&view=1") + ";draw=2;%3Ci%3Ehue=1;token=99999")
    alert = page.get_by_role("alert").locator("li")
    expect(alert).to_have_count(3)
    expect(page.get_by_role("alert").locator("b")).to_have_text("Some of the link was left out")
    expect(alert).to_contain_text([
        "the address: view: given 2 times", 'the address: "<i>hue": unknown key', "token: got 99999, allowed 0 to",
    ])  # fmt: skip
    expect(clock(page)).to_have_text("step 0, draw 2")
    expect(events(page).last).to_contain_text("as the link has it, in part")
    at(page, f"{SMALL};draw=2")
    page.get_by_label("Preset file").set_input_files({"name": "a.json", "mimeType": "", "buffer": b"{}"})
    expect(page.get_by_role("alert").locator("b")).to_have_text("Nothing was changed")


def test_an_address_of_before_is_rewritten_and_other_parameters_stay(opened: Callable[..., Page]) -> None:
    page = opened("?theme=dark&embed=0&preset=rl-small-batch#term-density")
    at(page, "?preset=rl-small-batch&view=1;theme=dark&embed=0")
    assert page.evaluate("location.hash") == "#term-density"
    expect(page.get_by_role("dialog")).to_be_visible()
    page = opened("?embed=0&amp;preset=rl-small-batch&amp;view=1;theme=dark#term-density")
    at(page, "?preset=rl-small-batch&view=1;theme=dark&embed=0")
    assert page.evaluate("location.hash") == "#term-density"
    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_link_with_a_log_brings_the_log_and_the_address_goes_without(opened: Callable[..., Page]) -> None:
    page = opened(SMALL)
    for count, act in enumerate(("Draw", "Step", "Draw"), 3):
        press(page, act)
        shown(page, count)
    press(page, "Share")
    link = page.evaluate("""() => {
      const roots = [document]
      for (const root of roots) {
        for (const each of root.querySelectorAll("*")) if (each.shadowRoot) roots.push(each.shadowRoot)
      }
      return new Promise((done) => {
        const look = () => {
          const fields = roots.flatMap((root) => [...root.querySelectorAll("input, textarea")])
          const found = fields.map((field) => field.value).find((value) => value.includes(";log="))
          if (found) done(found)
          else setTimeout(look, 50)
        }
        look()
      })
    }""")
    assert parse_link(link)[1] == []
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_function(DRAWN)
    expect(events(page)).to_have_count(5)
    page.wait_for_function("() => !location.search.includes('log=') && location.search.includes('draw=1')")
    page.reload()
    page.wait_for_function(DRAWN)
    expect(events(page)).to_have_count(5)


def test_play_at_ten_times_floods_nothing_and_makes_no_entry(counted: Callable[..., Page]) -> None:
    page = counted(SMALL)
    shown(page, 2)
    length, before = page.evaluate("[history.length, {...changes}]")
    page.get_by_role("combobox", name="Speed").select_option("10")
    began = page.evaluate("performance.now()")
    press(page, "Play")
    page.wait_for_timeout(6000)
    expect(events(page).nth(7)).to_be_visible()
    press(page, "Pause")
    # The server says that it has paused after all that it drew.
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    _, moment = shown(page, events(page).count())
    at(page, f"{SMALL};draw={moment.split()[-1]}")
    after, seconds = page.evaluate("(began) => [{...changes}, (performance.now() - began) / 1000]", began)
    assert after["pushState"] == before["pushState"]
    assert 2 <= after["replaceState"] - before["replaceState"] <= seconds / STILL + 1
    assert page.evaluate("history.length") == length
    assert page.complaints == []  # type: ignore[attr-defined]


def test_a_frame_in_a_deck_makes_no_entry_and_its_address_follows(counted: Callable[..., Page]) -> None:
    page = counted(f"{SMALL}&embed=1")
    expect(events(page)).to_have_count(2)
    length = page.evaluate("history.length")
    press(page, "Step")
    at(page, f"{SMALL};step=1&embed=1")
    page.get_by_role("switch", name="Clip", exact=True).click()
    page.wait_for_function("() => location.search.includes('clip.on=true')")
    assert page.evaluate("[history.length, changes.pushState]") == [length, 0]
    assert page.complaints == []  # type: ignore[attr-defined]


def test_where_nothing_may_be_stored_the_address_alone_brings_the_picture_back(
    opened: Callable[..., Page], page: Page
) -> None:
    page.add_init_script(NO_STORAGE)
    opened(SMALL)
    for count, act in enumerate(("Draw", "Step"), 3):
        press(page, act)
        before = shown(page, count)
    page.wait_for_function("() => location.search.includes('step=1')")
    page.reload()
    page.wait_for_function(DRAWN)
    assert shown(page, 2) == before


def test_an_entry_of_the_glossary_is_an_address_and_changes_nothing_else(opened: Callable[..., Page]) -> None:
    page = opened(SMALL)
    press(page, "Step")
    shown(page, 3)
    at(page, f"{SMALL};step=1")
    page.evaluate("() => { location.hash = 'term-density' }")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.go_back()
    page.wait_for_timeout(500)
    expect(events(page)).to_have_count(3)
    at(page, f"{SMALL};step=1")
    page.go_forward()
    page.wait_for_timeout(500)
    expect(events(page)).to_have_count(3)
    assert page.evaluate("Boolean(history.state.gradcloud.tab)")
