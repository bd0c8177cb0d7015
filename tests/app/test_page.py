"""The page in a real Chromium, served as a visitor gets it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sim.presets import builtin, dumps_preset
from tests.page import events, verdict

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"
ARROWS = """() => {
  const {x, y} = Bokeh.documents[0].get_model_by_name("arrows").data
  return [Array.from(x), Array.from(y)]
}"""
BOX = """() => {
  const box = Bokeh.index.find_one(Bokeh.documents[0].get_model_by_name("plane")).el.getBoundingClientRect()
  return {left: box.left, top: box.top, right: box.right, bottom: box.bottom}
}"""
RANGES = """() => {
  const {x_range: X, y_range: Y, inner_width: w, inner_height: h} = Bokeh.documents[0].get_model_by_name("plane")
  return [(X.end - X.start) / w, (Y.end - Y.start) / h, X.end - X.start]
}"""


@pytest.fixture
def settings(tmp_path: Path) -> Callable[..., Path]:
    """Writes a preset file with some texts or settings changed."""

    def write(name: str = "mine.json", **changes: Any) -> Path:
        value = json.loads(dumps_preset(builtin("opsd-collapse"))) | changes
        path = tmp_path / name
        path.write_text(json.dumps(value), "utf-8")
        return path

    return write


def load(page: Page, path: Path) -> None:
    page.get_by_label("Preset file").set_input_files(path)


def test_the_lesson_of_the_collapse_from_end_to_end(opened: Callable[..., Page], tmp_path: Path) -> None:
    page = opened("?preset=opsd-collapse")
    expect(verdict(page)).to_have_text("past the safe radius")
    expect(events(page)).to_have_count(1)
    expect(events(page).nth(0)).to_contain_text("past")
    first = page.evaluate(ARROWS)

    page.get_by_role("switch", name="Clip", exact=True).click()
    expect(verdict(page)).to_have_text("inside the safe radius")
    expect(events(page).nth(1)).to_contain_text("clip on")
    assert page.evaluate(ARROWS) != first

    page.get_by_role("button", name="Play").click()
    expect(events(page).nth(4)).to_contain_text(re.compile("inside|near|past|no signal"))
    page.get_by_role("button", name="Pause").click()
    expect(events(page).nth(4)).to_contain_text("batch 3 drawn")

    events(page).nth(0).click()
    expect(verdict(page)).to_have_text("past the safe radius")
    page.wait_for_function(f"(first) => JSON.stringify(({ARROWS})()) === JSON.stringify(first)", arg=first)
    expect(page.get_by_role("switch", name="Clip", exact=True)).not_to_be_checked()

    with page.expect_download() as saving:
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_role("group", name="Save as").get_by_role("button", name="Preset").click()
    saved = tmp_path / saving.value.suggested_filename
    saving.value.save_as(saved)
    assert saved.name == "opsd-collapse.json"
    assert saved.read_text("utf-8") == dumps_preset(builtin("opsd-collapse"))

    page.get_by_label("Preset", exact=True).select_option("rl-small-batch")
    expect(page.get_by_role("heading", name="RL", exact=False)).to_be_visible()
    load(page, saved)
    expect(verdict(page)).to_have_text("past the safe radius")
    page.wait_for_function(f"(first) => JSON.stringify(({ARROWS})()) === JSON.stringify(first)", arg=first)


def test_nothing_leaves_the_machine_and_nothing_is_complained_of(opened: Callable[..., Page], page: Page) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    opened()
    page.get_by_text("more", exact=True).click()
    page.get_by_role("button", name="Draw").click()
    expect(events(page).nth(1)).to_contain_text(re.compile("inside|near|past"))
    assert asked
    assert [
        url for url in asked if not re.match(r"(http|ws)://127\.0\.0\.1:|blob:http://127\.0\.0\.1:|data:", url)
    ] == []
    assert complaints == []


def test_the_picture_is_square_half_the_width_and_seen_without_scrolling(opened: Callable[..., Page]) -> None:
    page = opened()
    box = page.evaluate(BOX)
    width, height = box["right"] - box["left"], box["bottom"] - box["top"]
    assert width >= 640
    assert abs(width - height) <= 2
    assert box["top"] >= 0
    assert box["bottom"] <= 720
    for name in ("First", "Back", "Play", "Draw", "Step", "Newest", "Reset"):
        button = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert button is not None
        assert button["y"] + button["height"] <= 720


def test_on_a_telephone_the_picture_comes_first_and_nothing_overflows(opened: Callable[..., Page]) -> None:
    page = opened(width=390, height=844)
    box = page.evaluate(BOX)
    assert box["left"] >= 0
    assert box["right"] <= 390
    assert box["bottom"] <= 844
    for locator in (verdict(page), page.get_by_role("slider", name="Signal from")):
        below = locator.bounding_box()
        assert below is not None
        assert below["y"] >= box["bottom"]
    page.get_by_text("more", exact=True).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_one_unit_is_as_wide_as_high_after_zoom_and_resize_and_the_zoom_stays(opened: Callable[..., Page]) -> None:
    page = opened()
    page.mouse.move(582, 360)
    before = page.evaluate(RANGES)
    page.mouse.wheel(0, -400)
    page.wait_for_function(f"(before) => ({RANGES})()[2] < 0.95 * before", arg=before[2])
    zoomed = page.evaluate(RANGES)
    page.get_by_role("button", name="Draw").click()
    expect(events(page).nth(1)).to_contain_text(re.compile("inside|near|past"))
    assert page.evaluate(RANGES) == pytest.approx(zoomed)
    page.set_viewport_size({"width": 1500, "height": 700})
    page.wait_for_function(f"(wide) => ({RANGES})()[2] !== wide", arg=zoomed[2])
    across, up, _ = page.evaluate(RANGES)
    for each in (before, zoomed, (across, up)):
        assert each[0] == pytest.approx(each[1], rel=1e-6)


def test_text_from_a_preset_is_shown_and_never_run(
    opened: Callable[..., Page], page: Page, settings: Callable[..., Path]
) -> None:
    ran: list[str] = []
    page.on("dialog", lambda dialog: (ran.append(dialog.message), dialog.dismiss()))
    opened()
    load(page, settings(title=HOSTILE, lesson=f"{HOSTILE} and <script>alert(2)</script>", **{"try": [HOSTILE]}))
    expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()
    expect(page.get_by_text(f"{HOSTILE} and <script>alert(2)</script>")).to_be_visible()
    expect(events(page).nth(1)).to_contain_text(HOSTILE)
    load(page, settings(name="bad.json", **{HOSTILE: 1}))
    expect(page.get_by_role("alert")).to_contain_text(HOSTILE)
    assert page.locator("img").count() == 0
    assert ran == []


def test_a_malformed_upload_names_each_problem_and_leaves_the_session_as_it_was(
    opened: Callable[..., Page], settings: Callable[..., Path]
) -> None:
    page = opened()
    expect(verdict(page)).to_have_text("past the safe radius")
    arrows = page.evaluate(ARROWS)
    config = json.loads(settings().read_text("utf-8"))["config"]
    config["source"]["alpha"] = 3
    config["clip"]["treshold"] = 1
    load(page, settings(name="bad.json", config=config))
    problems = page.get_by_role("alert").locator("li")
    expect(problems).to_have_count(2)
    expect(page.get_by_role("alert")).to_contain_text("config.source.alpha")
    expect(page.get_by_role("alert")).to_contain_text("threshold")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("alert")).to_be_hidden()
    assert page.evaluate(ARROWS) == arrows
    expect(events(page)).to_have_count(1)


@pytest.mark.parametrize("name", ["opsd-colapse", HOSTILE])
def test_an_address_that_asks_for_no_preset_gives_the_first_one_and_says_so(
    opened: Callable[..., Page], name: str
) -> None:
    page = opened(f"?preset={name}")
    expect(page.get_by_role("alert")).to_contain_text(name)
    expect(page.get_by_label("Preset", exact=True)).to_have_value("opsd-collapse")


def test_an_address_with_an_unknown_key_says_so_and_opens_its_preset(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch&presett=1&theme=default&qqq=1&themes=dark")
    expect(page.get_by_role("alert").locator("li")).to_have_text(
        [
            'the address: unknown key "presett"; did you mean "preset"?',
            'the address: unknown key "qqq"; allowed: preset, view, theme, page, embed, hide, with, view-a, view-b, '
            "view-c or view-d",
            'the address: unknown key "themes"; did you mean "theme"?',
        ]
    )
    expect(page.get_by_label("Preset", exact=True)).to_have_value("rl-small-batch")


def test_every_control_and_dialog_has_a_name_that_a_screen_reader_says(opened: Callable[..., Page]) -> None:
    page = opened()
    page.get_by_text("more", exact=True).click()
    for name in ("Tokens", "Tour", "Readings"):
        page.get_by_role("tab", name=name).click()
        expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
    nameless = page.evaluate("""() => {
      const roots = [document], nameless = []
      while (roots.length) {
        for (const each of roots.pop().querySelectorAll("*")) {
          if (each.shadowRoot) roots.push(each.shadowRoot)
          if (!each.matches("input, select, button, summary, a[href], dialog, [tabindex='0']")) continue
          const by = each.getAttribute("aria-labelledby")
          const label = by && each.getRootNode().getElementById(by)?.textContent
          const words = each.matches("dialog, input, select") ? "" : each.textContent
          const name = label || each.getAttribute("aria-label") || each.labels?.[0]?.textContent || words
          if (!name.trim()) nameless.push(each.outerHTML)
        }
      }
      return nameless
    }""")
    assert nameless == []
