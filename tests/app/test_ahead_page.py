"""The look-ahead in a real Chromium: two runs of the collapse's lesson, and what a visitor does meanwhile and after."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from sim.presets import builtin, dumps_preset
from tests.page import DRAWN, PATIENCE, events, verdict
from tests.server import serving

pytestmark = pytest.mark.browser

#: Milliseconds that a run of a few steps may take on a busy machine.
LONG = 600_000
RUNS = """() => ["A", "B"].map((letter) => {
  const source = Bokeh.documents[0].get_model_by_name(`run ${letter}`)
  return source ? Array.from(source.data.step) : []
})"""
COLLAPSE = """() => Array.from(Bokeh.documents[0].get_model_by_name("collapse A").data.x)"""
READ = """() => {
  const {step, accuracy, facts, copying} = Bokeh.documents[0].get_model_by_name("run A").data
  return {step: [...step], accuracy: [...accuracy], facts: [...facts], copying: [...copying]}
}"""
CURVE = """() => {
  const figure = Bokeh.documents[0].get_model_by_name("curve accuracy"), view = Bokeh.index.find_one(figure)
  const {step, accuracy} = Bokeh.documents[0].get_model_by_name("run B").data
  const box = view.el.getBoundingClientRect(), frame = view.frame
  return {x: box.left + frame.x_scale.compute(step[1]), y: box.top + frame.y_scale.compute(accuracy[1])}
}"""


def section(page: Page) -> Locator:
    return page.get_by_role("region", name="Look ahead")


def run_ahead(page: Page, steps: int, compared: str) -> None:
    page.get_by_label("Take this step").fill(str(steps))
    page.get_by_label("Compare the run with").select_option(compared)
    section(page).get_by_role("button", name="Run ahead").click()


def recorded(page: Page, count: int) -> None:
    page.wait_for_function(f"(count) => ({RUNS})().every((steps) => steps.length >= count)", arg=count, timeout=LONG)


def slide(page: Page, name: str, value: Any) -> None:
    page.get_by_role("slider", name=name, exact=True).fill(str(value))


def few(path: Path) -> Path:
    """A file of the collapse's lesson with few answers, so that a step is taken in a second."""
    preset = json.loads(dumps_preset(builtin("opsd-collapse")))
    preset["config"]["source"] |= {"prompts": 4, "group_size": 4}
    preset["config"]["update"]["step_size"] = 0.4
    # With this seed the teachers part within ten steps.
    preset["config"]["seed"] = 2
    path.write_text(json.dumps(preset), "utf-8")
    return path


def test_a_live_and_a_frozen_teacher_side_by_side_marked_by_any_rule_and_opened_on_the_plane(
    opened: Callable[..., Page], tmp_path: Path
) -> None:
    page = opened()
    page.get_by_label("Preset file").set_input_files(few(tmp_path / "few.json"))
    expect(events(page)).to_have_count(2)
    expect(verdict(page)).to_have_text("past the safe radius")
    run_ahead(page, 10, "teacher")
    expect(section(page).get_by_role("button", name="Stop")).to_be_visible()
    expect(section(page)).to_contain_text(re.compile(r"step [1-9] of 10, about .* left"), timeout=LONG)
    expect(section(page).get_by_role("button", name="Run ahead")).to_be_visible(timeout=LONG)
    assert page.evaluate(RUNS) == [list(range(11))] * 2

    # The same records are marked anew by another rule.
    read = page.evaluate(READ)
    marked = []
    for share in (0.9, 0.1, 0.5):
        slide(page, "Collapse rule", share)
        expect(section(page)).to_contain_text(f"below {share} of what the run began with")
        skills = [read[name] for name in ("accuracy", "facts", "copying")]
        fallen = [step for step in range(11) if any(skill[step] < share * skill[0] for skill in skills)]
        page.wait_for_function(f"(wanted) => ({COLLAPSE})().join() === wanted", arg=",".join(map(str, fallen[:1])))
        marked.append(fallen[0])
        live, frozen = (
            rf"live teacher: collapsed by step {fallen[0]}\.",
            r"frozen teacher: accuracy 0\.\d+ after 10 steps\.",
        )
        expect(section(page).locator(".summary")).to_have_text(re.compile(f"^With a {live} With a {frozen}$"))
    assert marked[0] <= marked[2] <= marked[1]

    slide(page, "Step", 2)
    section(page).get_by_role("button", name="Show it on the plane").click()
    expect(events(page).nth(2)).to_contain_text("step 2 of the look-ahead, with a live teacher")
    expect(events(page).nth(2)).to_contain_text(re.compile("inside|near|past"))
    expect(page.get_by_text("step 2, draw 0", exact=True)).to_be_visible()

    page.get_by_role("button", name="First", exact=True).click()
    expect(page.get_by_text("step 0, draw 0", exact=True)).to_be_visible()
    page.locator(".curves").scroll_into_view_if_needed()
    at = page.evaluate(CURVE)
    page.mouse.click(at["x"], at["y"])
    expect(events(page).nth(4)).to_contain_text("step 1 of the look-ahead")
    expect(page.get_by_text("step 1, draw 0", exact=True)).to_be_visible()


