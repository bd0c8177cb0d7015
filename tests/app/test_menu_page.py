"""The head of the page and the player in a real Chromium: themes, speed, the ways back, and the page by keyboard."""

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from app.palette import THEMES
from app.session import SPEEDS
from app.views.landmarks import PICTURE
from app.views.menu import FAMILIES, families
from sim.presets import names
from tests.page import LAID_OUT, events, verdict

WAYS_BACK = ("First", "Back", "Newest", "Reset", "Clear log")
#: What has the focus, through the shadow roots: its role and name, or the words in it.
FOCUSED = """() => {
  let each = document.activeElement
  while (each.shadowRoot?.activeElement) each = each.shadowRoot.activeElement
  const name = each.getAttribute("aria-label") ?? each.labels?.[0]?.textContent ?? each.textContent
  return [each.getAttribute("role") ?? each.localName, name.trim(), getComputedStyle(each).outlineStyle]
}"""
#: Everything on the page that moves by itself for some time, by its style.
MOVING = """() => {
  const roots = [document], moving = []
  while (roots.length) for (const each of roots.pop().querySelectorAll("*")) {
    if (each.shadowRoot) roots.push(each.shadowRoot)
    if (!each.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue
    for (const part of [null, "::before", "::after"]) {
      const {transitionDuration, animationName, scrollBehavior} = getComputedStyle(each, part)
      if (/[1-9]/.test(transitionDuration) || animationName !== "none" || scrollBehavior === "smooth") {
        moving.push(each.outerHTML.slice(0, 80))
      }
    }
  }
  return moving
}"""
ROW = """(part) => {
  const page = [...document.querySelectorAll("*")].map((each) => each.shadowRoot).find(Boolean)
  const bar = page.querySelector(`.${part}`).shadowRoot.querySelector(".bar"), box = bar.getBoundingClientRect()
  const boxes = [...bar.children].map((each) => each.getBoundingClientRect()).filter(({width}) => width > 2)
  return boxes.every(({left, right}) => left >= box.left - 1 && right <= box.right + 1)
    && boxes.every((one) => boxes.every((other) => one.top < other.bottom))
}"""


def says(asked: dict[str, list[str]], url: str) -> bool:
    return parse_qs(urlsplit(url).query) == asked


def test_every_preset_is_in_the_menu_once_in_its_family() -> None:
    told = families()
    assert [family for family, _ in told] == list(FAMILIES.values())
    assert sorted(name for _, members in told for name, _, _ in members) == sorted(names())
    assert sorted(key for _, members in told for _, _, key in members if key) == list("123456789")


@pytest.mark.browser
def test_a_theme_is_put_on_at_once_stays_in_the_address_and_leaves_menu_and_player_a_line_each(
    opened: Callable[..., Page],
) -> None:
    page = opened("?preset=sft-fan")
    length = page.evaluate("history.length")
    for name, palette in reversed(THEMES.items()):
        page.get_by_role("combobox", name="Theme").select_option(name)
        page.wait_for_function("(name) => document.documentElement.dataset.theme === name", arg=name)
        asked = {"preset": ["sft-fan"]} | ({} if name == "light" else {"view": [f"1;theme={name}"]})
        # The address follows in a moment.
        page.wait_for_url(partial(says, asked))
        paper = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')")
        assert paper.strip() == palette.paper
        page.evaluate(LAID_OUT)
        for part in ("menu", "player"):
            assert page.evaluate(ROW, part), part
        for link in ("Claims", "Compare"):
            leads = parse_qs(urlsplit(page.get_by_role("link", name=link).get_attribute("href") or "").query)
            assert leads["page"] == [link.lower()]
            assert leads.get("theme", ["light"]) == [name]
    assert page.evaluate("history.length") == length


@pytest.mark.browser
def test_compare_opens_this_preset_beside_its_counterpart(opened: Callable[..., Page]) -> None:
    page = opened("?preset=opsd-clipped")
    link = page.get_by_role("link", name="Compare")
    expect(link).to_have_attribute("href", re.compile("with=opsd-clipped%2Copsd-collapse"))
    page.get_by_label("Preset", exact=True).select_option("sft-stress")
    expect(link).to_have_attribute("href", re.compile("with=sft-stress%2C(?!sft-stress)"))


@pytest.mark.browser
def test_compare_takes_over_what_is_on_show(opened: Callable[..., Page]) -> None:
    page = opened("?preset=opsd-collapse")
    page.get_by_role("switch", name="Clip", exact=True).click()
    page.get_by_role("button", name="Step", exact=True).click()
    page.get_by_role("button", name="Draw", exact=True).click()
    page.get_by_label("Theme", exact=True).select_option("dark")
    page.get_by_role("tab", name="Tokens").click()
    page.wait_for_function("() => location.search.includes('side=tokens')")
    with page.expect_popup() as opening:
        page.get_by_role("link", name="Compare").click()
    page = opening.value
    page.wait_for_function("() => /view-a=1;clip.on=[a-z]+;step=1;draw=1;theme=dark&view-b=/.test(location.search)")
    expect(page.get_by_role("region", name="Cell A").locator(".clock")).to_have_text("step 1, draw 1")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    expect(page.get_by_role("alert").filter(has_text="Not as asked")).to_be_hidden()


