"""The keys that act on the page: what each does, and where none does anything."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.fields import idle
from app.frames import Frames
from app.playable import acts
from app.shortcuts import HELP, PRESETS, SHORTCUTS
from app.views.keys import Keys, of_session, toggle_clip
from app.views.menu import Menu
from app.views.player import Player
from sim.presets import builtin
from tests.app.conftest import begun, run, settled
from tests.page import events

#: The focused element, through the shadow roots.
FOCUSED = """() => {
  let each = document.activeElement
  while (each.shadowRoot?.activeElement) each = each.shadowRoot.activeElement
  return each.getAttribute("aria-label") ?? each.textContent
}"""
NO_STORAGE = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("The document is sandboxed.", "SecurityError") },
})"""


@pytest.fixture
def ready(opened: Callable[..., Page]) -> Callable[..., Page]:
    """Opens the page and waits until it listens to keys."""

    def open_page(query: str = "") -> Page:
        page = opened(query)
        dialog(page).wait_for(state="attached")
        expect(events(page)).to_have_count(1)
        return page

    return open_page


def dialog(page: Page) -> Any:
    return page.locator("dialog[aria-labelledby=keys]")


def preset(page: Page) -> Any:
    return page.get_by_label("Preset", exact=True)


def nothing_was_done(page: Page) -> None:
    """Nothing but one batch that is drawn now, by a button: messages come in the order in which they are sent."""
    before = events(page).count()
    page.get_by_role("button", name="Draw").click()
    expect(events(page).nth(before)).to_contain_text("drawn")
    expect(events(page)).to_have_count(before + 1)
    expect(dialog(page)).not_to_be_visible()


@pytest.mark.browser
def test_each_key_moves_through_time_as_its_button_does(ready: Callable[..., Page]) -> None:
    page = ready()
    for key, words in (
        ("d", "batch 1 drawn"), ("ArrowRight", "step 1 taken"), ("ArrowLeft", "back to #1"), ("Home", "back to #0"),
        ("End", "back to #2"), ("D", "batch 1 drawn"), ("r", "past the ring"),
    ):  # fmt: skip
        count = events(page).count()
        page.keyboard.press(key)
        expect(events(page).nth(count)).to_contain_text(words)
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.browser
def test_c_turns_the_clip_and_says_where_that_changes_nothing(ready: Callable[..., Page]) -> None:
    page = ready()
    clip = page.get_by_role("switch", name="Clip", exact=True)
    page.keyboard.press("c")
    expect(clip).to_be_checked()
    expect(events(page).nth(1)).to_contain_text("clip on")
    page.keyboard.press("c")
    expect(clip).not_to_be_checked()
    page.keyboard.press("6")
    expect(preset(page)).to_have_value("rl-noise-cancels")
    page.keyboard.press("c")
    expect(page.get_by_role("alert")).to_contain_text("λ is 0")
    expect(events(page)).to_have_count(4)


@pytest.mark.browser
def test_the_digits_load_presets_and_the_menu_says_which(ready: Callable[..., Page]) -> None:
    page = ready()
    for i, name in reversed(list(enumerate(PRESETS, 1))):
        page.keyboard.press(str(i))
        expect(preset(page)).to_have_value(name)
        expect(preset(page).locator("option:checked")).to_have_text(f"{builtin(name).title} ({i})")


@pytest.mark.browser
def test_a_control_that_has_the_focus_keeps_its_keys(ready: Callable[..., Page]) -> None:
    page = ready()
    page.get_by_role("combobox", name="Speed").focus()
    for key in ("d", "c", "r", "?", "End"):
        page.keyboard.press(key)
    expect(page.get_by_role("combobox", name="Speed")).to_have_value("10")
    nothing_was_done(page)
    page.get_by_role("slider", name="Prefixes from").focus()
    for key in ("d", "c", "r", "1", "?", " "):
        page.keyboard.press(key)
    nothing_was_done(page)
    page.get_by_role("slider", name="Prefixes from").focus()
    page.keyboard.press("ArrowLeft")
    expect(events(page).nth(3)).to_contain_text("α 0.95")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowLeft")
    expect(events(page).nth(4)).to_contain_text("back to #2")
    page.get_by_role("tab", name="Readings").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Tokens")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="Tokens").press("ArrowLeft")
    nothing_was_done(page)


