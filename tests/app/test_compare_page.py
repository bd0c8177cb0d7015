"""The page of comparison in a real Chromium: cells in step and in one scale, an address that keeps what is chosen."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app.compare import imposed
from app.numbers import significant
from sim.presets import builtin
from sim.timeline import Moment
from tests.app.conftest import simulator
from tests.page import PATIENCE, resize

pytestmark = pytest.mark.browser

FOUR = ["opsd-collapse", "opsd-clipped", "opd-same-family", "sft-fan"]
LETTERS = "abcd"
HOSTILE = "<img src=x onerror=alert(1)>"
# Few answers, so that ten draws in four cells are seconds; every cell follows the first one's.
SMALL = ["rl-small-batch", *FOUR[:3]]
DRAWN = """(count) => {
  const document = window.Bokeh?.documents[0], letters = "abcd".slice(0, count)
  return !!document && [...letters].every((letter) => document.get_model_by_name(`update-${letter}`)?.data.x.length)
    && [...letters].every((letter) => Bokeh.index.find_one(document.get_model_by_name(`plane-${letter}`)))
}"""
# Every element of a class, through all shadow roots.
DEEP = """
  const deep = (root, selector) => [...root.querySelectorAll(selector),
    ...[...root.querySelectorAll("*")].flatMap((each) => each.shadowRoot ? deep(each.shadowRoot, selector) : [])]
