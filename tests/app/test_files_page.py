"""Files in a real Chromium: chosen, dropped, pasted and saved, and what is wrong in them told on the page."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sim.link import Link
from sim.opening import MAX_BYTES, parse_file
from sim.presets import builtin, dumps_preset
from sim.record import dumps_record
from sim.session_file import dumps_session
from sim.timeline import Moment, Timeline
from tests.page import events, verdict

pytestmark = pytest.mark.browser

SMALL = builtin("rl-small-batch")
BROKEN = dumps_preset(SMALL).replace('"alpha": 1.0', '"alpha": 3')
LINE = BROKEN[: BROKEN.index('"alpha": 3')].count("\n") + 1

#: Drags files over the page, and drops them, or drags them out again.
DRAG = """async ([files, kinds]) => {
  const dataTransfer = new DataTransfer()
  for (const [name, base64] of files) {
    const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))
    dataTransfer.items.add(new File([bytes], name))
  }
  const roots = [document], found = []
  while (roots.length) for (const each of roots.pop().querySelectorAll("*")) {
    if (each.shadowRoot) roots.push(each.shadowRoot)
    if (each.matches(".drop")) found.push(each)
  }
  return kinds.map((kind) => {
    const target = kind === "dragenter" ? document.body : found[0]
    return target.dispatchEvent(new DragEvent(kind, {dataTransfer, bubbles: true, cancelable: true, composed: true}))
  })
}"""


def drag(page: Page, files: dict[str, bytes], *kinds: str) -> list[bool]:
    """What becomes of each event: false where the page takes the files, and the browser does not leave it for them."""
    sent = [[name, base64.b64encode(data).decode()] for name, data in files.items()]
    taken: list[bool] = page.evaluate(DRAG, [sent, list(kinds)])
    return taken


def drop(page: Page, files: dict[str, bytes]) -> None:
    assert drag(page, files, "dragenter", "dragover", "drop")[1:] == [False, False]


def hint(page: Page) -> Any:
    return page.get_by_role("status").filter(has_text="Drop it here")


def problems(page: Page) -> Any:
    return page.get_by_role("alert").filter(has_text="Nothing was changed")


def session() -> bytes:
    """A session of three events with a preset of two prompts."""
    timeline = Timeline(SMALL.config, SMALL.title)
    for n in (1, 2):
        timeline.act("draw", f"batch {n} drawn", timeline.current.moment.next_draw())
    return dumps_session(timeline, {0: ("rl-small-batch", SMALL)}).encode()


def test_a_session_is_saved_dropped_undone_and_opened_again(opened: Callable[..., Page], tmp_path: Path) -> None:
    page = opened("?preset=rl-small-batch")
    page.get_by_role("button", name="Draw", exact=True).click()
    expect(events(page)).to_have_count(2)
    with page.expect_download() as saving:
        save = page.get_by_role("button", name="Save", exact=True)
        save.press("Enter")
        expect(page.get_by_role("group", name="Save as")).to_be_in_viewport(ratio=1)
        page.keyboard.press("Escape")
        expect(page.get_by_role("group", name="Save as")).not_to_be_visible()
        expect(save).to_be_focused()
        save.press("Enter")
        page.get_by_role("group", name="Save as").get_by_role("button", name="Session").press("Enter")
    saved = tmp_path / saving.value.suggested_filename
    saving.value.save_as(saved)
    kept = parse_file(saved.read_bytes(), saved.name).kept
    assert kept is not None
    assert [event.kind for event in kept.timeline.events] == ["preset", "draw"]
    expect(page.get_by_role("group", name="Save as")).not_to_be_visible()

    drag(page, {"lecture.json": session()}, "dragenter", "dragover")
    expect(hint(page)).to_be_in_viewport()
    drag(page, {"lecture.json": session()}, "dragleave")
    expect(hint(page)).to_have_count(0)
    drop(page, {"lecture.json": session()})
    expect(hint(page)).to_have_count(0)
    expect(events(page)).to_have_count(3)
    expect(page.get_by_text("step 0, draw 2", exact=True)).to_be_visible()
    told = page.get_by_role("status").filter(has_text="lecture.json took the place of the log of 2 events.")
    expect(told).to_be_in_viewport()
    told.get_by_role("button", name="Undo").press("Enter")
    expect(events(page)).to_have_count(2)
    back = page.get_by_role("status").filter(has_text="Back to the log of 2 events.")
    back.get_by_role("button", name="Dismiss").press("Enter")
    expect(back).to_have_count(0)
    page.get_by_label("Preset file").set_input_files(saved)
    expect(page.get_by_role("status").filter(has_text=saved.name)).to_be_visible()
    expect(events(page)).to_have_count(2)


def test_what_is_pasted_is_opened_unless_a_field_has_the_focus(opened: Callable[..., Page]) -> None:
    page = opened("?preset=sft-fan")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    def paste(text: str) -> None:
        page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        page.keyboard.press("Control+V")

    page.get_by_role("slider", name="Prefixes from").focus()
    paste(dumps_preset(SMALL))
    page.get_by_role("slider", name="Prefixes from").blur()
    paste("no JSON at all")
    paste(BROKEN)
    line = f"what was pasted:{LINE}: config.source.alpha: got 3, allowed 0 to 1"
    expect(problems(page)).to_contain_text(line)
    expect(events(page)).to_have_count(1)
    paste(dumps_preset(SMALL))
    expect(events(page)).to_have_count(2)
    expect(events(page).nth(1)).to_contain_text(SMALL.title)
    expect(problems(page)).to_have_count(0)


def test_an_export_is_dropped_and_shows_its_moment(opened: Callable[..., Page]) -> None:
    page = opened("?preset=sft-fan")
    record = dumps_record(Link(SMALL, "rl-small-batch", Moment(SMALL.config).next_step().next_draw()))
    text = f'<!doctype html><script type="application/json" id="gradcloud">{record}</script>'
    drop(page, {"lesson.html": text.encode()})
    expect(page.get_by_text("step 1, draw 1", exact=True)).to_be_visible()
    expect(page.get_by_label("Preset", exact=True)).to_have_value("rl-small-batch")
    expect(events(page).nth(1)).to_contain_text(SMALL.title)
    expect(verdict(page)).not_to_have_text("measuring")


def test_what_is_too_large_or_too_much_is_told_and_the_connection_holds(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch")
    sent: list[int] = []
    page.on("websocket", lambda _: sent.append(-1))
    chooser = page.get_by_label("Preset file")
    junk = json.dumps({"<b>": 1}).encode().ljust(MAX_BYTES)
    chooser.set_input_files({"name": "large.json", "mimeType": "application/json", "buffer": junk})
    expect(problems(page)).to_contain_text("large.json: over 2000000 bytes")
    chooser.set_input_files({"name": "<b>.json", "mimeType": "application/json", "buffer": junk + b" " * 99})
    expect(problems(page)).to_contain_text(f"<b>.json: got {MAX_BYTES + 99:,} bytes, allowed {MAX_BYTES:,}")
    drop(page, {"a.json": b"{}", "b.json": b"{}"})
    expect(problems(page)).to_contain_text("got 2, allowed is one at a time")
    page.get_by_role("button", name="Draw", exact=True).click()
    expect(page.get_by_text("step 0, draw 1", exact=True)).to_be_visible()
    assert sent == []
