"""The share dialog in a real Chromium: what is copied, what is downloaded, and what it takes to leave it."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from app.embed import PARTS
from sim.link import parse_link
from sim.presets import builtin, dumps_preset
from sim.record import MARK
from sim.timeline import Moment
from tests.app.conftest import simulator
from tests.app.test_axe import found, settled
from tests.app.test_left_alone import small
from tests.app.test_menu_page import FOCUSED
from tests.page import DRAWN, PATIENCE, events, resize

pytestmark = pytest.mark.browser

CONFIG = small("rl-small-batch")
NAME = "rl-two-prompts-are-not-enough"


@pytest.fixture(scope="module")
def shared(browser: Browser, served: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page with a small batch on show."""
    expect.set_options(timeout=PATIENCE)
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(served)
    page.wait_for_function(DRAWN)
    file = tmp_path_factory.mktemp("shared") / "small.json"
    file.write_text(dumps_preset(builtin("rl-small-batch").model_copy(update={"config": CONFIG})), "utf-8")
    page.get_by_label("Preset file").set_input_files(file)
    expect(events(page)).to_have_count(2)
    page.get_by_role("button", name="Draw").click()
    expect(events(page)).to_have_count(3)
    settled(page)
    yield page
    context.close()


@pytest.fixture
def dialog(shared: Page) -> Iterator[Locator]:
    """The dialog, opened, with its links."""
    shared.get_by_role("button", name="Share", exact=True).click()
    box = shared.get_by_role("dialog", name="Share")
    expect(box.get_by_label("Address")).to_have_value(re.compile("^http"))
    yield box
    if box.is_visible():
        shared.keyboard.press("Escape")
    expect(box).to_be_hidden()


def saved(page: Page, button: Locator) -> tuple[str, bytes]:
    """The name and the bytes of what a press on a button brings."""
    with page.expect_download(timeout=PATIENCE) as download:
        button.click()
    expect(page.get_by_role("dialog", name="Share").locator(".told")).to_contain_text("is made")
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_the_link_is_of_what_is_on_show_with_the_log_and_without(dialog: Locator) -> None:
    field, log = dialog.get_by_label("Address"), dialog.get_by_label("with the log")
    expect(log).to_be_checked()
    moments = list[Moment]()
    for checked in (True, False):
        log.set_checked(checked)
        link, problems = parse_link(field.input_value())
        assert problems == []
        assert (link.kept is not None) == checked
        moments.append(link.moment)
    log.check()
    assert moments == [Moment(CONFIG, draw=1)] * 2
    assert dialog.locator(".title").text_content() == f"{builtin('rl-small-batch').title}, seed 0, step 0, draw 1"


def test_no_link_of_an_earlier_opening_is_offered_when_it_is_opened_again(dialog: Locator) -> None:
    html, field = dialog.get_by_label("Frame's HTML"), dialog.get_by_label("Address")
    expect(html).to_have_value(re.compile("^<iframe"))
    before = field.input_value(), html.input_value()
    # Closed and opened within one task of the browser: no answer can have come in between.
    at_once = """(html) => {
      const dialog = html.closest("dialog"), field = dialog.querySelector("[aria-label=Address]")
      dialog.close()
      window.dispatchEvent(new CustomEvent("gradcloud-share"))
      const copies = [...dialog.querySelectorAll("button")].filter((each) => each.textContent.startsWith("Copy"))
      return [field.value, html.value, ...copies.map((each) => each.disabled)]
    }"""
    assert html.evaluate(at_once) == ["", "", True, True]
    expect(field).to_have_value(before[0])
    expect(html).to_have_value(before[1])


def test_link_and_frame_are_copied_or_else_selected(shared: Page, dialog: Locator) -> None:
    shared.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for words, field in (("Link", "Address"), ("Frame", "Frame's HTML")):
        dialog.get_by_role("button", name=f"Copy {words.lower()}").click()
        expect(dialog.get_by_role("status").get_by_text(f"{words} copied.")).to_be_visible()
        held = shared.evaluate("navigator.clipboard.readText()")
        assert held == dialog.get_by_label(field).input_value()
        assert held
    shared.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('not here')) }")
    dialog.get_by_role("button", name="Copy link").click()
    expect(dialog.get_by_role("status").get_by_text("Selected: press Ctrl-C")).to_be_visible()
    selected = """() => {
      let at = document.activeElement
      while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
      return at.value.slice(at.selectionStart, at.selectionEnd)
    }"""
    assert shared.evaluate(selected) == dialog.get_by_label("Address").input_value()


