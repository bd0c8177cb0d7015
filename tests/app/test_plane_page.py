"""The plane in a real Chromium: its form in pixels, what is pointed at and picked out, and its words."""

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageColor
from playwright.sync_api import Page, expect

from app.palette import DARK, LIGHT, PROJECTOR
from tests.page import events, resize, wear

pytestmark = pytest.mark.browser

BOX = """() => {
  const box = Bokeh.index.find_one(Bokeh.documents[0].get_model_by_name("plane")).el.getBoundingClientRect()
  return {x: box.left, y: box.top, width: box.width, height: box.height}
}"""
RANGES = """() => {
  const {x_range: X, y_range: Y, inner_width: w, inner_height: h} = Bokeh.documents[0].get_model_by_name("plane")
  return [(X.end - X.start) / w, (Y.end - Y.start) / h, (X.end + X.start) / 2, (Y.end + Y.start) / 2]
}"""
# The strongest arrow's site and the place of its tip on the page.
STRONGEST = """() => {
  const document = Bokeh.documents[0], plane = document.get_model_by_name("plane")
  const {x, y, site} = document.get_model_by_name("arrows").data, i = x.length - 1
  const {x_range: X, y_range: Y, inner_width: w, inner_height: h} = plane
  const box = Bokeh.index.find_one(plane).el.getBoundingClientRect()
  const across = (x[i] - X.start) / (X.end - X.start) * w, down = (Y.end - y[i]) / (Y.end - Y.start) * h
  return [site[i], box.left + across, box.top + down]
}"""
HEARD = """() => {
  window.heard = []
  window.addEventListener("gradcloud-point", ({detail}) => window.heard.push(detail))
}"""
# Boxes of the words that are drawn, and of the captions, in pixels of the picture.
WORDS = """() => {
  const plane = Bokeh.documents[0].get_model_by_name("plane"), el = Bokeh.index.find_one(plane).el
  const {x_range: X, y_range: Y, inner_width: w, inner_height: h} = plane
  const {glyph, data_source: source} = plane.renderers.find((each) => each.name === "words")
  const size = parseFloat(glyph.text_font_size.value), letters = document.createElement("canvas").getContext("2d")
  letters.font = `bold ${size}px ${glyph.text_font.value}`
  const words = Array.from(source.data.text, (text, i) => {
    const {x, y, dx, dy} = source.data, long = letters.measureText(text).width
    const from = (x[i] - X.start) / (X.end - X.start) * w + dx[i], at = (Y.end - y[i]) / (Y.end - Y.start) * h + dy[i]
    return [from, at - size / 2, from + long, at + size / 2]
  }).filter((box) => box[0] < 1e4)
  const origin = el.getBoundingClientRect()
  const captions = el.getRootNode().querySelector(".caption").shadowRoot.querySelectorAll(".box")
  return {w, h, words, captions: Array.from(captions, (each) => {
    const box = each.getBoundingClientRect()
    return [box.left - origin.left, box.top - origin.top, box.right - origin.left, box.bottom - origin.top]
  })}
}"""
# Where the tips are whose words are drawn.
NAMED = """() => {
  const {renderers} = Bokeh.documents[0].get_model_by_name("plane")
  return Array.from(renderers.find((each) => each.name === "words").data_source.data.x)
}"""
DATA = "(name) => Object.fromEntries(Object.entries(Bokeh.documents[0].get_model_by_name(name).data).map(" \
       "([key, value]) => [key, Array.from(value)]))"  # fmt: skip


def data(page: Page, name: str) -> Any:
    return page.evaluate(DATA, name)


def held(page: Page, name: str, condition: str) -> None:
    """Wait until a source's data fulfil a condition."""
    page.wait_for_function(f"(name) => {{ const data = ({DATA})(name); return {condition} }}", arg=name)


