"""A visitor's way through the tours, without a browser."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from app.fields import BY_NAME, idle
from app.formula import mathml
from app.frames import Frames
from app.look import TOUR
from app.quoting import POINTED, called, described
from app.session import Session
from app.tour import Guide
from app.views.tour import TourCard, pieces
from sim.errors import InvalidInput
from sim.presets import builtin
from sim.quotes import sources
from sim.tours import builtin_tour, names, stops
from tests.app.conftest import Paced, begun, run, settled

STEPS = [(level, place) for level in names() for place in range(len(builtin_tour(level).steps))]


@pytest.fixture
def session(paced: Paced) -> Iterator[Session]:
    made = Session(Frames(lambda: paced), builtin("opsd-collapse"), "opsd-collapse")
    yield made
    made._frames.close()


def led(session: Session, *acts: Any) -> Guide:
    """The guide of a session, after some acts in a loop of their own."""

    async def main() -> Guide:
        session.begin()
        session.look.side = TOUR
        guide = Guide(session)
        for act in acts:
            act(guide)
        await settled(session)
        return guide

    return run(main())


def to(level: str, place: int) -> list[Any]:
    """The acts that go to a step, one after the other."""
    return [partial(Guide.choose, level=level), *(partial(Guide.go, place=each) for each in range(place + 1))]


def moment(level: str, place: int) -> Any:
    return stops(builtin_tour(level))[place]


@pytest.mark.parametrize(("level", "place"), STEPS)
def test_what_a_step_points_at_is_on_the_page(level: str, place: int) -> None:
    step = builtin_tour(level).steps[place]
    assert called(step.look), step.look
    for quote in sources([step.text]):
        words, look = described(quote)
        assert words
        assert called(look) or quote.source.startswith("claim:")


@pytest.mark.parametrize(("level", "place"), STEPS)
def test_a_dial_that_a_step_turns_or_points_at_has_an_effect_there(level: str, place: int) -> None:
    step, config = builtin_tour(level).steps[place], moment(level, place).config
    by_path = {field.path: field.name for field in BY_NAME.values()}
    turned = {by_path[each.partition("=")[0]] for each in step.settings}
    assert not turned & set(idle(config))
    # A label has one divergence alone; that its dial has no effect is what the step says.
    if step.look in BY_NAME and (level, place) != ("phd", 2):
        assert step.look not in idle(config)


@pytest.mark.parametrize(("level", "place"), STEPS)
def test_a_formula_becomes_mathml_and_nothing_else(level: str, place: int) -> None:
    made = mathml(builtin_tour(level).steps[place].formula)
    assert made == "" or (made.startswith("<math") and made.endswith("</math>") and "<script" not in made)


def test_what_is_no_formula_is_refused() -> None:
    for latex in (r"\frac{1", r"\nosuchcommand{x}", "}"):
        with pytest.raises(InvalidInput, match="formula: got"):
            mathml(latex)


def test_each_step_is_reached_by_going_on(session: Session) -> None:
    for level in names():
        for place in range(len(builtin_tour(level).steps)):
            guide = led(session, *to(level, place))
            assert session.timeline.current.moment == moment(level, place)
            assert guide.here
            assert session.look.spotlight == guide.step.look


def test_each_step_is_reached_from_anywhere(session: Session) -> None:
    for level, place in STEPS[::3]:
        led(session, lambda _: session.draw(), partial(Guide.choose, level=level), partial(Guide.go, place=place))
        assert session.timeline.current.moment == moment(level, place)
        named = [step.preset for step in builtin_tour(level).steps[: place + 1] if step.preset]
        assert session.preset_name == named[-1]


def test_what_a_step_does_is_in_the_log(session: Session) -> None:
    led(session, *to("high-school", 4))
    done = [(event.kind, event.label) for event in session.timeline.events]
    assert done[1:] == [
        ("preset", builtin("rl-noise-cancels").title),
        ("control", "prompts a batch 2"),
        ("draw", "batch 1 drawn"),
    ]


def test_going_back_returns_to_the_event_and_does_nothing_anew(session: Session) -> None:
    def back(guide: Guide) -> None:
        guide.go(guide.place - 1)

    led(session, *to("high-school", 4), back)
    assert session.timeline.current.kind == "rewind"
    assert session.timeline.current.moment == moment("high-school", 3)


def test_a_log_that_was_cleared_does_not_lead_astray(session: Session) -> None:
    astray = [lambda _: session.clear(), lambda _: session.draw(), lambda _: session.draw()]
    led(session, *to("high-school", 3), *astray, partial(Guide.go, place=2))
    assert session.timeline.current.moment == moment("high-school", 2)


def test_who_wanders_off_is_told_and_led_back(session: Session) -> None:
    seen: list[bool] = []

    def note(guide: Guide) -> None:
        seen.append(guide.here)

    led(session, lambda g: g.choose("child"), note, lambda g: g.show(), note, lambda _: session.draw(), note,
        lambda g: g.show(), note)  # fmt: skip
    assert seen == [False, True, False, True]


def test_choosing_a_level_does_nothing_yet(session: Session) -> None:
    guide = led(session, lambda g: g.choose("college"))
    assert (guide.level, guide.place, guide.here) == ("college", 0, False)
    assert len(session.timeline.events) == 1
    assert session.look.spotlight == ""


def test_after_the_last_step_comes_the_next_level_and_after_the_last_level_nothing(session: Session) -> None:
    last = len(builtin_tour("child").steps)
    guide = led(session, lambda g: g.choose("child"), lambda g: g.go(last - 1), lambda g: g.go(last))
    assert (guide.level, guide.place) == ("high-school", 0)
    end = len(builtin_tour("researcher").steps)
    guide = led(session, lambda g: g.choose("researcher"), lambda g: g.go(end - 1), lambda g: g.go(end))
    assert (guide.level, guide.place) == ("researcher", end - 1)


def test_a_tour_points_only_while_it_is_in_sight(session: Session) -> None:
    def away(_: Guide) -> None:
        session.look.side = "readings"
        assert session.look.spotlight == ""

    led(session, lambda g: g.choose("child"), lambda g: g.go(1), away)
    session.look.side = TOUR
    assert session.look.spotlight == "update"


def test_the_card_takes_no_nonsense(session: Session) -> None:
    def bother(guide: Guide) -> None:
        card = TourCard(guide)
        for message in (None, 1, {}, {"level": "nobody"}, {"level": 3}, {"move": 99}, {"move": -1}, {"move": True},
                        {"look": "nothing"}, {"look": []}, {"show": "yes"}):  # fmt: skip
            card._handle_msg(message)

    guide = led(session, bother)
    assert (guide.level, guide.place) == ("child", 0)
    assert len(session.timeline.events) == 1
    assert session.look.spotlight == ""


def test_the_card_says_of_each_number_what_it_is() -> None:
    assert pieces("It is [2.16](update.ratio), of [16](set:source.prompts).") == [
        ["It is "], ["2.16", "length of the update over the safe radius", "update"], [", of "],
        ["16", "Prompts a batch", "prompts"], ["."],
    ]  # fmt: skip


def test_the_card_shows_the_step(paced_frames: Frames) -> None:
    async def main() -> TourCard:
        session = begun(paced_frames)
        guide = Guide(session)
        card = TourCard(guide)
        card._handle_msg({"level": "phd"})
        card._handle_msg({"show": True})
        await settled(session)
        return card

    card = run(main())
    tour = builtin_tour("phd")
    assert (card.level, card.place, card.count, card.here) == ("phd", 0, len(tour.steps), True)
    assert card.title == tour.steps[0].title
    assert card.formula.startswith("<math")
    assert card.called == POINTED["picture"]
    assert card.harder == "a researcher"
