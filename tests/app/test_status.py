"""What is read aloud: each picture in a sentence, each batch in a few words, and nothing twice."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.frames import Frames
from app.session import Session
from app.views.status import Status, brief, summary
from sim.frame import PENDING, Frame, Undetermined
from tests.app.conftest import Paced, begun, run, sample, settled
from tests.page import events

CANVAS = """() => {
  const plane = Bokeh.documents[0].get_model_by_name("plane")
  const drawn = Bokeh.index.find_one(plane).canvas_view.events_el
  return [drawn.getAttribute("role"), drawn.getAttribute("aria-label")]
}"""
#: Notes every change of what a screen reader is to read.
LISTEN = """() => {
  const roots = [document]
  window.heard = []
  while (roots.length) for (const each of roots.pop().querySelectorAll("*")) {
    if (each.shadowRoot) roots.push(each.shadowRoot)
    if (!each.matches(".live")) continue
    new MutationObserver(() => window.heard.push(each.textContent)).observe(each, {childList: true})
  }
}"""


def fast(frame: Frame) -> Frame:
    """The frame as it comes first, its exact norms still missing."""
    bare = replace(frame, measures=replace(frame.measures, mean_norm=PENDING))
    assert not bare.complete
    return bare


def heard(session: Session) -> tuple[Status, list[str]]:
    """A status, and all that it ever gives a screen reader to say."""
    status, told = Status(session), list[str]()
    status.param.watch(lambda change: told.append(change.new), "spoken")
    return status, told


def test_a_picture_is_told_once_and_only_when_it_is_complete(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        frame = await settled(session)
        status, told = heard(session)
        assert status.spoken == status.summary == summary(frame)
        other = replace(sample(), draw=7)
        session.param.update(settled=False, busy="Sampling other answers")
        session.param.update(frame=fast(other), busy="")
        assert (told, status.summary) == ([], summary(other))
        session.param.update(frame=other)
        session.param.update(settled=True)
        assert told == [summary(other)]
        session.close()

    run(scene())


def test_while_it_plays_each_batch_is_told_in_a_few_words_once(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        frame = await settled(session)
        _, told = heard(session)
        session.param.update(playing=True, settled=False)
        assert told == []
        for draw in (1, 2):
            session.param.update(frame=fast(replace(frame, draw=draw)))
            session.param.update(frame=replace(frame, draw=draw))
        assert told == [brief(replace(frame, draw=draw)) for draw in (1, 2)]
        session.param.update(playing=False)
        session.param.update(settled=True)
        assert told[2:] == [summary(replace(frame, draw=2))]
        session.close()

    run(scene())


def test_batches_that_come_faster_than_words_are_not_all_told(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        frame = await settled(session)
        _, told = heard(session)
        session.param.update(playing=True, speed=4)
        for draw in range(1, 9):
            session.param.update(frame=replace(frame, draw=draw))
        assert told == [brief(replace(frame, draw=draw)) for draw in (4, 8)]
        session.close()

    run(scene())


def test_a_batch_in_a_few_words_has_its_number_its_verdict_and_its_ratio() -> None:
    frame = sample()
    said = brief(replace(frame, draw=5, verdict=replace(frame.verdict, level="past")))
    assert said.startswith("draw 5: past, ")
    silent = replace(
        frame,
        verdict=replace(frame.verdict, level="none"),
        update=replace(frame.update, ratio=Undetermined("no signal")),
    )
    assert brief(silent) == "draw 0: no signal"


def test_what_fails_is_told_and_the_picture_stays_as_it_was_told(paced_frames: Frames, paced: Paced) -> None:
    async def scene() -> None:
        session = begun(paced_frames)
        frame = await settled(session)
        status, told = heard(session)
        paced.fails = lambda moment: moment.draw == 1
        session.draw()
        await settled(session)
        assert "not finite" in status.failure
        assert (told, status.spoken) == ([], summary(frame))
        session.close()

    run(scene())


@pytest.mark.browser
def test_the_canvas_is_an_image_that_says_what_it_shows(opened: Callable[..., Page]) -> None:
    page = opened()
    page.wait_for_function(f"() => ({CANVAS})()[0] === 'img'")
    before: list[Any] = page.evaluate(CANVAS)
    assert before[1].startswith("Step 0, draw 0: past the safe radius")
    page.get_by_role("button", name="Draw").click()
    page.wait_for_function(f"() => ({CANVAS})()[1].startsWith('Step 0, draw 1: ')")
    expect(page.get_by_role("img", name="Step 0, draw 1")).to_be_visible()


@pytest.mark.browser
def test_a_screen_reader_hears_each_picture_once(opened: Callable[..., Page]) -> None:
    page = opened()
    live = page.locator(".live")
    expect(live).to_have_attribute("aria-live", "polite")
    expect(live).to_contain_text("Step 0, draw 0: past the safe radius")
    page.evaluate(LISTEN)
    page.get_by_role("button", name="Draw").click()
    expect(live).to_contain_text("Step 0, draw 1")
    page.get_by_role("button", name="Play").click()
    expect(events(page).nth(4)).to_contain_text("drawn")
    page.get_by_role("button", name="Pause").click()
    expect(live).to_contain_text("Step 0, draw")
    said: list[str] = page.evaluate("window.heard")
    assert len(set(said)) == len(said)
    assert said[0].startswith("Step 0, draw 1: ")
    assert said[1].startswith("draw 2: ")
    assert said[-1].startswith("Step 0, draw ")
    assert all(each.startswith("draw ") for each in said[1:-1])