def test_the_ring_is_as_wide_as_high_in_pixels(opened: Callable[..., Page]) -> None:
    page = opened("?preset=opsd-collapse")
    page.locator(".caption").evaluate("(caption) => { caption.style.display = 'none' }")
    red, _, blue = ImageColor.getrgb(LIGHT.ring)
    for width, height in ((1280, 720), (1500, 700), (390, 844)):
        resize(page, width, height)
        box = page.evaluate(BOX)
        pixels = np.asarray(Image.open(io.BytesIO(page.screenshot(clip=box))).convert("RGB")).astype(int)
        # Nothing else there is blue; pixels that the line only brushes are mixed with paper.
        ring = pixels[..., 2] - pixels[..., 0] > 0.5 * (blue - red)
        across, down = (np.flatnonzero(ring.any(axis)) for axis in (0, 1))
        extent = np.ptp(across) + 1, np.ptp(down) + 1
        assert extent[0] > 0.3 * min(box["width"], box["height"])
        assert extent[0] == pytest.approx(extent[1], rel=0.01)


def test_zoom_and_form_stay_through_a_draw_a_theme_and_a_resize(opened: Callable[..., Page]) -> None:
    page = opened("?preset=opsd-collapse")
    box = page.evaluate(BOX)
    page.mouse.move(box["x"] + 400, box["y"] + 250)
    before = page.evaluate(RANGES)
    page.mouse.wheel(0, -400)
    page.wait_for_function(f"(before) => ({RANGES})()[0] < 0.95 * before", arg=before[0])
    zoomed = page.evaluate(RANGES)
    page.get_by_role("button", name="Draw", exact=True).click()
    expect(events(page).nth(1)).to_contain_text(re.compile("inside|near|past"))
    for theme in ("dark", "projector", "light"):
        page.get_by_role("combobox", name="Theme").select_option(theme)
        palette = {"dark": DARK, "projector": PROJECTOR, "light": LIGHT}[theme]
        page.wait_for_function(
            "(paper) => Bokeh.documents[0].get_model_by_name('plane').background_fill_color === paper",
            arg=palette.paper,
        )
        across, up, x, y = page.evaluate(RANGES)
        assert across == pytest.approx(up, rel=1e-6)
        assert (x, y) == pytest.approx((zoomed[2], zoomed[3]))
    # The page makes room for the letters of a theme a little after it has taken its colours.
    page.wait_for_function(f"(zoomed) => Math.abs(({RANGES})()[0] / zoomed - 1) < 1e-6", arg=zoomed[0])
    assert page.evaluate(RANGES) == pytest.approx(zoomed)
    page.set_viewport_size({"width": 900, "height": 700})
    page.wait_for_function(f"(wide) => ({RANGES})()[0] !== wide", arg=zoomed[0])
    across, up, x, y = page.evaluate(RANGES)
    assert across == pytest.approx(up, rel=1e-6)
    assert (x, y) == pytest.approx((zoomed[2], zoomed[3]))


def test_pointing_from_elsewhere_marks_the_arrow_and_pointing_at_an_arrow_is_told(shown: Page) -> None:
    page = shown
    page.evaluate(HEARD)
    site, x, y = page.evaluate(STRONGEST)
    point = "(site) => window.dispatchEvent(new CustomEvent('gradcloud-point', {detail: {site, from: 'lens'}}))"
    page.evaluate(point, site)
    arrows = data(page, "arrows")
    assert data(page, "pointed")["x"] == [arrows["x"][-1]]
    for other in (10**6, -1, None, "0", 1.5):
        page.evaluate(point, site)
        page.evaluate(point, other)
        assert data(page, "pointed")["x"] == []
    page.evaluate("window.heard = []")
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    page.wait_for_function(
        "(site) => window.heard.some((each) => each.site === site && each.from === 'plane')", arg=site
    )
    assert data(page, "pointed")["y"] == [arrows["y"][-1]]
    page.mouse.move(4, 4)
    page.wait_for_function("() => window.heard.at(-1).site === null")
    assert data(page, "pointed")["x"] == []