"""
SAMPLE = (
    "() => {"
    + DEEP
    + """
  const clocks = deep(document, ".clock").slice(0, 4), player = deep(document, ".where")[0]
  const shapes = () => [..."abcd"].map((letter) => {
    const {x, y} = Bokeh.documents[0].get_model_by_name(`arrows-${letter}`).data
    return Array.from(x).concat(Array.from(y)).reduce((sum, value, i) => sum + value * (i % 97 + 1), x.length)
  })
  window.sampled = []
  const look = () => {
    window.sampled.push({clocks: clocks.map((each) => each.textContent), player: player.textContent, shapes: shapes()})
    window.sampling = requestAnimationFrame(look)
  }
  look()
}"""
)
SAMPLED = "() => { cancelAnimationFrame(window.sampling); return window.sampled }"
SCALES = """() => [..."abcd"].map((letter) => {
  const {x_range: X, y_range: Y, inner_width: w, inner_height: h} =
    Bokeh.documents[0].get_model_by_name(`plane-${letter}`)
  return {x: [X.start, X.end], y: [Y.start, Y.end], across: (X.end - X.start) / w, up: (Y.end - Y.start) / h}
})"""


#: Notes every change of what a screen reader is to read of all cells together.
LISTEN = (
    "() => {"
    + DEEP
    + """
  window.heard = []
  for (const each of deep(document, ".alert, [aria-live]"))
    new MutationObserver(() => window.heard.push(each.textContent)).observe(each, {childList: true})
}"""
)


@pytest.fixture
def compared(page: Page, served: str) -> Callable[..., Page]:
    """Opens the comparison of some presets and waits for all pictures."""
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)

    def open_page(chosen: list[str], width: int = 1280, height: int = 720, more: str = "") -> Page:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{served}?page=compare&with={','.join(chosen)}{more}")
        page.wait_for_function(DRAWN, arg=len(chosen))
        expect(page.get_by_role("button", name="Play")).to_be_visible()
        expect(clock(page, "ABCD"[len(chosen) - 1])).to_have_text("step 0, draw 0")
        return page

    return open_page


def clock(page: Page, letter: str) -> Any:
    return page.get_by_role("region", name=f"Cell {letter}").locator(".clock")


def preset(page: Page, letter: str) -> Any:
    return page.get_by_label(f"Preset of {letter}")


def value(page: Page, row: str, place: int, part: str = "number") -> Any:
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=row)).locator("td").nth(place).locator(
        f".{part}"
    )  # fmt: skip


def test_four_cells_stay_in_step_at_every_animation_frame_over_ten_draws_and_playing_stepping_and_going_back_by_key(
    compared: Callable[..., Page],
) -> None:
    page = compared(SMALL)
    page.evaluate(SAMPLE)
    for draw in range(1, 11):
        page.get_by_role("button", name="Draw").click()
        expect(page.locator(".where")).to_have_text(f"step 0, draw {draw}")
    sampled = page.evaluate(SAMPLED)
    assert len(sampled) > 20
    clocks = [each["clocks"] for each in sampled]
    assert all(len(each) == 4 and len(set(each)) == 1 for each in clocks)
    assert {each[0] for each in clocks} == {f"step 0, draw {draw}" for draw in range(11)}
    assert all(each["player"] == each["clocks"][0] for each in sampled)
    # A clock has one picture in each cell: none was left over from the clock before.
    pictures = {(each["clocks"][0], json.dumps(each["shapes"])) for each in sampled}
    assert len(pictures) == 11
    assert len({shapes for _, shapes in pictures}) == 11

    # The space bar would press the button that has the focus.
    page.get_by_role("button", name="Draw").blur()
    page.evaluate(SAMPLE)
    page.keyboard.press("ArrowRight")
    expect(clock(page, "D")).to_have_text("step 1, draw 0")
    page.keyboard.press("d")
    expect(clock(page, "D")).to_have_text("step 1, draw 1")
    page.keyboard.press("Home")
    expect(clock(page, "D")).to_have_text("step 0, draw 0")
    page.keyboard.press("End")
    expect(clock(page, "D")).to_have_text("step 1, draw 1")
    page.keyboard.press("ArrowLeft")
    expect(clock(page, "D")).to_have_text("step 1, draw 0")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(clock(page, "D")).to_have_text("step 1, draw 3")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert all(len(set(each["clocks"])) == 1 for each in page.evaluate(SAMPLED))


def test_all_pictures_have_one_scale_also_after_zooming_in_one(compared: Callable[..., Page]) -> None:
    page = compared(FOUR)

    def scales() -> list[dict[str, Any]]:
        seen: list[dict[str, Any]] = page.evaluate(SCALES)
        assert all(each == seen[0] for each in seen)
        assert abs(seen[0]["across"] / seen[0]["up"] - 1) < 0.01
        return seen

    before = scales()[0]
    box = page.get_by_role("region", name="Cell B").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + box["height"] + 80)
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"(before) => ({SCALES})()[3].across < 0.95 * before", arg=before["across"])
    zoomed = scales()[0]
    page.get_by_role("button", name="Draw").click()
    expect(clock(page, "A")).to_have_text("step 0, draw 1")
    assert scales()[0]["x"] == pytest.approx(zoomed["x"])


def test_the_table_says_what_the_frames_say_and_how_they_differ(compared: Callable[..., Page]) -> None:
    page = compared(SMALL)
    shared = builtin(SMALL[0]).config
    first, *others = (simulator().frame(Moment(imposed(builtin(name).config, shared))) for name in SMALL)
    ratio = first.update.ratio
    assert isinstance(ratio, float)
    expect(value(page, "Update over safe radius", 0)).to_have_text(significant(ratio))
    for place, frame in enumerate(others, 1):
        other, norm = frame.update.ratio, frame.measures.mean_norm
        assert isinstance(other, float)
        assert isinstance(norm, float)
        expect(value(page, "Update over safe radius", place)).to_have_text(significant(other))
        expect(value(page, "Update over safe radius", place, "against")).to_have_text(
            f"{significant(other / ratio)} × A"
        )
        expect(value(page, "Mean norm", place)).to_have_text(significant(norm))
        expect(value(page, "Answers", place, "word")).to_have_text("the same as A's")
    assert page.get_by_role("columnheader").all_inner_texts() == ["Reading", "A", "B", "C", "D"]


def test_a_dial_of_one_cell_changes_that_cell_and_a_shared_one_all(compared: Callable[..., Page]) -> None:
    page = compared(["opsd-collapse", "opsd-clipped"])
    expect(value(page, "Mean norm", 1, "against")).to_contain_text("× A")
    in_sight(page, "B")
    page.get_by_role("button", name="Dials of B").click()
    page.get_by_role("switch", name="Clip", exact=True).click()
    expect(value(page, "Update over safe radius", 1, "against")).to_have_text("as A")
    expect(page.get_by_role("region", name="Cell B").locator(".changed")).to_have_text("changed")
    expect(page.get_by_role("region", name="Cell A").locator(".changed")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.get_by_role("switch", name="Clip", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Dials of all cells").click()
    page.get_by_label("Prompts a batch").fill("1")
    expect(page.get_by_text("2 prompts × 8 answers")).to_be_visible()
    expect(value(page, "Answers", 0)).to_have_text("16")
    expect(value(page, "Answers", 1, "word")).to_have_text("the same as A's")


def test_the_address_keeps_what_is_chosen(compared: Callable[..., Page], page: Page) -> None:
    compared(["opsd-collapse", "opsd-clipped"])
    preset(page, "B").select_option("rl-small-batch")
    expect(page.get_by_text("B's own 2 prompts became 16 prompts")).to_be_visible()
    page.get_by_role("button", name="4 cells").click()
    expect(preset(page, "D")).to_be_visible()
    preset(page, "D").select_option("sft-fan")
    page.wait_for_function("() => location.search.endsWith(',sft-fan')")
    chosen = [preset(page, letter).input_value() for letter in "ABCD"]
    assert page.url.endswith(f"?page=compare&with={','.join(chosen)}")
    assert chosen[1] == "rl-small-batch"
    page.reload()
    page.wait_for_function(DRAWN, arg=4)
    assert [preset(page, letter).input_value() for letter in "ABCD"] == chosen
    page.get_by_role("button", name="2 cells").click()
    page.wait_for_function("() => location.search.endsWith(',rl-small-batch')")
    expect(preset(page, "C")).to_be_hidden()


def test_a_bad_address_is_told_by_name_and_harms_nothing(page: Page, served: str) -> None:
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog said {dialog.message}"))
    page.goto(f"{served}?page=compare&with=rl-grqo,opd-jsd,{quote(HOSTILE)}&nonsense=1")
    alert = page.get_by_role("alert").filter(has_text="Not as asked")
    expect(alert).to_contain_text('did you mean "rl-grpo"?')
    expect(alert).to_contain_text(HOSTILE)
    expect(alert).to_contain_text("nonsense")
    page.wait_for_function(DRAWN, arg=2)
    assert preset(page, "A").input_value() == "opd-jsd"
    assert page.locator("img").count() == 0
    alert.get_by_role("button", name="Dismiss").click()
    expect(alert).to_be_hidden()


def test_what_is_told_is_read_aloud_once_whatever_else_changes(compared: Callable[..., Page]) -> None:
    page = compared(SMALL[:2], more="&nonsense=1")
    alert = page.get_by_role("alert").filter(has_text="nonsense")
    expect(alert).to_be_visible()
    expect(value(page, "Mean norm", 1, "against")).to_contain_text("A")
    page.evaluate(LISTEN)
    dials = page.get_by_role("button", name="Dials of all cells")
    for expanded in ("true", "false"):
        # By key, for what is told lies over the button.
        dials.press("Enter")
        expect(dials).to_have_attribute("aria-expanded", expanded)
    assert page.evaluate("window.heard") == []
    alert.get_by_role("button", name="Dismiss").click()
    expect(alert).to_be_hidden()
    assert page.evaluate("window.heard") == [""]
    page.get_by_role("button", name="Draw", exact=True).click()
    page.wait_for_function("() => window.heard.length > 1")
    assert page.evaluate("window.heard[1]").startswith("Step 0, draw 1: A ")


def in_sight(page: Page, last: str) -> None:
    """Whether pictures, player and table are seen without scrolling."""
    assert page.evaluate("document.documentElement.scrollHeight") <= 720
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    for seen in (page.get_by_role("button", name="Play"), page.get_by_role("rowheader", name="Mean norm"),
                 preset(page, last)):  # fmt: skip
        box = seen.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 720
        assert box["x"] + box["width"] <= 1280


def test_all_is_in_sight_on_a_laptop_and_a_narrow_screen_has_fewer_pictures_a_row(
    compared: Callable[..., Page],
) -> None:
    page = compared(FOUR)
    in_sight(page, "D")
    for width, across in ((768, 2), (390, 1)):
        resize(page, width, 1024)
        page.wait_for_function("(width) => document.documentElement.scrollWidth <= width", arg=width)
        tops = [box["y"] for box in (preset(page, letter).bounding_box() for letter in "ABCD") if box is not None]
        assert len({round(top) for top in tops}) == 4 // across


def test_the_first_page_leads_to_the_comparison_of_its_preset(page: Page, served: str) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{served}?preset=sft-stress")
    with page.expect_popup() as opening:
        page.get_by_role("link", name="Compare").click()
    beside = opening.value
    beside.set_default_timeout(PATIENCE)
    beside.wait_for_function(DRAWN, arg=2)
    assert [preset(beside, letter).input_value() for letter in "AB"] == ["sft-stress", "sft-replay"]


def test_an_address_that_is_sent_on_is_the_comparison_that_was_on_show(
    compared: Callable[..., Page], page: Page, context: BrowserContext
) -> None:
    compared(SMALL[:2])
    page.get_by_role("button", name="Dials of B").click()
    page.get_by_role("switch", name="Clip", exact=True).click()
    page.wait_for_function("() => location.search.includes('view-b=1;clip.on=')")
    page.get_by_role("button", name="Draw", exact=True).click()
    page.get_by_role("button", name="Step", exact=True).click()
    page.wait_for_function("() => location.search.includes(';step=1')")
    for letter in "AB":
        expect(clock(page, letter)).to_have_text("step 1, draw 0")
    for place in (0, 1):
        expect(value(page, "Mean norm", place)).to_have_text(re.compile("^[0-9.]+$"))
    seen = [value(page, "Mean norm", place).inner_text() for place in (0, 1)]
    other = context.new_page()
    other.set_default_timeout(PATIENCE)
    other.goto(page.url)
    other.wait_for_function(DRAWN, arg=2)
    for letter, place in (("A", 0), ("B", 1)):
        expect(clock(other, letter)).to_have_text("step 1, draw 0")
        expect(value(other, "Mean norm", place)).to_have_text(seen[place])
    # However its keys are written, what is on show takes their place.
    other.goto(page.url.replace("with=", "%77ith=").replace("view-a", "view%2Da"))
    other.wait_for_function("(query) => location.search === query", arg=page.evaluate("location.search"))
    other.wait_for_function(DRAWN, arg=2)
    # Play leaves it alone until it rests.
    query = page.evaluate("location.search")
    assert other.evaluate("location.search") == query
    other.get_by_role("button", name="Play", exact=True).click()
    expect(clock(other, "A")).to_have_text("step 1, draw 2")
    assert other.evaluate("location.search") == query
    other.get_by_role("button", name="Pause", exact=True).click()
    other.wait_for_function("() => location.search.includes(';draw=')")
    other.get_by_role("link", name="to the picture").click()
    other.wait_for_function("() => location.search.includes('preset=rl-small-batch&view=1;') && !!window.Bokeh")
    expect(other.get_by_text(re.compile(r"^step 1, draw [2-9]$")).first).to_be_visible()
    other.close()
