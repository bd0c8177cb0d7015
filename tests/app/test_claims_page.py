"""The page of claims: as HTML, and in a real Chromium, served from a copy that has a ledger of its own."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.views.claims import claims
from sim.ledger_file import COMMAND, VERDICTS, Ledger, parse_ledger
from sim.presets import builtin
from tests.ledger import HOSTILE, claim, ledger, measurement, three
from tests.page import DRAWN, PATIENCE
from tests.server import ROOT, serving


def read(value: Any) -> Ledger:
    return parse_ledger(json.dumps(value))


def page_of(**changes: Any) -> str:
    return claims(read(ledger(claim(**changes))))


def text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def test_a_claim_is_told_with_its_text_verdict_condition_setting_and_note() -> None:
    shown = text(page_of(verdict="holds only when", condition="the batch is large."))
    for words in (
        "The noise of RL's gradient cancels as the batch grows.".replace("'", "&#x27;"),
        "holds only when the batch is large.", "Four times the batch, half the length.", "text Gradient geometry",
        "setting 16 x 8 rollouts, SGD 0.3, draw 0",
    ):  # fmt: skip
        assert words in shown


@pytest.mark.parametrize("verdict", VERDICTS)
def test_each_verdict_has_a_form_of_its_own_beside_its_word(verdict: str) -> None:
    condition = "so." if verdict == "holds only when" else ""
    html = page_of(verdict=verdict, condition=condition)
    (told,) = re.findall(r'<p class="verdict">(.*?)</p>', html)
    assert f"<b>{verdict}</b>" in told
    (form,) = re.findall(r"<svg.*?</svg>", told)
    others = [page_of(verdict=v, condition="so." if v == "holds only when" else "") for v in VERDICTS if v != verdict]
    for other in others:
        assert form not in re.findall(r'<p class="verdict">(.*?)</p>', other)[0]


def test_each_value_stands_under_its_seed_and_one_that_is_missing_is_a_dash() -> None:
    html = page_of(measurements=[measurement("KL of the step", 0.0304, None, 0.05, unit="nats")])
    assert "measured mean lowest to highest seed 0 seed 1 seed 2" in text(html)
    assert "KL of the step, nats 0.0402 0.0304 to 0.0500 0.0304 – 0.0500" in text(html)


def test_values_that_are_not_one_a_seed_are_not_called_seeds() -> None:
    html = page_of(measurements=[measurement("slope", 1.0, 2.0)])
    assert "seed 0" not in text(html)
    assert "#1 #2" in text(html)
    many = page_of(measurements=[measurement("slope", *map(float, range(40)))])
    assert "19.5 0 to 39.0" in text(many)
    assert "#1" not in text(many)


def test_what_is_undetermined_for_every_seed_says_so() -> None:
    assert "slope – undetermined – – –" in text(page_of(measurements=[measurement("slope", None, None, None)]))


def test_claims_of_a_topic_stand_together_in_the_order_of_the_ledger() -> None:
    told = [claim("a", topic="runs"), claim("b", topic="clouds"), claim("c", topic="runs", claim="The third.")]
    shown = text(claims(read(ledger(*told))))
    assert shown.index("runs") < shown.index("The third.") < shown.index("clouds")
    assert shown.count("runs") == 1


def test_each_preset_of_a_claim_is_a_link_that_opens_it() -> None:
    html = page_of(presets=["opsd-collapse", "opsd-clipped"])
    for name in ("opsd-collapse", "opsd-clipped"):
        assert f'<a href="?preset={name}">{builtin(name).title}</a>' in html


def test_a_table_shows_numbers_texts_and_dashes() -> None:
    shown = text(claims(read(three())))
    assert "What is forgotten Skills kept after 100 steps. method facts copying RL 0.990 1 SFT 0.610 –" in shown


def test_a_ledger_that_is_missing_is_said_with_the_command_that_makes_it() -> None:
    shown = text(claims(None))
    assert "assets/claims.json is missing" in shown
    assert COMMAND in shown


def test_text_from_a_ledger_is_text_whatever_it_holds() -> None:
    texts = dict.fromkeys(("topic", "claim", "source", "setting", "condition", "note"), HOSTILE)
    hostile = claim(**texts, verdict="holds only when", measurements=[measurement(HOSTILE, 1.0, unit=HOSTILE[:40])])
    table = {"name": "t", "title": HOSTILE, "note": HOSTILE, "columns": [HOSTILE], "rows": [[HOSTILE]]}
    made = ledger()["made"] | {"machine": HOSTILE, "weights": {HOSTILE: "0" * 64}}
    html = claims(read(ledger(hostile, tables=[table], made=made)), [HOSTILE])
    assert "<img" not in html
    assert html.count("&lt;img src=x onerror=alert(1)") == 16


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a copy of the program that has no ledger, and where its ledger would lie."""
    root = tmp_path_factory.mktemp("copy")
    for name in ("sim", "app", "presets", "assets"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "claims.json"))
    with serving(tmp_path_factory.mktemp("served"), root) as address:
        yield address, root / "assets" / "claims.json"