def test_the_frame_leaves_out_what_is_ticked_and_has_the_shape_that_is_chosen(dialog: Locator) -> None:
    html = dialog.get_by_label("Frame's HTML")
    expect(html).to_have_value(re.compile('^<iframe src="http://127.0.0.1:.*embed=1".* width="960" height="540"'))
    dialog.get_by_label("Shape").select_option("4:3")
    dialog.get_by_label("Width").fill("800")
    dialog.get_by_label(f"dials {PARTS['dials']}", exact=True).check()
    expect(html).to_have_value(re.compile('hide=dials".* width="800" height="600"'))
    dialog.get_by_label("Width").fill("7")
    dialog.get_by_label("Width").press("Tab")
    expect(dialog.get_by_role("alert")).to_contain_text("width: got 7, allowed a whole number, 320 to 3840")
    expect(dialog.get_by_role("button", name="Copy frame")).to_be_disabled()


def test_pictures_and_numbers_arrive_whole_under_names_that_say_what_they_are(shared: Page, dialog: Locator) -> None:
    frame = simulator().frame(Moment(CONFIG, draw=1))
    dialog.get_by_label("Size of the picture").select_option("2")
    name, data = saved(shared, dialog.get_by_role("button", name="Save picture"))
    assert name == f"{NAME}-seed0-step0-draw1-2x.png"
    assert Image.open(io.BytesIO(data)).size == (2560, 1440)
    for kind in ("svg", "pdf"):
        dialog.get_by_label("Kind of picture").select_option(kind)
        name, data = saved(shared, dialog.get_by_role("button", name="Save picture"))
        assert name == f"{NAME}-seed0-step0-draw1.{kind}"
        assert data.startswith(b"%PDF-") if kind == "pdf" else ET.fromstring(data).tag.endswith("svg")
    name, data = saved(shared, dialog.get_by_role("button", name="Save data"))
    rows = csv.DictReader(data.decode().splitlines()[1:])
    assert [float(row["x"]) for row in rows] == frame.sites.x.tolist()
    for kind in ("json", "parquet"):
        dialog.get_by_label("Kind of data").select_option(kind)
        name, data = saved(shared, dialog.get_by_role("button", name="Save data"))
        assert name == f"{NAME}-seed0-step0-draw1.{kind}"
        assert (
            data.startswith(b"PAR1") if kind == "parquet" else len(json.loads(data)["sites"]) == len(frame.sites.text)
        )


def test_preset_and_session_arrive(shared: Page, dialog: Locator) -> None:
    name, data = saved(shared, dialog.get_by_role("button", name="Save preset"))
    assert (name, json.loads(data)["config"]) == (f"{NAME}.json", CONFIG.model_dump(mode="json"))
    name, data = saved(shared, dialog.get_by_role("button", name="Save session"))
    assert name == f"{NAME}-seed0-step0-draw1-session.json"
    assert len(json.loads(data)["events"]) == 3


@pytest.mark.parametrize("kind", ["gif", "mp4", "webm"])
def test_a_film_arrives(shared: Page, dialog: Locator, kind: str) -> None:
    dialog.get_by_label("Kind of film").select_option(kind)
    section = dialog.get_by_role("group", name="Film")
    section.get_by_label("Frames", exact=True).fill("2")
    section.get_by_label("Film: frames along").select_option("steps")
    name, data = saved(shared, dialog.get_by_role("button", name="Make film"))
    assert name == f"{NAME}-seed0-step0-draw1-2-steps.{kind}"
    begins = {"gif": b"GIF89a", "mp4": b"ftyp", "webm": b"\x1aE\xdf\xa3"}[kind]
    assert begins in data[:12]
    assert MARK.encode() in data


