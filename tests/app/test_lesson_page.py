"""An exported lesson in a real Chromium without a network, opened from a file, alone and in frames."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app import picture
from app.lesson.export import export_lesson
from app.numbers import percent, significant
from app.palette import THEMES
from app.picture import Radius
from sim.config import Config, Source
from sim.frame import Frame
from sim.link import Link
from sim.presets import Preset, builtin
from sim.timeline import Moment
from tests.app.conftest import simulator
from tests.app.test_axe import found
from tests.app.test_lesson_columns import three_digits
from tests.app.test_plane_page import RANGES, STRONGEST, data, held, restored, zoomed
from tests.page import LAID_OUT, PATIENCE

pytestmark = pytest.mark.browser

HOSTILE = "</script><script>window.harmed = 1</script><img src=x onerror='window.harmed = 1'>"
CONFIG = builtin("opsd-collapse").config.model_copy(update={"source": Source(prompts=1, group_size=6)})
PRESET = Preset(title=HOSTILE[:80], lesson=HOSTILE, try_=(HOSTILE,), config=CONFIG)
FRAMES = 3
READY = "() => document.documentElement.dataset.ready === 'yes'"
#: Whether the picture has the size that the frame gives it.
WIDE_ENOUGH = """() => {
  const {inner_width: w, inner_height: h} = Bokeh.documents[0].get_model_by_name("plane")
  return w > 300 && h > 300
}"""
#: The rows of the arrows' source, as the browser has them.
ARROWS = "() => ({...Bokeh.documents[0].get_model_by_name('arrows').data})"


@cache
def measured(moment: Moment) -> Frame:
    return simulator().frame(moment)


def frame(draw: int = 0, on: bool = False) -> Frame:
    clip = CONFIG.clip.model_copy(update={"on": on})
    return measured(Moment(CONFIG.model_copy(update={"clip": clip}), draw=draw))


def exported(preset: Preset = PRESET, config: Config = CONFIG, frames: int = FRAMES, **look: str) -> str:
    link = Link(preset, None, Moment(config), look)
    return export_lesson(link, frames, measured, lambda *_: None, lambda: False)


class Requests:
    """What a page asks the network for, beside the files that it is given, and what of it fails."""

    def __init__(self, page: Page, *files: Path) -> None:
        self.asked, self.failed, self.errors = list[str](), list[str](), list[str]()
        given = {file.as_uri() for file in files}
        page.on("request", lambda request: self.asked.append(request.url) if request.url not in given else None)
        page.on("requestfailed", lambda request: self.failed.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    @property
    def none(self) -> bool:
        assert (self.asked, self.failed, self.errors) == ([], [], [])
        return True


@pytest.fixture(scope="module")
def offline(browser: Browser) -> Iterator[Page]:
    """A page of a browser that has no network."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, offline=True)
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def stick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the lesson, as on a stick that is carried to a lecture."""
    folder = tmp_path_factory.mktemp("stick")
    (folder / "lesson.html").write_text(exported(), "utf-8")
    return folder


@pytest.fixture(scope="module")
def requests(offline: Page, stick: Path) -> Requests:
    noted = Requests(offline, stick / "lesson.html")
    offline.goto((stick / "lesson.html").as_uri())
    offline.wait_for_function(READY)
    return noted


@pytest.fixture
def lesson(offline: Page, requests: Requests) -> Page:
    """The lesson at its first frame, with nothing picked out and no network asked for so far."""
    expect.set_options(timeout=PATIENCE)
    assert requests.none
    offline.set_viewport_size({"width": 1280, "height": 720})
    offline.get_by_role("combobox", name="Theme").select_option("light")
    offline.get_by_role("button", name="First").click()
    offline.get_by_role("switch", name="Clip").set_checked(False)
    offline.locator("#arrows").evaluate("(list) => { list.open = false }")
    offline.mouse.move(4, 4)
    offline.evaluate(LAID_OUT)
    return offline


def says(page: Any, shown: Frame) -> None:
    """The page says of a frame what the live one says: verdict and readings."""
    expect(page.locator(".verdict h2")).to_have_text(shown.verdict.word)
    expect(page.locator("[data-name=update] .value")).to_have_text(significant(shown.update.ratio))
    expect(page.locator("[data-name=kl] .value")).to_have_text(significant(shown.update.kl_measured))
    expect(page.locator("[data-name=mean_norm] .value")).to_have_text(significant(shown.measures.mean_norm))


def at(page: Any, place: int, on: bool = False) -> None:
    """The page is at a frame, and everything on it says so."""
    expect(page.locator("#count")).to_have_text(f"{place + 1} of {FRAMES}")
    expect(page.get_by_role("slider", name="Frame")).to_have_value(str(place))
    says(page, frame(place, on))


def test_it_plays_to_its_end_and_rewinds_to_the_first_frame(lesson: Page, requests: Requests) -> None:
    at(lesson, 0)
    lesson.get_by_role("combobox", name="Speed").select_option("4")
    lesson.get_by_role("button", name="Play").click()
    expect(lesson.get_by_role("button", name="Pause")).to_be_visible()
    at(lesson, FRAMES - 1)
    expect(lesson.get_by_role("button", name="Play")).to_be_visible()
    assert len(data(lesson, "trail")["x"]) == FRAMES - 1
    lesson.get_by_role("button", name="First").click()
    at(lesson, 0)
    assert requests.none


def test_playing_is_paused_where_it_stands(lesson: Page) -> None:
    # By the page's own clock, which a busy machine does not run past it.
    lesson.get_by_role("combobox", name="Speed").select_option("1")
    lesson.evaluate("""async () => {
      const play = document.getElementById("play"), wait = (time) => new Promise((done) => setTimeout(done, time))
      play.click()
      await wait(100)
      play.click()
      await wait(1500)
    }""")
    expect(lesson.get_by_role("button", name="Play")).to_be_visible()
    at(lesson, 0)


def test_the_clip_changes_the_verdict_at_once_and_back(lesson: Page, requests: Requests) -> None:
    assert frame(0).verdict.level == "past"
    assert frame(0, on=True).verdict.level != "past"
    clip = lesson.get_by_role("switch", name="Clip")
    clip.check()
    at(lesson, 0, on=True)
    assert len(data(lesson, "unclipped")["x0"]) == min(picture.MOST_UNCLIPPED, len(picture.moved(frame(0, on=True))))
    clip.uncheck()
    at(lesson, 0)
    assert data(lesson, "unclipped")["x0"] == []
    assert requests.none


def test_one_frame_after_the_other_and_any_by_the_scale(lesson: Page) -> None:
    lesson.get_by_role("button", name="Next").click()
    at(lesson, 1)
    lesson.get_by_role("button", name="Back").click()
    at(lesson, 0)
    lesson.get_by_role("slider", name="Frame").fill("2")
    at(lesson, 2)
    lesson.get_by_role("slider", name="Frame").press("ArrowLeft")
    at(lesson, 1)
    lesson.get_by_role("button", name="Last").click()
    at(lesson, 2)
    lesson.get_by_role("button", name="Next").click()
    at(lesson, 2)


def test_the_keys_of_the_live_page_act(lesson: Page) -> None:
    lesson.locator("body").click(position={"x": 300, "y": 300})
    for key, place in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 2), ("Home", 0)):
        lesson.keyboard.press(key)
        at(lesson, place)
    lesson.keyboard.press("c")
    at(lesson, 0, on=True)
    lesson.keyboard.press("C")
    at(lesson, 0)
    lesson.keyboard.press("Space")
    expect(lesson.get_by_role("button", name="Pause")).to_be_visible()
    lesson.keyboard.press("Space")
    expect(lesson.get_by_role("button", name="Play")).to_be_visible()


def test_a_menu_that_has_the_focus_keeps_its_keys_and_the_scale_leaves_space_to_the_player(lesson: Page) -> None:
    lesson.get_by_role("combobox", name="Speed").focus()
    for key in ("End", "c"):
        lesson.keyboard.press(key)
    at(lesson, 0)
    lesson.get_by_role("combobox", name="Speed").select_option("1")
    lesson.get_by_role("slider", name="Frame").focus()
    lesson.keyboard.press("Space")
    expect(lesson.get_by_role("button", name="Pause")).to_be_visible()
    lesson.keyboard.press("Space")


@pytest.mark.parametrize("on", [False, True])
def test_every_arrow_is_where_the_live_page_draws_it_with_the_numbers_that_it_writes(lesson: Page, on: bool) -> None:
    lesson.get_by_role("switch", name="Clip").set_checked(on)
    drawn, live = lesson.evaluate(ARROWS), picture.arrows(frame(0, on), Radius("log"))
    for name in ("site", "token", "raised", "before", "held", "other"):
        assert drawn[name] == list(live[name]), name
    for name in ("student", "teacher", "raised_student", "raised_teacher", "signal", "share", "norm"):
        assert [three_digits(each) for each in drawn[name]] == [three_digits(float(each)) for each in live[name]], name
    for name in ("x", "y", "whole_x", "whole_y", "alpha", "width"):
        assert drawn[name] == pytest.approx(live[name].tolist(), rel=5e-5, abs=1e-9), name


def test_the_card_of_a_token_is_the_live_pages(lesson: Page, requests: Requests) -> None:
    site, x, y = lesson.evaluate(STRONGEST)
    lesson.mouse.move(x - 2, y)
    lesson.mouse.move(x, y)
    shown = frame(0)
    word = picture.spoken(shown.sites.text[site])
    card = lesson.locator(".bk-tooltip-content, .bk-Tooltip").first
    expect(card).to_contain_text(f"student gives “{word}”{significant(shown.sites.student_p[site])}")
    expect(card).to_contain_text(f"share of the update{significant(100 * shown.sites.share[site])} %")
    expect(card).to_contain_text(f"gradient's norm{significant(shown.sites.norm[site])}")
    held(lesson, "pointed", "data.x.length === 1")
    lesson.mouse.move(4, 4)
    held(lesson, "pointed", "data.x.length === 0")
    assert requests.none


def test_a_tap_picks_an_arrow_out_and_tells_of_its_token_until_the_words_are_others(lesson: Page) -> None:
    site, x, y = lesson.evaluate(STRONGEST)
    lesson.mouse.click(x, y)
    held(lesson, "selected", "data.x.length === 1")
    card, sites = lesson.get_by_role("status", name="The token picked out"), frame(0).sites
    word, raised = picture.spoken(sites.text[site]), picture.spoken(sites.raised[site])
    expect(card).to_contain_text(f"student gives “{word}”{significant(sites.student_p[site])}")
    expect(card).to_contain_text(f"teacher gives “{raised}”{significant(sites.raised_teacher_p[site])}")
    expect(lesson.locator("#caption .key")).to_contain_text("whole length of the arrow picked out")
    lesson.get_by_role("switch", name="Clip").check()
    held(lesson, "selected", "data.x.length === 1")
    lesson.get_by_role("button", name="Next").click()
    held(lesson, "selected", "data.x.length === 0")
    expect(card).to_be_hidden()
    expect(lesson.locator("#caption .key")).not_to_contain_text("picked out")


def longest(draw: int) -> list[str]:
    """What the list of the longest arrows says of a frame."""
    shown = picture.arrows(frame(draw), Radius("log"))
    columns = zip(shown["token"], shown["raised"], shown["share"], strict=True)
    rows = [
        f"{token}{f' → {raised}' * (raised not in ('', token))}, {significant(share)} %"
        for token, raised, share in columns
    ]
    return rows[:-13:-1]


def test_the_longest_arrows_are_a_list_that_keys_pick_from(lesson: Page, requests: Requests) -> None:
    summary = lesson.get_by_text("Longest arrows, and their share of the update")
    summary.focus()
    lesson.keyboard.press("Enter")
    buttons = lesson.get_by_role("list").filter(has=lesson.get_by_role("button")).get_by_role("button")
    expect(buttons).to_have_text(longest(0))
    lesson.keyboard.press("Tab")
    lesson.keyboard.press("Tab")
    lesson.keyboard.press("Enter")
    second = buttons.nth(1)
    expect(second).to_be_focused()
    expect(second).to_be_in_viewport()
    expect(second).to_have_attribute("aria-pressed", "true")
    card, word = lesson.get_by_role("status", name="The token picked out"), longest(0)[1].split(" → ")[0].split(",")[0]
    expect(card).to_contain_text(f"student gives “{word}”")
    held(lesson, "selected", "data.x.length === 1")
    assert found(lesson) == []

    lesson.keyboard.press("ArrowRight")
    expect(buttons).to_have_text(longest(1))
    expect(second).to_be_focused()
    expect(second).to_have_attribute("aria-pressed", "false")
    expect(card).to_be_hidden()
    lesson.keyboard.press(" ")
    expect(card).to_be_visible()
    lesson.keyboard.press(" ")
    expect(card).to_be_hidden()
    held(lesson, "selected", "data.x.length === 0")
    assert requests.none


def test_a_readings_name_opens_what_it_means(lesson: Page) -> None:
    lesson.get_by_role("button", name="Density").click()
    expect(lesson.get_by_role("dialog")).to_contain_text("How much of the signal tells the words of one answer apart")
    lesson.get_by_role("button", name="Close").click()
    expect(lesson.get_by_role("dialog")).to_be_hidden()


def test_who_cannot_see_the_picture_is_told_of_it(lesson: Page) -> None:
    described = lesson.get_by_role("img", name="Step 0, draw 0")
    expect(described).to_have_count(1)
    expect(lesson.locator("#live")).to_contain_text("Step 0, draw 0: past the safe radius")
    lesson.get_by_role("button", name="Next").click()
    expect(lesson.locator("#live")).to_contain_text("Step 0, draw 1")
    expect(lesson.get_by_role("slider", name="Frame")).to_have_attribute(
        "aria-valuetext", f"frame 2 of {FRAMES}: step 0, draw 1"
    )


def test_an_audit_finds_nothing_in_any_theme(lesson: Page) -> None:
    assert found(lesson) == []


def test_the_picture_wears_the_theme_that_is_chosen(lesson: Page) -> None:
    for name, palette in THEMES.items():
        lesson.get_by_role("combobox", name="Theme").select_option(name)
        colour = "() => Bokeh.documents[0].get_model_by_name('plane').background_fill_color"
        assert lesson.evaluate(colour) == palette.paper
        assert lesson.evaluate("() => document.documentElement.dataset.theme") == name


def test_in_no_theme_and_on_no_screen_is_anything_too_wide_or_the_player_out_of_sight(lesson: Page) -> None:
    for theme in THEMES:
        lesson.get_by_role("combobox", name="Theme").select_option(theme)
        for width, height in ((1280, 720), (1024, 768), (768, 1024), (390, 844), (960, 540), (800, 600)):
            lesson.set_viewport_size({"width": width, "height": height})
            lesson.evaluate(LAID_OUT)
            where = (theme, width, height)
            assert lesson.evaluate("() => document.documentElement.scrollWidth") <= width, where
            boxes = lesson.evaluate(BAR)
            seen = boxes if width > height else boxes[:5]
            assert max(box["bottom"] for box in seen) <= height, where
            for i, one in enumerate(boxes):
                assert not any(overlap(one, other) for other in boxes[i + 1 :]), where


#: The boxes of the player's parts that are shown, its buttons first.
BAR = """() => Array.from(document.querySelectorAll(".bar > *"), (each) => each.getBoundingClientRect().toJSON())
  .filter((box) => box.width)"""


def overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    beside = one["right"] <= other["left"] + 1 or other["right"] <= one["left"] + 1
    return not (beside or one["bottom"] <= other["top"] + 1 or other["bottom"] <= one["top"] + 1)


def test_what_a_preset_says_is_text(lesson: Page) -> None:
    expect(lesson.get_by_role("heading", level=1)).to_have_text(PRESET.title)
    expect(lesson.locator(".lesson > p")).to_have_text(HOSTILE)
    assert lesson.evaluate("() => window.harmed") is None


def test_the_page_tells_that_nothing_is_computed_and_with_which_settings_it_was_made(lesson: Page) -> None:
    lesson.get_by_text("All settings").click()
    expect(lesson.locator(".about")).to_contain_text("This is a recording: 3 batches drawn at the checkpoint")
    expect(lesson.locator(".about dl")).to_contain_text("clip.kindtoken-scale")
    lesson.get_by_text("All settings").click()


@pytest.mark.parametrize("sandbox", ["", 'sandbox="allow-scripts"'])
def test_in_a_frame_that_was_hidden_at_first_it_is_drawn_whole_and_plays(
    offline: Page, stick: Path, sandbox: str
) -> None:
    deck = stick / "deck.html"
    deck.write_text(
        "<!DOCTYPE html><style>body { margin: 0 } iframe { width: 960px; height: 540px; border: 0 }</style>"
        f'<section id="slide" style="display: none"><iframe src="lesson.html" {sandbox}></iframe></section>'
    )
    page = offline.context.new_page()
    requests = Requests(page, deck, stick / "lesson.html")
    page.goto(deck.as_uri())
    page.wait_for_timeout(500)
    page.locator("#slide").evaluate("(slide) => { slide.style.display = 'block' }")
    frame_ = page.frame_locator("iframe")
    at(frame_, 0)
    assert page.evaluate("() => document.activeElement === document.body")
    inner = page.frames[1]
    inner.wait_for_function(READY)
    inner.wait_for_function(WIDE_ENOUGH)
    across, up, *_ = inner.evaluate(RANGES)
    assert across == pytest.approx(up)
    page.keyboard.press("ArrowRight")
    at(frame_, 0)
    frame_.locator("h1").click()
    page.keyboard.press("ArrowRight")
    at(frame_, 1)
    frame_.get_by_role("switch", name="Clip").check()
    at(frame_, 1, on=True)
    assert requests.none
    page.close()


def test_a_clip_that_changes_nothing_cannot_be_turned_and_the_looks_of_the_link_are_kept(
    offline: Page, tmp_path: Path
) -> None:
    rewarded = builtin("rl-grpo").config.model_copy(update={"source": Source(prompts=2, group_size=4)})
    kept = exported(builtin("rl-grpo"), rewarded, 1, theme="dark", scale="linear", token="3")
    (tmp_path / "idle.html").write_text(kept, "utf-8")
    page = offline.context.new_page()
    page.goto((tmp_path / "idle.html").as_uri())
    page.wait_for_function(READY)
    expect(page.get_by_role("switch", name="Clip")).to_be_disabled()
    expect(page.get_by_text("changes nothing", exact=True)).to_be_visible()
    expect(page.locator("#caption")).to_contain_text("drawn in proportion")
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    page.close()


def test_a_browser_that_cannot_unpack_it_says_so(offline: Page, stick: Path) -> None:
    page = offline.context.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto((stick / "lesson.html").as_uri())
    expect(page.get_by_role("alert")).to_contain_text("this browser cannot unpack the recording")
    page.close()


def test_percentages_are_those_of_the_frame(lesson: Page) -> None:
    expect(lesson.locator("#caption .held")).to_contain_text(percent(frame(0).plane.captured_share))


def test_a_button_shows_all_of_the_picture_again_while_it_is_zoomed(lesson: Page, requests: Requests) -> None:
    button = lesson.get_by_role("button", name="Fit: show all of the picture again")
    before = lesson.evaluate(RANGES)
    expect(button).to_have_count(0)
    zoomed(lesson)
    button.click()
    restored(lesson, before)
    expect(button).to_have_count(0)
    assert requests.none