def test_the_page_stays_usable_while_two_runs_are_under_way_and_a_stop_keeps_what_came(
    opened: Callable[..., Page], tmp_path: Path
) -> None:
    page = opened("?preset=rl-small-batch")
    page.get_by_label("Preset file").set_input_files(few(tmp_path / "few.json"))
    expect(events(page)).to_have_count(2)
    expect(verdict(page)).to_have_text("past the safe radius")
    run_ahead(page, 49, "preset:rl-small-batch")
    recorded(page, 2)
    page.get_by_role("switch", name="Clip", exact=True).click()
    expect(verdict(page)).to_have_text("inside the safe radius")
    page.get_by_role("switch", name="Clip", exact=True).click()
    expect(verdict(page)).to_have_text("past the safe radius")
    page.get_by_role("button", name="Draw", exact=True).click()
    expect(events(page).nth(4)).to_contain_text(re.compile("inside|near|past"))
    # None of this waited for the runs to end.
    section(page).get_by_role("button", name="Stop").click()
    expect(section(page).get_by_role("button", name="Run ahead")).to_be_visible()
    expect(section(page)).to_contain_text(re.compile(r"step \d+ of 49, stopped"))
    expect(section(page).locator(".summary")).to_contain_text("stopped")
    kept = page.evaluate(RUNS)
    assert all(2 <= len(steps) < 50 for steps in kept)
    page.wait_for_timeout(1500)
    assert page.evaluate(RUNS) == kept


def test_on_a_telephone_the_look_ahead_does_not_overflow_and_an_order_out_of_bounds_is_refused_in_words(
    opened: Callable[..., Page],
) -> None:
    page = opened("?preset=rl-small-batch", width=390, height=844)
    run_ahead(page, 5, "nothing")
    expect(section(page).get_by_role("alert")).to_contain_text("got 5, allowed 10 to 1,000")
    expect(section(page).get_by_role("button", name="Run ahead")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    run_ahead(page, 10, "nothing")
    page.wait_for_function(f"() => ({RUNS})()[0].length > 0", timeout=LONG)
    section(page).get_by_role("button", name="Stop").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = section(page).bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_the_batch_law_is_measured_in_the_background_and_stops_when_told(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch")
    page.get_by_role("button", name="Batch law").click()
    law = page.get_by_role("region", name="Batch law")
    expect(law).to_contain_text(re.compile(r"batch [1-9]\d* of \d+"))
    page.wait_for_function("() => Bokeh.documents[0].get_model_by_name('lengths') !== null", timeout=LONG)
    law.get_by_role("button", name="Stop measuring").click()
    expect(law).to_contain_text("Stopped early.")
    expect(law.get_by_role("button", name="Batch law")).to_be_visible()


def test_the_server_ends_when_told_though_a_run_is_under_way(page: Page, tmp_path: Path) -> None:
    page.set_default_timeout(PATIENCE)
    with serving(tmp_path) as address:
        page.goto(f"{address}?preset=rl-small-batch")
        page.wait_for_function(DRAWN)
        run_ahead(page, 1000, "nothing")
        page.wait_for_function(f"() => ({RUNS})()[0].length > 0", timeout=LONG)
    assert "Traceback" not in (tmp_path / "server.log").read_text("utf-8")
