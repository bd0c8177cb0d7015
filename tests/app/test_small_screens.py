"""The page on tablets and telephones, and on a wall: what is in sight, what fits, what a finger hits."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.palette import THEMES
from tests.page import resize, verdict, wear

pytestmark = pytest.mark.browser
fingers = pytest.mark.browser_context_args(has_touch=True, is_mobile=True)

TABLETS = [(1024, 768), (768, 1024)]
PHONE = (390, 844)
#: A finger's least target, WCAG 2.2 2.5.8; the player's is the one of 2.5.5.
TARGET, PLAYER = 24, 44
BOX = """() => {
  const box = Bokeh.index.find_one(Bokeh.documents[0].get_model_by_name("plane")).el.getBoundingClientRect()
  return {x: box.left, y: box.top, width: box.width, height: box.height}
}"""
#: Walks the page and its shadow roots; `each` says what is wrong with an element that is seen, or nothing.
WALK = """(least) => {
  const roots = [document], wrong = []
  const shown = (each) => each.checkVisibility() && each.getClientRects().length
    && !each.closest(".sr") && getComputedStyle(each).clipPath === "none"
  const each = %s
  while (roots.length) {
    for (const node of roots.pop().querySelectorAll("*")) {
      if (node.shadowRoot) roots.push(node.shadowRoot)
      if (!node.matches("script, style, head *, option, optgroup") && shown(node)) {
        const found = each(node)
        if (found) wrong.push(`${found} ${node.outerHTML.slice(0, 90)}`)
      }
    }
  }
  return wrong
}"""
#: Letters that are smaller than so many pixels.
SMALL_LETTERS = (
    WALK
    % """(node) => {
  const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())
  const size = parseFloat(getComputedStyle(node).fontSize)
  return own && size < least ? size : null
}"""
)
#: Controls that a finger would miss; a link within a sentence is as high as its line, and a skip link has no finger.
SMALL_TARGETS = (
    WALK
    % """(node) => {
  if (!node.matches("button, select, input, summary, a[href]") || node.closest("nav[aria-label=Skip], p")) return null
  const {width, height} = (node.labels?.[0]?.contains(node) ? node.labels[0] : node).getBoundingClientRect()
  return width < least - 0.5 || height < least - 0.5 ? `${width} x ${height}` : null
}"""
)
#: Elements that reach out of the window on the right, unless what they are in scrolls by itself.
OUTSIDE = (
    WALK
    % """(node) => {
  const up = (each) => each.assignedSlot ?? each.parentNode?.host ?? each.parentNode
  for (let around = up(node); around instanceof Element; around = up(around))
    if (getComputedStyle(around).overflowX !== "visible") return null
  return node.getBoundingClientRect().right > least + 0.5 ? node.getBoundingClientRect().right : null
}"""
)


def box(page: Page, name: str) -> dict[str, float]:
    found = page.get_by_role("button", name=name, exact=True).bounding_box()
    assert found is not None, name
    return dict(found)


def bottom(found: dict[str, float]) -> float:
    return found["y"] + found["height"]


def test_menu_picture_dials_verdict_readings_and_player_are_seen_without_scrolling(shown: Page) -> None:
    page = shown
    expect(verdict(page)).to_have_text("past the safe radius")
    parts: list[Any] = [
        page.get_by_label("Preset", exact=True),
        page.get_by_role("slider", name="Prompts a batch"),
        verdict(page),
        page.locator(".reading").last,
        page.get_by_role("button", name="Play", exact=True),
        page.locator(".log tbody tr").first,
    ]
    for theme in ("light", "dark"):
        wear(page, theme)
        for part in parts:
            found = part.bounding_box()
            assert found["x"] >= 0
            assert found["y"] >= 0
            assert found["x"] + found["width"] <= 1280
            assert bottom(found) <= 720


@pytest.mark.parametrize(("width", "height"), TABLETS)
def test_on_a_tablet_picture_player_and_readings_share_the_screen_in_every_theme(
    shown: Page, width: int, height: int
) -> None:
    page = shown
    resize(page, width, height)
    expect(verdict(page)).to_have_text("past the safe radius")
    for theme in THEMES:
        wear(page, theme)
        picture, said = page.evaluate(BOX), verdict(page).bounding_box()
        assert min(picture["width"], picture["height"]) >= 360
        assert bottom(picture) <= height
        assert bottom(box(page, "Play")) <= height
        assert said["y"] + said["height"] <= height
        assert said["x"] >= picture["x"] + picture["width"]
        readings = page.locator(".readings").bounding_box()
        assert readings is not None
        assert readings["width"] >= 250
        assert page.evaluate(OUTSIDE, width) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_telephone_picture_and_player_come_first_and_share_the_screen(opened: Callable[..., Page]) -> None:
    width, height = PHONE
    page = opened("", width, height)
    picture, play = page.evaluate(BOX), box(page, "Play")
    assert picture["width"] >= 340
    assert picture["height"] >= 340
    assert picture["y"] < 160
    assert bottom(picture) <= play["y"] + 1
    for name in ("First", "Back", "Play", "Draw", "Step"):
        found = box(page, name)
        assert bottom(found) <= height
        assert found["x"] + found["width"] <= width
    assert page.evaluate(OUTSIDE, width) == []


@fingers
def test_letters_can_be_read_and_targets_hit(opened: Callable[..., Page]) -> None:
    page = opened("", *TABLETS[0])
    expect(verdict(page)).to_have_text("past the safe radius")
    page.get_by_text("more", exact=True).click()
    for width, height in (*TABLETS, PHONE):
        resize(page, width, height)
        assert page.evaluate(SMALL_LETTERS, 11) == []
        assert page.evaluate(SMALL_TARGETS, TARGET) == []
        for name in ("First", "Back", "Play", "Draw", "Step"):
            found = box(page, name)
            assert min(found["width"], found["height"]) >= PLAYER, name


@fingers
def test_the_claims_fit_a_small_screen(page: Page, served: str) -> None:
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto(served + "?page=claims")
    expect(page.get_by_role("heading", name="Claims, measured")).to_be_visible()
    for width, height in (PHONE, (768, 1024)):
        resize(page, width, height)
        assert page.evaluate(SMALL_LETTERS, 11) == []
        assert page.evaluate(SMALL_TARGETS, TARGET) == []
        assert page.evaluate(OUTSIDE, width) == []


def test_on_a_projector_letters_are_larger_and_nothing_is_cut(opened: Callable[..., Page]) -> None:
    page = opened("?theme=projector")
    expect(verdict(page)).to_have_text("past the safe radius")
    assert page.evaluate(SMALL_LETTERS, 14) == []
    assert page.evaluate(OUTSIDE, 1280) == []
    picture, dials = page.evaluate(BOX), page.locator("div.dials > .main").bounding_box()
    readings, play = page.locator(".readings").bounding_box(), box(page, "Play")
    assert dials is not None
    assert readings is not None
    assert dials["x"] + dials["width"] <= picture["x"]
    assert picture["x"] + picture["width"] <= readings["x"]
    assert min(picture["width"], picture["height"]) >= 480
    assert bottom(picture) <= play["y"] + 1
    assert bottom(play) <= 720
