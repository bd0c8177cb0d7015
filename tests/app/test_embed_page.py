"""The page in a frame of another origin: on a slide that is shown, hidden at first or far below, and in a sandbox."""

import re
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from app.embed import iframe
from app.palette import THEMES
from app.visitors import AGAIN
from tests.app.test_small_screens import BOX, SMALL_LETTERS
from tests.page import DRAWN, PATIENCE
from tests.slides import (
    ARMED,
    BARS,
    FOCUSED,
    PLACED,
    SLIDE,
    UNSEEN,
    ZOOM,
    Host,
    clock,
    commanded,
    events,
    hosting,
    inside,
    ready,
    resize,
)

pytestmark = pytest.mark.browser

#: 16:9 and 4:3, as large as a slide and as small as a corner of one; and a column.
SIZES = [(1280, 720), (960, 540), (1024, 768), (800, 600), (640, 360), (480, 360), (390, 700)]
#: Visitors that the server takes at once.
MOST = 2


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page served by the command, for frames without an origin too."""
    options = ["--sandboxed", "--sessions", str(MOST), "--lifetime", "2"]
    with commanded(tmp_path_factory.mktemp("guest"), options) as address:
        yield address


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    """Serves pages under another host name than the guest's, and gives their addresses."""
    with hosting() as serve:
        yield serve


@pytest.fixture(scope="module")
def deck(browser: Browser) -> Iterator[Page]:
    """One page of a browser for all slides."""
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    yield page
    context.close()


Slide = Callable[..., Frame]


@pytest.fixture
def slide(deck: Page, host: Host, guest: str) -> Slide:
    """Opens a slide with one frame, and gives the frame once it has its picture."""

    def show(
        query: str = "", hidden: tuple[str, ...] = (), size: tuple[int, int] = (960, 540), style: str = "",
        sandbox: str | None = None, page: str = "", drawn: bool = True, entry: str = "",
    ) -> Frame:  # fmt: skip
        html = iframe(query, hidden, *size, page or guest).replace('" title', f'{entry}" title')
        if sandbox is not None:
            html = html.replace("<iframe ", f'<iframe sandbox="{sandbox}" ')
        deck.goto(host(SLIDE % (style, html)))
        frame = deck.frames[1]
        if drawn:
            ready(frame)
        return frame

    return show


@pytest.mark.parametrize("theme", THEMES)
def test_at_every_size_the_page_fills_its_frame_and_nothing_is_cut_or_below(
    deck: Page, slide: Slide, theme: str
) -> None:
    frame = slide(f"theme={theme}", size=SIZES[0])
    for width, height in SIZES:
        resize(deck, frame, width, height)
        root = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        assert frame.evaluate(root) == [width, height]
        assert frame.evaluate(BARS) == []
        assert frame.evaluate(SMALL_LETTERS, 11) == []
        picture = frame.evaluate(BOX)
        assert min(picture["width"], picture["height"]) >= min(width, height) / 2
        assert picture["y"] + picture["height"] <= height
        verdict, ratio = inside(frame, ".verdict h2"), inside(frame, ".reading[data-name=update]")
        assert verdict["bottom"] <= ratio["y"] + 1
        for name in ("play", "draw", "step"):
            inside(frame, f".player button.{name}")
        inside(frame, "select[aria-label=Preset]")
        for part in (".readings", ".event-log .log"):
            if frame.locator(part).first.is_visible():
                inside(frame, part)


def test_parts_that_are_hidden_are_not_there_and_the_picture_takes_their_room(slide: Slide) -> None:
    frame = slide("preset=sft-fan", ("menu", "dials", "side", "player", "caption"), (640, 360))
    picture = frame.evaluate(BOX)
    assert picture["width"] >= 640 - 20
    assert picture["height"] >= 360 - 4
    for gone in (
        "select",
        "input[type=range]",
        "[role=switch]",
        ".verdict",
        ".player",
        ".caption",
        ".lesson",
        ".table",
        ".target",
    ):
        expect(frame.locator(gone).locator("visible=true")).to_have_count(0)
    frame = slide("preset=sft-fan", ("tabs", "readings", "log"), (1280, 720))
    inside(frame, ".verdict h2")
    for gone in (".tabs", ".readings", ".event-log .log"):
        expect(frame.locator(gone).first).to_be_hidden()