@pytest.fixture
def told(page: Page, copied: tuple[str, Path]) -> Iterator[Callable[..., Page]]:
    """Opens the page of a ledger; None is a ledger that is missing."""
    address, path = copied
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)

    def open_page(value: Any, width: int = 1280, height: int = 720) -> Page:
        path.unlink(missing_ok=True)
        if value is not None:
            path.write_text(json.dumps(value), "utf-8")
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{address}?page=claims")
        expect(page.get_by_role("heading", name="Claims, measured")).to_be_visible()
        return page

    yield open_page
    path.unlink(missing_ok=True)


@pytest.mark.browser
def test_the_page_says_what_is_missing_and_what_is_wrong(told: Callable[..., Page]) -> None:
    page = told(None)
    expect(page.get_by_text(COMMAND)).to_be_visible()
    page = told(ledger(claim(verdict="maybe")))
    expect(page.get_by_role("alert").locator("li")).to_contain_text(['claims.json: claims.0.verdict: got "maybe"'])


@pytest.mark.browser
def test_a_verdict_that_is_chosen_leaves_its_claims_and_their_topics(told: Callable[..., Page]) -> None:
    page = told(three())
    articles = page.get_by_role("article")
    expect(articles).to_have_count(3)
    page.get_by_role("radio", name="does not hold here 1").check()
    expect(articles).to_have_count(1)
    expect(articles).to_contain_text("A step of SFT is a safe one.")
    expect(page.get_by_role("heading", name="clouds")).to_have_count(0)
    expect(page.get_by_role("heading", name="runs")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("radio", name="holds only when 1")).to_be_checked()
    expect(articles).to_contain_text("A clip brings")
    page.get_by_role("radio", name="all 3").check()
    expect(articles).to_have_count(3)


@pytest.mark.browser
def test_a_claim_opens_its_preset_and_the_picture_leads_back_to_the_claims(told: Callable[..., Page]) -> None:
    page = told(three())
    page.get_by_role("link", name=builtin("opsd-clipped").title).click()
    page.wait_for_function(DRAWN)
    expect(page.get_by_label("Preset", exact=True)).to_have_value("opsd-clipped")
    with page.expect_popup() as opening:
        page.get_by_role("link", name="Claims").click()
    beside = opening.value
    expect(beside.get_by_role("article")).to_have_count(3)
    beside.get_by_role("link", name="to the picture").click()
    beside.wait_for_function(DRAWN)
    expect(beside.get_by_role("alert")).to_be_hidden()


@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_nothing_overflows_and_the_first_claim_is_seen_without_scrolling(
    told: Callable[..., Page], width: int, height: int
) -> None:
    values = [2.31e-7, 1.98e-7, 123456.0]
    long = [measurement("other skills kept, facts and copying averaged", *values, unit="nats a token")]
    wide = claim("two", condition="w" * 90, verdict="holds only when")
    page = told(ledger(claim(measurements=long), wide), width, height)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.get_by_role("article").first.locator(".verdict").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= height
    for each in page.get_by_role("article").locator("h3, p, dl, .wide").all():
        inside = each.bounding_box()
        assert inside is not None
        assert inside["x"] >= 0
        assert inside["x"] + inside["width"] <= width


@pytest.mark.browser
def test_an_address_with_an_unknown_page_says_so_and_shows_the_picture(page: Page, copied: tuple[str, Path]) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{copied[0]}?page=clams")
    page.wait_for_function(DRAWN)
    expect(page.get_by_role("alert").locator("li")).to_have_text(
        ['the address: unknown page "clams"; did you mean "claims"?']
    )


@pytest.mark.browser
def test_what_is_wrong_with_the_address_is_said_beside_the_claims(page: Page, copied: tuple[str, Path]) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{copied[0]}?page=claims&pages=2")
    expect(page.get_by_role("alert")).to_contain_text('unknown key "pages"; did you mean "page"?')