def test_pointing_at_arrows_and_zooming_tell_the_server_nothing(opened: Callable[..., Page], page: Page) -> None:
    sent: list[str | bytes] = []

    def noted(frame: str | bytes) -> None:
        sent.append(frame)

    page.on("websocket", lambda socket: socket.on("framesent", noted))
    opened("?preset=opsd-collapse")
    held(page, "arrows", "data.held.every((each) => each.includes('%'))")
    page.wait_for_timeout(1500)
    assert sent
    sent.clear()
    before, (_, x, y) = page.evaluate(RANGES), page.evaluate(STRONGEST)
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    held(page, "pointed", "data.x.length === 1")
    page.mouse.wheel(0, -400)
    page.wait_for_function(f"(before) => ({RANGES})()[0] < 0.95 * before", arg=before[0])
    page.mouse.dblclick(4 + page.evaluate(BOX)["x"], 4 + page.evaluate(BOX)["y"])
    page.wait_for_function(f"(before) => Math.abs(({RANGES})()[0] / before - 1) < 1e-6", arg=before[0])
    page.wait_for_timeout(500)
    assert sent == []


def test_words_and_zoom_follow_the_server_though_it_hears_nothing_of_them(opened: Callable[..., Page]) -> None:
    page = opened("?preset=opsd-collapse")
    held(page, "arrows", "data.held.every((each) => each.includes('%'))")
    before, box, named = page.evaluate(RANGES), page.evaluate(BOX), page.evaluate(NAMED)
    for _ in range(2):
        page.mouse.move(box["x"] + 400, box["y"] + 250)
        page.mouse.wheel(0, -400)
        page.wait_for_function(f"(before) => ({RANGES})()[0] < 0.95 * before", arg=before[0])
        page.get_by_role("button", name="Reset", exact=True).click()
        page.wait_for_function(f"(before) => Math.abs(({RANGES})()[0] / before - 1) < 1e-6", arg=before[0])
    page.get_by_role("button", name="Draw", exact=True).click()
    page.wait_for_function(f"(named) => JSON.stringify(({NAMED})()) !== JSON.stringify(named)", arg=named)
    assert page.evaluate(NAMED) == data(page, "arrows")["x"][:-4:-1]


def test_a_tap_picks_an_arrow_out_with_its_whole_length_and_another_lets_it_go(shown: Page) -> None:
    page = shown
    held(page, "arrows", "data.held.every((each) => each.includes('%'))")
    _, x, y = page.evaluate(STRONGEST)
    page.mouse.click(x, y)
    held(page, "selected", "data.x.length === 1")
    chosen, arrows = data(page, "selected"), data(page, "arrows")
    assert chosen["x"] == [arrows["x"][-1]]
    assert np.hypot(chosen["whole_x"][0], chosen["whole_y"][0]) > np.hypot(chosen["x"][0], chosen["y"][0])
    assert chosen["whole_x"][0] == pytest.approx(arrows["whole_x"][-1])
    expect(page.get_by_text("whole length of the arrow picked out")).to_be_visible()
    # As far apart as no double tap is.
    page.wait_for_timeout(700)
    page.mouse.click(x, y)
    held(page, "selected", "data.x.length === 0")


