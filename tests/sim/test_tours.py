"""The tours that ship: each step leads where it says, and each number in it is the one that the program gives."""

import json
import re
from functools import cache
from typing import Any

import pytest

from sim.errors import InvalidInput
from sim.frame import PENDING, Frame, Reading, Undetermined
from sim.ledger_file import Ledger, load_ledger
from sim.presets import builtin
from sim.quotes import Quote, agrees, parts, plain, quoted, sources
from sim.timeline import Moment
from sim.tours import LEVELS, Tour, builtin_tour, names, parse_tour, stops
from tests.shipped import shared

STEPS = [(level, place) for level in names() for place in range(len(builtin_tour(level).steps))]
PLAIN: dict[str, Any] = {
    "schema_version": 1,
    "level": "a reader",
    "title": "t",
    "steps": [
        {"title": "one", "text": "Look.", "preset": "opsd-collapse"},
        {"title": "two", "text": "Look again.", "set": ["clip.on=true"]},
    ],
}


@cache
def ledger() -> Ledger | None:
    return load_ledger()


@cache
def frame(moment: Moment, complete: bool) -> Frame:
    """Tours of several levels show the same moments."""
    return shared().frame(moment, complete=complete)


def given(level: str, place: int, quote: Quote) -> Reading:
    """What the program gives; exact norms are computed only for what needs them."""
    moment = stops(builtin_tour(level))[place if quote.step is None else quote.step - 1]
    value = quoted(quote, frame(moment, complete=False), ledger())
    return quoted(quote, frame(moment, complete=True), ledger()) if value is PENDING else value


def refused(**changes: Any) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        parse_tour(json.dumps(PLAIN | changes))
    return caught.value.problems


def second(**changes: Any) -> list[str]:
    first, _ = PLAIN["steps"]
    return refused(steps=[first, {"title": "two", "text": "Look.", **changes}])


def test_there_is_a_tour_at_each_of_six_levels() -> None:
    assert names() == LEVELS
    assert len(LEVELS) == 6
    assert len({builtin_tour(name).level for name in names()}) == 6


@pytest.mark.parametrize("level", names())
def test_a_tour_has_six_to_nine_steps_that_fit_a_card(level: str) -> None:
    steps = builtin_tour(level).steps
    assert 6 <= len(steps) <= 9
    for step in steps:
        assert 35 <= len(plain(step.text).split()) <= 95, step.title


@pytest.mark.parametrize(("level", "place"), STEPS)
def test_a_number_in_a_text_is_marked_with_what_it_is(level: str, place: int) -> None:
    step = builtin_tour(level).steps[place]
    said = " ".join(part for part in parts(step.text) if isinstance(part, str))
    assert re.findall(r"\S*[0-9]\S*", said + step.title) == []


@pytest.mark.slow
@pytest.mark.parametrize(("level", "place"), STEPS)
def test_a_number_in_a_text_is_the_one_that_the_program_gives(level: str, place: int) -> None:
    step = builtin_tour(level).steps[place]
    for quote in sources([step.text]):
        value = given(level, place, quote)
        assert not isinstance(value, Undetermined), quote
        assert agrees(quote.text, value), f"{quote}: the program gives {value:.5g}"


@pytest.mark.parametrize("level", names())
def test_a_quote_from_another_step_is_from_an_earlier_one(level: str) -> None:
    for place, step in enumerate(builtin_tour(level).steps):
        assert all(1 <= quote.step <= place for quote in sources([step.text]) if quote.step is not None), step.title


@pytest.mark.parametrize("level", names())
def test_a_formula_is_for_who_has_learned_to_read_one(level: str) -> None:
    formulas = [step.formula for step in builtin_tour(level).steps if step.formula]
    assert bool(formulas) == (level in ("college", "phd", "researcher"))


