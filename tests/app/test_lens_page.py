"""The token lens in a real Chromium: linked with the picture both ways, by mouse and by keyboard."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sim.presets import builtin, dumps_preset
from tests.page import events

pytestmark = pytest.mark.browser

#: Within every shadow root: the first element that a selector finds.
DEEP = """(selector) => {
  const roots = [document]
  while (roots.length) for (const each of roots.pop().querySelectorAll("*")) {
    if (each.shadowRoot) roots.push(each.shadowRoot)
    if (each.matches(selector)) return each
  }
}"""
POINTED = """() => {
  const {x, y} = Bokeh.documents[0].get_model_by_name("pointed").data
  return [Array.from(x), Array.from(y)]
}"""
#: The tip of a site's arrow in the picture's numbers and on the screen.
TIP = """(site) => {
  const document = Bokeh.documents[0], plane = document.get_model_by_name("plane")
  const {x, y, site: sites} = document.get_model_by_name("arrows").data, i = sites.indexOf(site)
  const box = Bokeh.index.find_one(plane).el.getBoundingClientRect(), {x_range: X, y_range: Y} = plane
  return {tip: [x[i], y[i]], left: box.left + (x[i] - X.start) / (X.end - X.start) * plane.inner_width,
          top: box.top + (Y.end - y[i]) / (Y.end - Y.start) * plane.inner_height}
}"""
INSIDE = f"""() => {{
  const inner = ({DEEP})(".token.pointed").getBoundingClientRect()
  const outer = ({DEEP})(".tokens .scroll").getBoundingClientRect()
  return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1
}}"""


def with_tokens(page: Page) -> Page:
    """The page with the lens open and its numbers complete."""
    page.get_by_role("tab", name="Tokens").click()
    expect(page.locator(".token").first).to_be_visible()
    expect(page.locator(".held .pending")).to_have_count(0)
    return page


def tell(page: Page, site: int | None) -> None:
    """Points at a site as the picture does."""
    page.evaluate(
        "(site) => window.dispatchEvent(new CustomEvent('gradcloud-point', {detail: {site, from: 'plane'}}))", site
    )


def token(page: Page, site: int) -> Any:
    return page.locator(f".token[data-site='{site}']")


def site_of(page: Page, selector: str = ".token.with:not(.faint)", nth: int = 0) -> int:
    return int(page.locator(selector).nth(nth).get_attribute("data-site") or -1)


def test_pointing_at_a_token_marks_its_arrow(shown: Page) -> None:
    page = with_tokens(shown)
    site = site_of(page)
    token(page, site).hover()
    page.wait_for_function(f"([x, y]) => JSON.stringify(({POINTED})()) === JSON.stringify([[x], [y]])",
                           arg=page.evaluate(TIP, site)["tip"])  # fmt: skip
    expect(page.locator(".pointed-at")).to_have_text(re.compile(r"pulls with the update, [\d.]+ %"))
    page.get_by_label("Shade by").hover()
    page.wait_for_function(f"() => ({POINTED})()[0].length === 0")
    expect(page.locator(".token.pointed")).to_have_count(0)


def test_pointing_at_an_arrow_marks_its_token_within_the_lens_and_moves_nothing_else(
    shown: Page,
) -> None:
    page = with_tokens(shown)
    last = page.locator(".answer").last
    told = last.locator(".token").evaluate_all("(all) => all.map((each) => Number(each.dataset.site))")
    # Of the last answer, which is out of sight, the token whose arrow has most room around its tip.
    site = max(told, key=lambda each: page.evaluate(f"(site) => Math.hypot(...({TIP})(site).tip)", each))
    at = page.evaluate(TIP, site)
    page.mouse.move(at["left"], at["top"])
    marked = page.locator(".token.pointed")
    expect(page.locator(".pointed-at")).not_to_be_empty()
    pointed = page.evaluate("() => Bokeh.documents[0].get_model_by_name('pointed').data")
    assert len(pointed["x"]) == 1
    tell(page, site)
    expect(marked).to_have_attribute("data-site", str(site))
    assert page.evaluate(INSIDE)
    assert page.evaluate("() => document.scrollingElement.scrollTop") == 0
    tell(page, None)
    expect(marked).to_have_count(0)


def test_the_mouse_on_an_arrow_finds_its_token_or_says_where_it_stands(opened: Callable[..., Page]) -> None:
    page = with_tokens(opened("?preset=rl-small-batch"))
    strongest = page.evaluate("() => Bokeh.documents[0].get_model_by_name('arrows').data.site.at(-1)")
    at = page.evaluate(TIP, strongest)
    page.mouse.move(at["left"], at["top"])
    expect(page.locator(".token.pointed")).to_have_attribute("data-site", str(strongest))
    assert page.evaluate(INSIDE)


def test_a_token_whose_answer_is_not_shown_is_told_in_words(shown: Page) -> None:
    page = with_tokens(shown)
    shown = page.locator(".token").evaluate_all("(all) => all.map((each) => Number(each.dataset.site))")
    drawn = page.evaluate("() => Array.from(Bokeh.documents[0].get_model_by_name('arrows').data.site)")
    hidden = next(site for site in drawn if site not in shown)
    tell(page, hidden)
    expect(page.locator(".pointed-at")).to_have_text(
        re.compile(r"^“.+” (after “.+” )?stands in answer \d+ of 128; 12 are shown$")
    )
    expect(page.locator(".token.pointed")).to_have_count(0)


def test_more_answers_are_shown_on_request_and_placed_once(shown: Page) -> None:
    page = with_tokens(shown)
    expect(page.locator(".counted")).to_have_text("12 of 128 answers: those of the strongest pull")
    page.get_by_role("listbox", name="Tokens of the answers").evaluate("""(box) => {
      window.placed = 0
      new MutationObserver((all) => { window.placed += all.length }).observe(box, {childList: true})
    }""")
    page.get_by_role("button", name="More answers").click()
    expect(page.locator(".answer")).to_have_count(24)
    expect(page.locator(".counted")).to_have_text("24 of 128 answers: those of the strongest pull")
    assert page.evaluate("window.placed") == 1


def test_tokens_are_reached_moved_between_and_picked_out_by_the_keyboard(opened: Callable[..., Page]) -> None:
    page = with_tokens(opened())
    rows = page.locator(".answer")
    assert page.locator(".token[tabindex='0']").count() == 1
    page.locator("summary", has_text="Strongest pulls").focus()
    for _ in range(5):
        page.keyboard.press("Tab")
    expect(rows.nth(0).locator(".token").nth(0)).to_be_focused()
    for key, row, at in [
        ("ArrowRight", 0, 1), ("ArrowRight", 0, 2), ("ArrowLeft", 0, 1), ("ArrowDown", 1, 1), ("ArrowDown", 2, 1),
        ("ArrowUp", 1, 1), ("ArrowUp", 0, 1), ("ArrowUp", 0, 1), ("Home", 0, 0), ("ArrowLeft", 0, 0),
    ]:  # fmt: skip
        page.keyboard.press(key)
        expect(rows.nth(row).locator(".token").nth(at)).to_be_focused()
    page.keyboard.press("End")
    expect(rows.nth(0).locator(".token").last).to_be_focused()
    page.keyboard.press("Control+End")
    expect(page.locator(".token").last).to_be_focused()
    assert page.locator(".token[tabindex='0']").count() == 1
    page.keyboard.press("Control+Home")
    focused = page.locator(".token").first
    page.wait_for_function(f"() => ({POINTED})()[0].length === 1")
    assert re.fullmatch(r"\S+, pulls (with|against) the update, .* %", focused.get_attribute("aria-label") or "")
    page.keyboard.press("Enter")
    expect(focused).to_have_attribute("aria-selected", "true")
    details = page.locator(".kept")
    expect(details).to_contain_text("student gives it")
    page.keyboard.press("Escape")
    expect(focused).to_have_attribute("aria-selected", "false")
    expect(details).to_contain_text("Click a token")
    page.keyboard.press(" ")
    expect(focused).to_have_attribute("aria-selected", "true")
    expect(focused).to_be_focused()
    expect(events(page)).to_have_count(1)
    expect(page.get_by_role("button", name="Play")).to_have_count(1)


def test_a_pull_in_words_points_at_its_arrow_and_picks_its_token_out(shown: Page) -> None:
    page = with_tokens(shown)
    lines = page.locator(".pulls button")
    expect(lines.first).to_have_text(re.compile(r"^\S+ after .+: the hinted teacher wants \S+; [\d.]+ % of the update"))
    assert page.locator(".pulls button:visible").count() == 3
    page.get_by_role("button", name="All 10").click()
    assert page.locator(".pulls button:visible").count() == 10
    line = lines.nth(4)
    site = int(line.get_attribute("data-site") or -1)
    line.hover()
    page.wait_for_function(f"([x, y]) => JSON.stringify(({POINTED})()) === JSON.stringify([[x], [y]])",
                           arg=page.evaluate(TIP, site)["tip"])  # fmt: skip
    line.click()
    expect(line).to_have_attribute("aria-pressed", "true")
    expect(token(page, site)).to_have_attribute("aria-selected", "true")
    line.click()
    expect(token(page, site)).to_have_attribute("aria-selected", "false")


def test_an_arrow_that_is_picked_out_is_picked_out_in_the_lens(opened: Callable[..., Page]) -> None:
    page = with_tokens(opened("?preset=rl-small-batch"))
    strongest = page.evaluate("() => Bokeh.documents[0].get_model_by_name('arrows').data.site.at(-1)")
    at = page.evaluate(TIP, strongest)
    page.mouse.click(at["left"], at["top"])
    expect(token(page, strongest)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".kept")).to_contain_text("gradient's norm")


def test_a_selection_survives_a_clip_and_goes_with_another_draw(opened: Callable[..., Page]) -> None:
    page = with_tokens(opened())
    site = site_of(page)
    token(page, site).click()
    expect(token(page, site)).to_have_attribute("aria-selected", "true")
    page.get_by_role("switch", name="Clip", exact=True).click()
    expect(page.locator(".kept")).to_contain_text("; clipped")
    expect(token(page, site)).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Draw").click()
    expect(page.locator(".kept")).to_contain_text("Click a token")
    expect(page.locator(".token[aria-selected='true']")).to_have_count(0)


def test_tokens_are_shaded_by_what_is_chosen_on_a_scale_with_numbers(opened: Callable[..., Page]) -> None:
    page = with_tokens(opened())
    legend, first = page.locator(".tokens .legend"), page.locator(".token").first
    for choice, label, scale in [
        ("norm", r"gradient's norm [\d.]+", r"^0[\d.]+"),
        ("kl", r"KL to the teacher .* nats$", r"^0 nats.* nats$"),
        ("signal", r"signal .* nats$", r"^−.* nats.*0 nats.* nats$"),
        ("student_p", r"student's probability [\d.]+$", r"^00\.2501\.00$"),
        ("share", r"pulls (with|against) the update, ", r"^−[\d.]+ %.*0 %.* %$"),
    ]:
        page.get_by_label("Shade by").select_option(choice)
        expect(first).to_have_attribute("aria-label", re.compile(label))
        expect(legend).to_have_text(re.compile(scale))
    against = page.locator(".token.against:not(.faint)")
    if not against.count():
        page.get_by_label("Preset", exact=True).select_option("sft-rejection")
        expect(against.first).to_be_attached()
    assert against.first.evaluate("(it) => getComputedStyle(it).borderBottomStyle") == "dashed"
    plain = page.locator(".token.with").first
    assert plain.evaluate("(it) => getComputedStyle(it).borderBottomStyle") == "solid"


def test_a_batch_without_an_update_says_why_no_token_is_shaded(opened: Callable[..., Page], tmp_path: Path) -> None:
    page = with_tokens(opened())
    # One answer has no others to be compared with.
    value = json.loads(dumps_preset(builtin("rl-small-batch")))
    value["config"]["source"] |= {"prompts": 1, "group_size": 1}
    path = tmp_path / "alone.json"
    path.write_text(json.dumps(value), "utf-8")
    page.get_by_label("Preset file").set_input_files(path)
    reason = "the update is zero"
    expect(page.locator(".tokens").get_by_text(f"No token pulls: {reason}")).to_be_visible()
    expect(page.locator(".answer")).to_have_count(1)
    expect(page.locator(".tokens .legend + .missing")).to_contain_text(reason)
    expect(page.locator(".token").first).to_have_attribute(
        "aria-label", re.compile("share of the update undetermined$")
    )
    expect(page.locator(".token.with, .token.against")).to_have_count(0)
    page.get_by_label("Shade by").select_option("student_p")
    expect(page.locator(".token.plain").first).to_be_visible()
