"""The section on the implicit target in a real Chromium."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from sim.presets import builtin, dumps_preset
from tests.page import events

pytestmark = pytest.mark.browser

PRESET = "rl-kl-regularised"


def section(page: Page) -> Locator:
    return page.get_by_role("region", name="Implicit target")


def open_section(page: Page) -> Locator:
    section(page).get_by_text("Implicit target", exact=True).click()
    answers = section(page).locator(".answers li")
    expect(answers.first).to_be_visible()
    return answers


def number(text: str | None) -> float:
    """A number as the page writes it, read back."""
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
    return float((text or "").translate(digits).replace(" × 10", "e"))


def readings(page: Page) -> dict[str, tuple[float, list[float]]]:
    """The three readings of the identity: the value, and the numbers it is made of."""
    found = {}
    for each in section(page).locator("dl .reading").all():
        name, value, parts = (each.locator(where).text_content() for where in ("dt b", "dd b", "dd span"))
        found[name or ""] = (number(value), [number(part) for part in (parts or "").split(" − ") if "=" not in part])
    return found


def shares(answers: Locator) -> list[list[float]]:
    """The numbers beside the bars: reference, student and target of each answer."""
    return [[number(text) for text in row.locator(".p").all_text_contents()] for row in answers.all()]


def widths(answers: Locator) -> list[list[float]]:
    """The drawn lengths of the bars as shares of their tracks."""
    return answers.evaluate_all("""(rows) => rows.map((row) => Array.from(row.querySelectorAll(".track"), (track) =>
      track.firstChild.getBoundingClientRect().width / track.getBoundingClientRect().width))""")


def test_the_section_draws_three_bars_an_answer_and_the_identity_holds_within_rounding(
    opened: Callable[..., Page], page: Page
) -> None:
    complaints: list[str] = []
    page.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    opened(f"?preset={PRESET}")
    expect(section(page).locator("dl")).to_be_hidden()
    answers = open_section(page)
    expect(section(page).locator(".head")).to_contain_text(re.compile(r"ask \d \+ \d \* \d \? at the start"))
    expect(answers.filter(has_text="right")).to_have_count(1)
    numbers = shares(answers)
    assert all(len(three) == 3 for three in numbers)
    assert [sum(column) for column in zip(*numbers, strict=True)] == pytest.approx([1, 1, 1], abs=5e-3)
    # A bar is never thinner than a pixel, however small its share.
    assert [width for row in widths(answers) for width in row] == pytest.approx(
        [value for row in numbers for value in row], abs=5e-3
    )
    assert [three[0] for three in numbers] == [three[1] for three in numbers]

    found = readings(page)
    (now, (reward, paid)), (best, _), (same, (again, distance)) = found.values()
    assert list(found) == ["J now", "The best", "By the identity"]
    assert now == same == pytest.approx(reward - paid, abs=1e-3)
    assert again == best
    assert best - distance == pytest.approx(now, abs=1e-3)
    assert now < best
    assert complaints == []


def test_the_students_bar_moves_as_steps_are_taken_and_the_reference_stays(
    opened: Callable[..., Page], tmp_path: Path
) -> None:
    value: dict[str, Any] = json.loads(dumps_preset(builtin(PRESET)))
    value["config"]["update"]["step_size"] = 5
    path = tmp_path / "faster.json"
    path.write_text(json.dumps(value), "utf-8")
    page = opened(f"?preset={PRESET}")
    page.get_by_label("Preset file").set_input_files(path)
    expect(events(page)).to_have_count(2)
    right = open_section(page).filter(has_text="right")
    section(page).get_by_label("Keep this prompt").check()
    ((reference, student, target),) = shares(right)
    assert reference == student
    for step in (1, 2):
        page.get_by_role("button", name="Step", exact=True).click()
        expect(section(page).locator(".when")).to_have_text(f"after {step} step{'s' * (step > 1)}")
    ((still, moved, aim),) = shares(right)
    assert (still, aim) == (reference, target)
    assert moved > 2 * student
    assert widths(right)[0][1] > 2 * widths(right)[0][0]


def test_beta_turned_up_moves_the_target_back_to_the_reference(opened: Callable[..., Page]) -> None:
    page = opened(f"?preset={PRESET}")
    right = open_section(page).filter(has_text="right")
    ((reference, _, before),) = shares(right)
    page.get_by_text("more", exact=True).click()
    beta = page.get_by_role("slider", name="Pull back to the start")
    beta.focus()
    page.keyboard.press("End")
    expect(right.locator(".p").nth(2)).not_to_have_text(f"{before:.2f}")
    page.wait_for_timeout(300)
    ((_, _, after),) = shares(right)
    assert reference <= after < 1.1 * reference < before


def test_on_a_telephone_the_section_fits_the_page(opened: Callable[..., Page]) -> None:
    page = opened(f"?preset={PRESET}", width=390, height=844)
    open_section(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for each in section(page).locator(".track, .p, dl .reading").all():
        box = each.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_a_preset_without_a_reference_has_no_such_section(opened: Callable[..., Page]) -> None:
    page = opened("?preset=rl-small-batch")
    expect(section(page)).to_be_hidden()