@pytest.mark.browser
def test_keys_of_the_browser_are_left_to_it(ready: Callable[..., Page]) -> None:
    page = ready()
    fire = """(options) => document.body.dispatchEvent(new KeyboardEvent("keydown", {bubbles: true, cancelable: true,
      composed: true, ...options}))"""
    for modifier in ("ctrlKey", "altKey", "metaKey"):
        assert page.evaluate(fire, {"key": "d", modifier: True})
    assert page.evaluate(fire, {"key": "ArrowRight", "shiftKey": True})
    assert page.evaluate(fire, {"key": "x"})
    page.evaluate(fire, {"key": "d", "repeat": True})
    nothing_was_done(page)


@pytest.mark.browser
def test_space_on_a_button_presses_it_and_does_not_play(ready: Callable[..., Page]) -> None:
    page = ready()
    page.get_by_role("button", name="Draw").focus()
    page.keyboard.press("Space")
    expect(events(page).nth(1)).to_contain_text("batch 1 drawn")
    page.get_by_text("more", exact=True).focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("slider", name="Temperature")).to_be_visible()
    nothing_was_done(page)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.browser
def test_the_list_opens_closes_and_gives_the_focus_back(ready: Callable[..., Page]) -> None:
    page = ready()
    page.get_by_role("button", name="Draw").focus()
    page.keyboard.press("?")
    expect(dialog(page)).to_be_visible()
    for each in SHORTCUTS:
        expect(dialog(page).get_by_text(each.said, exact=True)).to_be_visible()
        expect(dialog(page).get_by_text(each.what, exact=True)).to_be_visible()
    assert page.evaluate(FOCUSED) == "Close"
    for key in ("d", "ArrowRight", "1", "c"):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    expect(dialog(page)).not_to_be_visible()
    assert page.evaluate(FOCUSED) == "Draw"
    nothing_was_done(page)
    page.get_by_role("button", name="Keys", exact=True).click()
    expect(dialog(page)).to_be_visible()
    page.mouse.click(10, 700)
    expect(dialog(page)).not_to_be_visible()
    assert page.evaluate(FOCUSED) == "Keys"


@pytest.mark.browser
def test_keys_are_switched_off_and_stay_off_until_they_are_switched_on(ready: Callable[..., Page]) -> None:
    page = ready()
    page.keyboard.press("?")
    switch = page.get_by_role("checkbox", name="Keys act on the page")
    switch.uncheck()
    page.keyboard.press("Escape")
    for _ in range(2):
        for key in ("d", "?", "Space", "ArrowRight"):
            page.keyboard.press(key)
        nothing_was_done(page)
        page = ready()
    page.get_by_role("button", name="Keys", exact=True).click()
    switch.check()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("d")
    expect(events(page).nth(1)).to_contain_text("batch 1 drawn")


@pytest.mark.browser
def test_where_nothing_can_be_stored_keys_work_all_the_same(ready: Callable[..., Page], page: Page) -> None:
    failed: list[str] = []
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.add_init_script(NO_STORAGE)
    ready()
    page.keyboard.press("?")
    page.get_by_role("checkbox", name="Keys act on the page").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    nothing_was_done(page)
    assert [each for each in failed if "sandboxed" in each] == []


def test_every_key_of_the_table_is_one_act_of_the_page_and_no_key_is_two(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        told = {*acts(session), *of_session(session), HELP}
        assert {each.act for each in SHORTCUTS} == told
        assert len({each.key for each in SHORTCUTS}) == len(SHORTCUTS) == len(told)
        keys, player = Keys(session, of_session(session)), Player(session)
        assert [each["act"] for each in keys.shortcuts] == [each.act for each in SHORTCUTS]
        for each in SHORTCUTS:
            if each.act in player.buttons:
                assert player.buttons[each.act] == {"title": f"{each.what} ({each.said})", "aria": each.aria}
        assert set(player.buttons) == set(acts(session))
        assert Menu(session).keys["aria"] == "?"
        session.close()

    run(scene())


def test_where_there_are_no_presets_and_no_clip_no_key_is_theirs(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        offered = {each["act"] for each in Keys(session).shortcuts}
        assert offered == {*acts(session), HELP}
        session.close()

    run(scene())


def test_a_clip_without_an_effect_is_left_alone_and_the_reason_told(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        session.dials.weight = 0.0
        toggle_clip(session)
        await settled(session)
        assert not session.dials.clip
        assert session.problems == [f"Clip: it changes nothing here; {idle(session.dials.config)['clip']}"]
        session.dials.weight = 1.0
        toggle_clip(session)
        assert session.dials.clip
        assert session.problems == []
        session.close()

    run(scene())
