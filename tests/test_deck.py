"""The example deck, opened from a file in a Chromium without a network, with pieces made by its own script."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from app import embed
from sim.opening import load_file
from tests.page import PATIENCE

ROOT = Path(__file__).parents[1]
DECK = ROOT / "assets" / "deck"
INDEX = (DECK / "index.html").read_text("utf-8")
#: A batch so small that all pieces are made in seconds.
SMALL = ["--set", "source.prompts=1", "--set", "source.group_size=6"]
LIVE = "http://localhost:5006"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the deck with its pieces, as on a stick."""
    copied = tmp_path_factory.mktemp("stick") / "deck"
    shutil.copytree(DECK, copied, ignore=shutil.ignore_patterns("pieces"))
    subprocess.run([sys.executable, str(DECK / "pieces.py"), str(copied / "pieces"), *SMALL], check=True)
    return copied


@pytest.fixture(scope="module")
def offline(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 720}, offline=True)
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    yield context.new_page()
    context.close()


def requested(page: Page) -> tuple[list[str], list[str]]:
    """What the page asks the network for, and the errors of its scripts; both are filled as it goes on."""
    asked, errors = list[str](), list[str]()
    page.on("request", lambda each: asked.append(each.url) if each.url.startswith(("http", "ws")) else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    return asked, errors


def at(page: Page, number: int) -> None:
    expect(page.locator(f".slides > section:nth-child({number})")).to_have_class(re.compile(r"\bpresent\b"))


def plays_and_rewinds(frame: FrameLocator) -> None:
    place = frame.get_by_role("slider", name="Frame")
    expect(frame.get_by_role("img", name="Step 0, draw 0:")).to_be_visible()
    frame.get_by_role("combobox", name="Speed").select_option("4")
    frame.get_by_role("button", name="Play").click()
    expect(place).to_have_value("7")
    expect(frame.get_by_role("img", name="Step 0, draw 7:")).to_be_visible()
    frame.get_by_role("button", name="First").click()
    expect(place).to_have_value("0")
    expect(frame.get_by_role("img", name="Step 0, draw 0:")).to_be_visible()


def beside(page: Page) -> None:
    """Click beside the picture, so that the slides have the keys again."""
    page.locator("section.present h2").click()


@pytest.mark.browser
@pytest.mark.parametrize(("given", "port"), [("5007", "5007"), ("5007/evil.example", "5006"), ("", "5006")])
def test_the_live_slide_looks_at_the_port_that_its_address_names(
    folder: Path, offline: Page, given: str, port: str
) -> None:
    offline.goto(f"{(folder / 'index.html').as_uri()}?port={given}")
    expect(offline.get_by_text(f"No picture is served at port {port} of this machine.")).to_be_visible()
    assert offline.locator("iframe.live").get_attribute("data-live").startswith(f"http://localhost:{port}/app?")


@pytest.mark.browser
def test_every_slide_shows_what_it_is_for_without_a_network(folder: Path, offline: Page) -> None:
    asked, errors = requested(offline)
    offline.goto((folder / "index.html").as_uri())
    at(offline, 1)
    expect(offline.get_by_text("No picture is served at port 5006 of this machine.")).to_be_visible()
    expect(offline.locator("iframe.live")).to_be_hidden()
    for number, piece in ((2, "opsd-collapse.html"), (3, "rl-grpo.html")):
        offline.keyboard.press("ArrowRight")
        at(offline, number)
        plays_and_rewinds(offline.frame_locator(f"section.present iframe[data-piece='{piece}']"))
        beside(offline)
    for number, piece in ((4, "opsd-collapse.gif"), (5, "opsd-clipped.svg")):
        offline.keyboard.press("ArrowRight")
        at(offline, number)
        shown = offline.locator(f"section.present img[data-piece='{piece}']")
        expect(shown).to_be_visible()
        offline.wait_for_function("(image) => image.complete && image.naturalWidth > 0", arg=shown.element_handle())
    for number in (4, 3, 2, 1):
        offline.keyboard.press("ArrowLeft")
        at(offline, number)
    assert {url.rstrip("/") for url in asked} <= {LIVE}
    assert errors == []


@pytest.mark.browser
def test_where_no_pieces_were_made_the_slides_say_what_to_do(tmp_path: Path, offline: Page) -> None:
    shutil.copytree(DECK, tmp_path / "deck", ignore=shutil.ignore_patterns("pieces"))
    offline.goto((tmp_path / "deck" / "index.html").as_uri())
    at(offline, 1)
    for number in (2, 3, 4, 5):
        offline.keyboard.press("ArrowRight")
        at(offline, number)
        expect(offline.locator("section.present")).to_contain_text("Run make deck, and load this page again.")
        assert offline.locator("section.present").locator("iframe, img").count() == 0


def test_each_piece_carries_the_preset_that_its_slide_is_about(folder: Path) -> None:
    pieces = re.findall(r'data-piece="([^"]+)"', INDEX)
    assert len(pieces) == 4
    for piece in pieces:
        opened = load_file(str(folder / "pieces" / piece))
        assert piece.startswith(opened.name or "no name")
        assert opened.moment.config.source.prompts == 1


def test_the_live_slide_asks_for_a_frame_that_the_page_knows() -> None:
    address = re.search(r'data-live="([^"]+)"', INDEX)
    assert address is not None
    page, _, query = address[1].replace("&amp;", "&").partition("?")
    assert page == embed.PAGE
    assert query == embed.query("preset=opsd-collapse", ["menu", "log"])


def test_the_deck_is_small_and_has_its_librarys_licence() -> None:
    files = [path for path in DECK.rglob("*") if path.is_file() and "pieces" not in path.parts]
    assert sum(path.stat().st_size for path in files) < 250_000
    licence = (DECK / "reveal" / "LICENSE").read_text("utf-8")
    assert licence.startswith("reveal.js 6.0.2")
    assert "Permission is hereby granted" in licence


def test_every_slide_has_notes() -> None:
    assert INDEX.count("<section>") == INDEX.count('<aside class="notes">') == 5