def test_a_lesson_arrives_and_is_said_to_be_a_recording(shared: Page, dialog: Locator) -> None:
    dialog.get_by_role("group", name="Lesson").get_by_label("Frames", exact=True).fill("2")
    name, data = saved(shared, dialog.get_by_role("button", name="Make lesson"))
    assert name == f"{NAME}-seed0-step0-draw1-2-draws.html"
    told = dialog.locator(".told").text_content() or ""
    assert f"{name} is made, {len(data) / 1e6:.1f} MB. It is a recording: 2 draws that were measured here." in told
    record = re.search(rf'<script type="application/json" id="{MARK}">(.*?)</script>', data.decode(), re.DOTALL)
    assert record is not None
    assert parse_link(json.loads(record[1])["link"])[0].moment == Moment(CONFIG, draw=1)


def test_a_lesson_is_cancelled_by_the_keyboard_and_the_focus_stays(shared: Page, dialog: Locator) -> None:
    count = dialog.get_by_role("group", name="Lesson").get_by_label("Frames", exact=True)
    count.fill("61")
    make = dialog.get_by_role("button", name="Make lesson")
    make.focus()
    shared.keyboard.press("Enter")
    expect(dialog.locator(".told")).to_contain_text("frames: got 61, allowed a whole number, 2 to 60")
    count.fill("60")
    make.focus()
    shared.keyboard.press("Enter")
    cancel = dialog.get_by_role("button", name="Cancel")
    expect(cancel).to_be_visible()
    expect(make).to_have_attribute("aria-disabled", "true")
    expect(dialog.locator(".told")).to_contain_text("frames measured")
    expect(dialog.get_by_role("progressbar")).to_have_attribute("max", "120")
    cancel.focus()
    shared.keyboard.press("Enter")
    expect(dialog.locator(".told")).to_have_text("Lesson cancelled; nothing was made.")
    expect(cancel).to_be_hidden()
    assert shared.evaluate(FOCUSED)[1] == "Make lesson"
    expect(events(shared)).to_have_count(3)


def test_what_cannot_be_made_here_is_greyed_with_the_reason(shared: Page, dialog: Locator) -> None:
    set_reasons = """(reasons) => {
      const model = Bokeh.documents[0].select_by_type?.length
      for (const each of Bokeh.documents[0]._all_models.values())
        if (each.data?.attributes?.reasons !== undefined) each.data.reasons = reasons
      return model
    }"""
    why = "Parquet needs pyarrow, which is not installed: pip install pyarrow"
    shared.evaluate(set_reasons, {"parquet": why})
    option = dialog.get_by_label("Kind of data").locator("option[value=parquet]")
    expect(option).to_be_disabled()
    expect(dialog.get_by_text(f"{why}.", exact=True)).to_be_visible()
    shared.evaluate(set_reasons, {})
    expect(option).to_be_enabled()


def test_it_takes_keys_and_focus_and_gives_them_back(shared: Page, dialog: Locator) -> None:
    inside = "() => { let at = document.activeElement; while (at?.shadowRoot?.activeElement) " \
             "at = at.shadowRoot.activeElement; return at === document.body || !!at.closest('dialog') }"  # fmt: skip
    assert shared.evaluate(FOCUSED)[1] == "Address"
    for _ in range(40):
        shared.keyboard.press("Tab")
        assert shared.evaluate(inside)
    dialog.get_by_role("button", name="Close").focus()
    for key in ("d", "r", "1", "ArrowRight"):
        shared.keyboard.press(key)
    shared.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert shared.evaluate(FOCUSED)[1] == "Share"
    expect(events(shared)).to_have_count(3)


def test_an_audit_finds_nothing_and_a_telephone_shows_all_of_it(shared: Page, dialog: Locator) -> None:
    assert found(shared) == []
    resize(shared, 390, 844)
    box: Any = dialog.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["y"] + box["height"] <= 844
    assert dialog.evaluate("(each) => each.scrollWidth <= each.clientWidth")
    for button in dialog.get_by_role("button").all():
        button.scroll_into_view_if_needed()
        held: Any = button.bounding_box()
        assert held["height"] >= 44, button.text_content()
        assert held["x"] + held["width"] <= 390
    resize(shared, 1280, 720)