def test_steps_lead_from_one_to_the_next() -> None:
    value = PLAIN | {
        "steps": [
            {"title": "a", "text": "x", "preset": "opsd-collapse", "set": ["source.prompts=2"]},
            {"title": "b", "text": "x", "acts": ["draw", "draw"]},
            {"title": "c", "text": "x", "acts": ["step"], "set": ["clip.on=true"]},
            {"title": "d", "text": "x", "preset": "sft-fan"},
        ]
    }
    found = stops(parse_tour(json.dumps(value)))
    assert [(moment.step, moment.draw) for moment in found] == [(0, 0), (0, 2), (1, 0), (0, 0)]
    assert found[0].config.source.prompts == found[2].config.source.prompts == 2
    assert found[2].config.clip.on
    assert found[2].path.config == found[2].config
    assert found[3] == Moment(builtin("sft-fan").config)


def test_a_broken_tour_is_refused_with_what_to_do() -> None:
    assert refused(steps=[{"title": "a", "text": "x"}, {"title": "b", "text": "x"}]) == [
        "steps.0.preset: missing; a tour begins with a preset, name one"
    ]
    assert second(preset="opsd-colapse") == [
        'tour: steps.1.preset: no preset is called "opsd-colapse"; did you mean "opsd-collapse"?'
    ]
    assert second(set=["clip.onn=true"]) == ['steps.1.set: clip.onn: unknown key; did you mean "clip.on"?']
    assert second(set=["clip.on=false"]) == [
        'steps.1.set: "clip.on=false" changes nothing; it stands so already, remove it'
    ]
    assert second(acts=["jump"])[0].startswith('tour: steps.1.acts.0: got "jump", allowed "draw" or "step"')
    assert second(colour="red")[0].startswith("tour: steps.1.colour: unknown key; allowed: title, text, preset, set,")
    assert refused(schema_version=2)[0].startswith("tour: schema_version: got 2, allowed 1")
    for text in ("[]", "1", "{", ""):
        with pytest.raises(InvalidInput):
            parse_tour(text)


def test_no_tour_is_read_from_elsewhere() -> None:
    for name in ("../opsd-collapse", "nobody", ""):
        with pytest.raises(InvalidInput, match="no tour is called"):
            builtin_tour(name)


def test_quotes_are_found_in_a_text() -> None:
    assert parts("It is [2.16](update.ratio), [0.67](claim:a/held, b (1: yes)) and [1](3@sites).") == [
        "It is ", Quote("2.16", "update.ratio"), ", ", Quote("0.67", "claim:a/held, b (1: yes)"), " and ",
        Quote("1", "sites", 3), ".",
    ]  # fmt: skip
    assert plain("It is [2.16](update.ratio).") == "It is 2.16."


@pytest.mark.parametrize(
    ("text", "value", "same"),
    [("2.16", 2.157, True), ("2.16", 2.154, False), ("4 %", 0.0397, True), ("4 %", 0.0297, False), ("54°", 54.3, True),
     ("−0.008", -0.00816, True), ("0.008", -0.00816, False), ("4,571", 4571.0, True), ("4571", 4571.4, True),
     ("about 3", 3.0, False), ("0.40", 0.396, True), ("0.400", 0.396, False)],
)  # fmt: skip
def test_a_number_agrees_when_it_is_rounded_to_the_digits_that_are_written(text: str, value: float, same: bool) -> None:
    assert agrees(text, value) == same


@pytest.mark.parametrize(
    "source",
    ["update.rato", "site:longest.text", "site:shortest.kl", "set:clip", "set:clip.on", "claim:none/x", "other:x", ""],
)
def test_a_number_that_there_is_not_cannot_be_quoted(source: str) -> None:
    small = shared().frame(Moment(builtin("rl-small-batch").config), complete=False)
    with pytest.raises(InvalidInput, match="no number is called"):
        quoted(Quote("1", source), small, ledger())


def test_a_tour_survives_being_written_and_read() -> None:
    for name in names():
        tour = builtin_tour(name)
        written = json.dumps(tour.model_dump(mode="json", by_alias=True))
        assert parse_tour(written) == tour
        assert isinstance(tour, Tour)