def test_a_part_that_there_is_not_is_told_in_the_frame(slide: Slide) -> None:
    frame = slide("hide=dial")
    expect(frame.get_by_role("alert").first).to_contain_text('hide: unknown part "dial"; did you mean "dials"?')
    frame = slide("page=compare", drawn=False)
    expect(frame.locator("[role=alert]").first).to_contain_text("embed: the picture fills a frame, the page compare")


def test_loading_takes_neither_the_focus_nor_the_place_nor_a_step_of_the_history(deck: Page, slide: Slide) -> None:
    frame = slide("preset=sft-fan", style="padding-top: 1200px", entry="#term-update")
    assert deck.evaluate(FOCUSED) == "own"
    assert deck.evaluate("scrollY") == 0
    assert not frame.evaluate("document.hasFocus()")
    expect(frame.locator("dialog[open]")).to_have_count(0)
    before = deck.evaluate("history.length")
    frame.get_by_label("Preset", exact=True).select_option("rl-noise-cancels")
    expect(events(frame)).to_have_count(2)
    frame.get_by_role("button", name="Draw", exact=True).click()
    expect(events(frame)).to_have_count(3)
    assert deck.evaluate("history.length") == before


def test_keys_and_wheel_are_the_decks_until_a_press_and_again_after_escape(deck: Page, slide: Slide) -> None:
    frame = slide(size=(960, 540))
    box = deck.locator("iframe").bounding_box()
    assert box is not None
    picture = frame.evaluate(BOX)
    middle = box["x"] + picture["x"] + picture["width"] / 2, box["y"] + picture["y"] + picture["height"] / 2

    # By the keyboard into the frame: its shortcuts are not asked for.
    frame.get_by_role("button", name="Step", exact=True).focus()
    deck.keyboard.press("d")
    assert not frame.evaluate(ARMED)
    zoom = frame.evaluate(ZOOM)
    deck.mouse.move(*middle)
    deck.mouse.wheel(0, 100)
    deck.wait_for_function("scrollY > 0")
    assert frame.evaluate(ZOOM) == zoom
    expect(frame.locator(".hint[role=status]")).to_contain_text("press here")
    deck.evaluate("scrollTo(0, 0)")
    expect(clock(frame)).to_have_text("step 0, draw 0")

    deck.mouse.click(*middle)
    assert frame.evaluate(ARMED)
    deck.keyboard.press("d")
    expect(clock(frame)).to_have_text("step 0, draw 1")
    deck.mouse.wheel(0, -100)
    frame.wait_for_function(f"(before) => ({ZOOM})() > 1.02 * before", arg=zoom)
    assert deck.evaluate("scrollY") == 0
    assert deck.evaluate("heard") == []

    deck.keyboard.press("Escape")
    frame.wait_for_function(f"!({ARMED})")
    deck.keyboard.press("d")
    deck.wait_for_function("heard.includes('d')")
    deck.mouse.click(*middle)
    assert frame.evaluate(ARMED)
    deck.locator("#own").click()
    frame.wait_for_function(f"!({ARMED})")
    deck.keyboard.press("d")
    deck.keyboard.press("Escape")
    expect(clock(frame)).to_have_text("step 0, draw 1")


@pytest.mark.parametrize(
    ("style", "shown"),
    [
        ("display: none", "(each) => { each.style.display = '' }"),
        ("width: 0; height: 0; overflow: hidden", "(each) => { each.style = '' }"),
        ("position: absolute; left: -5000px; visibility: hidden", "(each) => { each.style = '' }"),
        ("padding-top: 2500px", "(each) => { each.scrollIntoView({block: 'end'}) }"),
    ],
    ids=["not displayed", "without size", "beside the screen", "far below"],
)
def test_a_slide_that_is_hidden_at_first_is_right_when_it_is_shown(
    deck: Page, slide: Slide, style: str, shown: str
) -> None:
    frame = slide(style=style, drawn=False)
    # As long as it takes to come to life, if it does so unseen.
    frame.wait_for_function("window.Bokeh?.documents?.[0]?.roots().length > 0", polling=300)
    time.sleep(2)
    deck.locator("#slide").evaluate(shown)
    ready(frame)
    frame.wait_for_function(PLACED)
    picture = frame.evaluate(BOX)
    assert picture["width"] >= 400
    assert picture["height"] >= 400
    inside(frame, ".verdict h2")
    x, y = frame.evaluate("""() => {
      const {x_range: X, y_range: Y, inner_width: w, inner_height: h} = Bokeh.documents[0].get_model_by_name("plane")
      return [w / (X.end - X.start), h / (Y.end - Y.start)]
    }""")
    assert x == pytest.approx(y, rel=0.01)
    frame.wait_for_function(f"!({UNSEEN})")
    assert deck.evaluate(FOCUSED) == "own"