def test_words_stay_in_the_picture_clear_of_each_other_and_of_the_captions(opened: Callable[..., Page]) -> None:
    page = opened("?preset=opsd-collapse")
    for width, height in ((1280, 720), (390, 844), (768, 1024)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(600)
        seen = page.evaluate(WORDS)
        assert len(seen["words"]) >= 2
        for i, one in enumerate(seen["words"]):
            assert one[0] >= 0
            assert one[1] >= 0
            assert one[2] <= seen["w"]
            assert one[3] <= seen["h"]
            for other in [*seen["words"][:i], *seen["captions"]]:
                assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_what_the_hover_tells_is_in_the_themes_colours(opened: Callable[..., Page]) -> None:
    page = opened("?preset=opsd-collapse&theme=dark")
    _, x, y = page.evaluate(STRONGEST)
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    told = page.get_by_text("this plane holds of it")
    expect(told).to_be_visible()
    colours = told.evaluate("""(cell) => {
      const box = cell.closest("table").parentElement
      return [getComputedStyle(box).backgroundColor, getComputedStyle(cell).color].map((each) => each.match(/\\d+/g))
    }""")
    assert [tuple(int(part) for part in each) for each in colours] == [
        ImageColor.getrgb(DARK.field), ImageColor.getrgb(DARK.muted),
    ]  # fmt: skip


# Boxes of the button that shows all again and of the captions, and whether the button lies wholly in the picture.
FIT = """() => {
  const plane = Bokeh.documents[0].get_model_by_name("plane"), el = Bokeh.index.find_one(plane).el
  const root = el.getRootNode(), box = (each) => each.getBoundingClientRect().toJSON()
  const [button] = root.querySelector(".fit").shadowRoot.querySelectorAll("button")
  const captions = root.querySelector(".caption").shadowRoot.querySelectorAll(".box")
  return {picture: box(el), button: box(button), captions: Array.from(captions, box).filter((each) => each.width)}
}"""


def zoomed(page: Page) -> None:
    """Turn the wheel over the picture until it is zoomed."""
    box, before = page.evaluate(BOX), page.evaluate(RANGES)
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.4 * box["height"])
    page.mouse.wheel(0, -400)
    page.wait_for_function(f"(before) => ({RANGES})()[0] < 0.95 * before", arg=before[0])


def restored(page: Page, before: list[float]) -> None:
    page.wait_for_function(
        f"(before) => ({RANGES})().every((each, i) => Math.abs(each - before[i]) < 1e-6)", arg=before
    )


def test_a_button_shows_all_of_the_picture_again_and_is_there_only_while_it_is_not(shown: Page) -> None:
    page, button = shown, shown.get_by_role("button", name="Fit: show all of the picture again")
    before = page.evaluate(RANGES)
    expect(button).to_have_count(0)
    zoomed(page)
    button.click()
    restored(page, before)
    expect(button).to_have_count(0)
    # Up and down alone, of which the picture's width says nothing.
    box = page.evaluate(BOX)
    page.mouse.move(box["x"] + 60, box["y"] + 400)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 300, steps=5)
    page.mouse.up()
    button.click()
    restored(page, before)
    expect(button).to_have_count(0)


def test_who_shows_all_again_by_keyboard_keeps_his_place_on_the_page(shown: Page) -> None:
    page, button = shown, shown.get_by_role("button", name="Fit: show all of the picture again")
    before = page.evaluate(RANGES)
    zoomed(page)
    page.keyboard.press("Tab")
    button.focus()
    page.keyboard.press("Enter")
    restored(page, before)
    page.wait_for_timeout(200)
    expect(button).to_be_focused()
    page.keyboard.press("Tab")
    expect(button).to_have_count(0)


def test_the_button_that_shows_all_again_lies_in_the_picture_clear_of_its_captions(shown: Page) -> None:
    page = shown
    zoomed(page)
    button = page.get_by_role("button", name="Fit: show all of the picture again")
    for theme in ("light", "projector"):
        wear(page, theme)
        for width, height in ((1280, 720), (768, 1024), (390, 844)):
            resize(page, width, height)
            seen, where = page.evaluate(FIT), (theme, width, height)
            one, whole = seen["button"], seen["picture"]
            assert one["width"] > 0, where
            assert whole["left"] <= one["left"] < one["right"] <= whole["right"], where
            assert whole["top"] <= one["top"] < one["bottom"] <= whole["bottom"], where
            for other in seen["captions"]:
                beside = one["right"] <= other["left"] or other["right"] <= one["left"]
                assert beside or one["bottom"] <= other["top"] or other["bottom"] <= one["top"], where
    wear(page, "light")
    resize(page, 1280, 720)
    button.click()
    expect(button).to_have_count(0)