@pytest.mark.browser
def test_the_speed_is_chosen_and_stays(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch")
    speed = page.get_by_role("combobox", name="Speed")
    expect(speed.locator("option")).to_have_text([f"×{times}" for times in SPEEDS])
    speed.select_option("10")
    # What the server says of each batch sets the speed as well.
    page.get_by_role("button", name="Draw").click()
    expect(page.get_by_text("step 0, draw 1", exact=True)).to_be_visible()
    expect(speed).to_have_value("10")


@pytest.mark.browser
def test_rewind_reset_and_clear_are_three_things(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch")
    page.get_by_role("button", name="Draw").click()
    page.get_by_role("slider", name="Prefixes from").press("ArrowLeft")
    expect(events(page).nth(2)).to_contain_text("α 0.95")
    page.get_by_role("button", name="First").click()
    expect(events(page).nth(3)).to_contain_text("back to #0")
    page.get_by_role("button", name="Newest").click()
    expect(events(page).nth(4)).to_contain_text("back to #2")
    expect(page.get_by_role("slider", name="Prefixes from")).to_have_value("0.95")
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(events(page).nth(5)).to_contain_text("two prompts")
    expect(page.get_by_role("slider", name="Prefixes from")).to_have_value("1")
    expect(events(page)).to_have_count(6)
    page.get_by_role("slider", name="Prefixes from").press("ArrowLeft")
    expect(events(page).nth(6)).to_contain_text("α 0.95")
    expect(page.get_by_text("computing")).to_have_count(0)
    shown = verdict(page).text_content()
    page.get_by_role("button", name="Clear log").click()
    expect(events(page)).to_have_count(1)
    expect(events(page)).to_contain_text("from here on: RL: two prompts are not enough")
    expect(page.get_by_role("slider", name="Prefixes from")).to_have_value("0.95")
    expect(verdict(page)).to_have_text(shown or "")
    told = [page.get_by_role("button", name=name, exact=True).get_attribute("title") for name in WAYS_BACK]
    assert len({*told} - {None}) == len(WAYS_BACK)


@pytest.mark.browser
def test_fingers_find_the_buttons_of_a_telephone(opened: Callable[..., Page]) -> None:
    page = opened(width=390, height=844)
    for name in ("First", "Back", "Play", "Draw", "Step", "Newest", "Reset", "Save", "Glossary", "Keys"):
        box = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44, name
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
def test_the_parts_of_the_page_are_landmarks_to_which_the_first_tab_offers_ways(opened: Callable[..., Page]) -> None:
    page = opened()
    for role, name in PICTURE.values():
        expect(page.get_by_role(role, name=name, exact=True)).to_have_count(1)
    expect(page.get_by_role("navigation", name="Pages")).to_have_count(1)
    headings = page.get_by_role("heading").evaluate_all("(all) => all.map((each) => Number(each.localName[1]))")
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="to the picture")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    assert page.evaluate(FOCUSED)[:2] == ["main", "Picture"]
    expect(skip).not_to_be_in_viewport()
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED)[0] == "img"
    page.get_by_role("link", name="to the readings").focus()
    page.keyboard.press("Enter")
    assert page.evaluate(FOCUSED)[:2] == ["complementary", "Readings"]


@pytest.mark.browser
def test_tab_alone_reaches_every_part_and_shows_where_it_is(opened: Callable[..., Page]) -> None:
    page = opened()
    expect(events(page)).to_have_count(1)
    reached: list[list[str]] = []
    while len(reached) < 90 and "to the picture" not in [name for _, name, _ in reached[1:]]:
        page.keyboard.press("Tab")
        reached.append(page.evaluate(FOCUSED))
    for name in (
        "to the picture", "Preset", "Save", "Claims", "Theme", "Keys", "Prefixes from", "Clip", "Play", "Speed",
        "Reset", "Readings", "return to event 0",
    ):  # fmt: skip
        assert name in [words for _, words, _ in reached], name
    assert [each for each in reached if each[2] == "none" and each[0] != "body"] == []
    assert len(reached) < 90


@pytest.mark.browser
def test_nothing_moves_by_itself_where_that_is_not_wanted(opened: Callable[..., Page], page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    opened()
    assert page.evaluate(MOVING) == []
    lesson = page.get_by_role("button", name="lesson")
    heading = page.locator(".lesson h2")
    expect(heading).not_to_be_in_viewport()
    assert lesson.evaluate("(button) => { button.click(); return scrollY }") > 0
    expect(heading).to_be_in_viewport()