@pytest.mark.parametrize("way", ["(each) => { each.style.display = 'none' }", "() => scrollTo(0, 3000)"])
def test_it_plays_only_while_somebody_can_see_it(deck: Page, slide: Slide, way: str) -> None:
    frame = slide("preset=rl-small-batch")
    frame.get_by_role("button", name="Play").click()
    expect(clock(frame)).to_have_text("step 0, draw 2")
    deck.locator("#slide").evaluate(way)
    frame.wait_for_function(UNSEEN, polling=300)
    frame.wait_for_function("""() => {
      const found = [...document.querySelectorAll("*")]
      while (found.length) {
        const each = found.pop()
        if (each.matches?.(".play")) return !each.classList.contains("on")
        if (each.shadowRoot) found.push(...each.shadowRoot.querySelectorAll("*"))
      }
    }""", polling=300)  # fmt: skip
    # What was on its way when it paused still comes; what plays never rests.
    paused, until = "", time.monotonic() + PATIENCE / 1000
    while paused != (paused := clock(frame).text_content() or ""):
        assert time.monotonic() < until
        time.sleep(2.5)
    deck.evaluate("scrollTo(0, 0)")
    deck.locator("#slide").evaluate("(each) => { each.style.display = '' }")
    expect(frame.get_by_role("button", name="Pause")).to_be_visible()
    expect(clock(frame)).not_to_have_text(paused)


@pytest.mark.parametrize("sandbox", ["allow-scripts allow-same-origin", "allow-scripts"])
def test_a_sandboxed_frame_works_where_the_server_lets_it(deck: Page, slide: Slide, sandbox: str) -> None:
    failed: list[str] = []
    deck.once("pageerror", lambda error: failed.append(str(error)))
    frame = slide("preset=sft-fan", sandbox=sandbox)
    assert frame.evaluate("self.origin === 'null'") == ("same-origin" not in sandbox)
    frame.get_by_label("Preset", exact=True).select_option("rl-noise-cancels")
    expect(events(frame)).to_have_count(2)
    frame.get_by_role("button", name="Draw", exact=True).click()
    expect(clock(frame)).to_have_text("step 0, draw 1")
    frame.get_by_role("tab", name="Tokens").click()
    expect(frame.locator(".token").first).to_be_visible()
    assert failed == []


def test_a_frame_that_the_server_does_not_serve_says_what_its_page_must_add(
    deck: Page, slide: Slide, served: str
) -> None:
    frame = slide("preset=sft-fan", sandbox="allow-scripts", page=served, drawn=False)
    told = frame.locator(".unopened")
    expect(told).to_contain_text('sandbox="allow-scripts allow-same-origin"')
    expect(told).to_contain_text("gradcloud serve --sandboxed")
    frame = slide("preset=sft-fan", sandbox="", page=served, drawn=False)
    expect(frame.locator(".unopened")).to_contain_text('sandbox="allow-scripts allow-same-origin"')
    # As behind a proxy that calls the server by another name.
    deck.route_web_socket(re.compile("preset=sft-dft"), lambda socket: socket.close())
    frame = slide("preset=sft-dft", page=served, drawn=False)
    expect(frame.locator(".unopened")).to_contain_text("gradcloud serve --origin 127.0.0.1")


def test_who_comes_when_all_places_are_taken_is_told_and_comes_in_when_one_is_free(
    deck: Page, slide: Slide, guest: str
) -> None:
    frame = slide("preset=sft-fan")
    others = [deck.context.new_page() for _ in range(2)]
    others[0].goto(f"{guest}?preset=sft-fan")
    others[0].wait_for_function(DRAWN)
    response = others[1].goto(f"{guest}?preset=sft-fan&embed=1")
    assert response is not None
    assert response.status == 200
    expect(others[1].locator("main")).to_contain_text(f"set to serve {MOST} people at once")
    others[0].close()
    others[1].wait_for_function(DRAWN, timeout=AGAIN * 1000 + PATIENCE)
    others[1].close()
    frame.get_by_role("button", name="Draw", exact=True).click()
    expect(clock(frame)).to_have_text("step 0, draw 1")
