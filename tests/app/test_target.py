"""The implicit target without a browser: when there is one, when it is measured, and what its section says."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from app.frames import Frames
from app.numbers import significant
from app.session import Session
from app.target import ImplicitTarget, Targets, Wanted, absent, first_problem
from app.views.target import Target, bars, identity, note, result
from sim.config import Config, Reference, Source, Teacher
from sim.errors import Cancelled, NonFinite
from sim.frame import Frame, Rollout
from sim.implicit import ROLLOUTS, Outcomes, compared, sampled_answers
from sim.language import Problem
from sim.presets import builtin, names
from sim.timeline import Path
from tests.app.conftest import PRESET, begun, run, sample, settled, simulator, until
from tests.shipped import outcomes

PROBLEM = Problem(2, "+", 3, "*", 4)
REWARD = Config(source=Source(prompts=8, group_size=2), teacher=Teacher(weight=0))
PULLED = REWARD.model_copy(update={"reference": Reference(beta=0.5)})
LESSON = PRESET.model_copy(update={"config": PULLED})


def batch(*prompts: str) -> Frame:
    return replace(sample(), rollouts=tuple(Rollout(each, "", 0.0, 0.0, 0, True, True) for each in prompts))


def counted(reference: dict[str, int], student: dict[str, int], beta: float = 0.5) -> Outcomes:
    return compared(Counter(reference), Counter(student), PROBLEM, beta)


class Sampler:
    """Stands for sampling: notes the prompts that it was asked for, and answers when the test lets it."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.asked: list[Problem] = []
        self.cancelled: list[Problem] = []
        self.failure: Exception | None = None

    def __call__(
        self, _: object, __: object, problem: Problem, rollouts: int, ___: int, cancel: Callable[[], bool]
    ) -> "Counter[str]":
        self.asked.append(problem)
        while not self.open.wait(0.002):
            if cancel():
                self.cancelled.append(problem)
                raise Cancelled("the test waits no longer")
        if self.failure is not None:
            raise self.failure
        return Counter({str(problem.truth): rollouts // 4, str(problem.left_to_right): rollouts - rollouts // 4})


@pytest.fixture
def sampler() -> Sampler:
    return Sampler()


@pytest.fixture
def frames() -> Iterator[Frames]:
    made = Frames(simulator)
    yield made
    made.close()


@pytest.fixture
def targets(frames: Frames, sampler: Sampler) -> Iterator[Targets]:
    made = Targets(frames, sampler)
    yield made
    sampler.open.set()
    made.close()


async def looking(frames: Frames, targets: Targets) -> tuple[Session, ImplicitTarget]:
    """A visitor whose first frame is there and who opens the section."""
    session = begun(frames, LESSON)
    target = ImplicitTarget(session, targets)
    await settled(session)
    target.opened = True
    return session, target


async def drawn_elsewhere(session: Session, problem: Problem) -> None:
    """Draw until the batch begins with another prompt."""
    while True:
        session.draw()
        frame = await settled(session)
        if first_problem(frame) not in (None, problem):
            return


def left(session: Session, target: ImplicitTarget) -> None:
    target.close()
    session.close()


def test_the_first_prompt_that_needs_the_key_move_is_taken() -> None:
    passed_over = ["ask 2 * 3 + 4 ?", "tell color of bird c ?", "copy a b c ?", "ask 1 + 2 + 3 ?"]
    assert first_problem(batch(*passed_over, "ask 2 + 3 * 4 ?", "ask 5 + 6 * 2 ?")) == PROBLEM
    assert first_problem(batch("ask 2 + 3 * 4 ? well first 3 * 4", "ask 5 + 6 * 2 ?")) == PROBLEM
    assert first_problem(batch(*passed_over)) is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"reference": Reference()}, "β is 0"),
        ({"teacher": Teacher(weight=0.5)}, "λ is above 0"),
        ({"source": Source(alpha=0)}, "α is 0"),
        ({"reference": Reference(beta=0.5, divergence="forward")}, "forward KL"),
    ],
)
def test_settings_without_a_target_say_why(changes: dict[str, Any], why: str) -> None:
    said = absent(PULLED.model_copy(update=changes))
    assert (why in said) if why else said == ""


def test_the_bars_are_the_outcomes_of_the_students_parameters_on_show(frames: Frames) -> None:
    def fewer(model: Any, params: Any, problem: Problem, _: int, *rest: Any) -> "Counter[str]":
        return sampled_answers(model, params, problem, 64, *rest)

    async def scene() -> None:
        targets = Targets(frames, fewer)
        session, target = await looking(frames, targets)
        session.step()
        frame = await settled(session)
        problem = first_problem(frame)
        assert problem is not None
        path = session.timeline.current.moment.path
        await until(lambda: target.found_for == Wanted(path, problem, 0.5, 0))
        base = simulator().world.policies["base"]
        params = simulator().state(path).params
        expected = outcomes(params, base.params, problem, 0.5)
        assert target.found is not None
        assert target.found.answers == expected.answers
        for shares in ("reference_p", "policy_p", "target_p"):
            assert getattr(target.found, shares).tolist() == getattr(expected, shares).tolist()
        assert (path.length, target.found.objective) == (1, expected.objective)
        left(session, target)
        targets.close()

    run(scene())


def test_nothing_is_sampled_until_the_section_is_opened(frames: Frames, targets: Targets, sampler: Sampler) -> None:
    async def scene() -> None:
        session = begun(frames, LESSON)
        target = ImplicitTarget(session, targets)
        await settled(session)
        assert sampler.asked == []
        target.opened = True
        await until(lambda: target.found)
        # At the start the student is the reference: one count serves both.
        assert len(sampler.asked) == 1
        left(session, target)

    run(scene())


def test_what_a_turn_of_beta_changes_is_weighed_anew_and_not_sampled_anew(
    frames: Frames, targets: Targets, sampler: Sampler
) -> None:
    async def scene() -> None:
        session, target = await looking(frames, targets)
        await until(lambda: target.found)
        first = target.found
        session.dials.reference_beta = 2.0
        await until(lambda: target.found is not first)
        assert (target.found.beta, len(sampler.asked)) == (2.0, 1)
        assert target.found.target_p[0] == pytest.approx(0.25 * 2.718281828**0.5 / (0.25 * 2.718281828**0.5 + 0.75))
        left(session, target)

    run(scene())


def test_sampling_stops_when_the_frame_changes_and_the_page_lives_meanwhile(
    frames: Frames, targets: Targets, sampler: Sampler
) -> None:
    async def scene() -> None:
        sampler.open.clear()
        session, target = await looking(frames, targets)
        view = Target(target)
        await until(lambda: target.busy)
        (first,) = sampler.asked
        assert view.status == f"Sampling {ROLLOUTS} answers of each policy to {' '.join(first.words)}"
        await drawn_elsewhere(session, first)
        await until(lambda: sampler.cancelled == [first])
        sampler.open.set()
        await until(lambda: target.found)
        assert target.found_for is not None
        assert target.found_for.problem == first_problem(session.frame) != first
        assert (view.status, view.stale) == ("", False)
        left(session, target)

    run(scene())


def test_sampling_stops_when_the_section_is_closed_or_the_visitor_leaves(
    frames: Frames, targets: Targets, sampler: Sampler
) -> None:
    async def scene() -> None:
        sampler.open.clear()
        session, target = await looking(frames, targets)
        await until(lambda: target.busy)
        target.opened = False
        await until(lambda: len(sampler.cancelled) == 1)
        assert (target.busy, target.failure, target.found) == (False, "", None)
        target.opened = True
        await until(lambda: len(sampler.asked) == 2)
        left(session, target)
        await until(lambda: len(sampler.cancelled) == 2)

    run(scene())


def test_norms_that_come_later_do_not_begin_the_sampling_anew(
    frames: Frames, targets: Targets, sampler: Sampler
) -> None:
    async def scene() -> None:
        sampler.open.clear()
        session = begun(frames, LESSON)
        target = ImplicitTarget(session, targets)
        target.opened = True
        seen: list[bool] = []
        session.param.watch(lambda event: seen.append(event.new.complete), "frame")
        await until(lambda: sampler.asked)
        await settled(session)
        assert session.frame.complete
        assert False in seen
        sampler.open.set()
        await until(lambda: target.found)
        assert (len(sampler.asked), sampler.cancelled) == (1, [])
        left(session, target)

    run(scene())


def test_while_the_page_plays_nothing_is_sampled_and_a_pause_begins_it(
    frames: Frames, targets: Targets, sampler: Sampler
) -> None:
    async def scene() -> None:
        session = begun(frames, LESSON)
        target = ImplicitTarget(session, targets)
        view = Target(target)
        await settled(session)
        session.play()
        target.opened = True
        assert "when the page pauses" in view.status
        await until(lambda: session.frame.draw >= 1)
        assert sampler.asked == []
        session.pause()
        await until(lambda: target.found)
        assert view.status == ""
        left(session, target)

    run(scene())


def test_a_kept_prompt_stays_through_other_batches(frames: Frames, targets: Targets) -> None:
    async def scene() -> None:
        session, target = await looking(frames, targets)
        await until(lambda: target.found)
        kept = target.found_for.problem
        target.keep = True
        await drawn_elsewhere(session, kept)
        assert target.wanted.problem == kept
        target.keep = False
        await until(lambda: target.found_for.problem == first_problem(session.frame))
        assert target.found_for.problem != kept
        left(session, target)

    run(scene())


@pytest.mark.parametrize("failure", [NonFinite("rollout: not finite"), ZeroDivisionError("by zero")])
def test_a_failure_is_told_and_opening_again_tries_again(
    frames: Frames, targets: Targets, sampler: Sampler, failure: Exception
) -> None:
    async def scene() -> None:
        sampler.failure = failure
        session, target = await looking(frames, targets)
        view = Target(target)
        await until(lambda: target.failure)
        assert str(failure) in view.failure
        sampler.failure = None
        target.opened = False
        target.opened = True
        await until(lambda: target.found)
        assert view.failure == ""
        left(session, target)

    run(scene())


def test_sampling_waits_for_the_pictures_that_visitors_wait_for(sampler: Sampler) -> None:
    class Awaited:
        awaited = True

        def renderer(self) -> Any:
            return simulator()

    async def scene() -> None:
        went: list[float] = []
        loop = asyncio.get_running_loop()

        def sampled(*args: Any) -> "Counter[str]":
            args[-1]()
            went.append(loop.time())
            return sampler(*args)

        waited_for = Awaited()
        targets = Targets(waited_for, sampled)  # type: ignore[arg-type]
        began = loop.time()
        loop.call_later(0.1, lambda: setattr(waited_for, "awaited", False))
        await targets.get(Wanted(Path(), PROBLEM, 0.5, 0))
        assert went[0] - began >= 0.09
        targets.close()

    run(scene())


def test_the_view_follows_what_the_browser_says_and_ignores_what_has_no_known_shape(
    frames: Frames, targets: Targets
) -> None:
    async def scene() -> None:
        session = begun(frames, LESSON)
        target = ImplicitTarget(session, targets)
        view = Target(target)
        await settled(session)
        assert (view.shown, view.none) == (True, "")
        for message in (None, [], {"open": 1}, {"open": "yes"}, {"keep": None}, {"else": True}):
            view._handle_msg(message)
        assert (target.opened, target.keep) == (False, False)
        view._handle_msg({"open": True})
        view._handle_msg({"keep": True})
        assert (target.opened, target.keep) == (True, True)
        session.dials.alpha = 0
        await until(lambda: not view.shown)
        assert "α is 0" in view.none
        assert target.wanted is None
        session.dials.reference_beta = 0
        await until(lambda: not view.none)
        assert not view.shown
        left(session, target)

    run(scene())


def test_a_batch_without_such_a_prompt_says_so(frames: Frames, targets: Targets) -> None:
    async def scene() -> None:
        session, target = await looking(frames, targets)
        await until(lambda: target.found)
        session.frame = replace(session.frame, rollouts=batch("ask 2 * 3 + 4 ?").rollouts)
        assert target.waits == "No prompt of this batch needs the key move. Draw another batch."
        assert Target(target).status == target.waits
        assert Target(target).stale
        left(session, target)

    run(scene())


def test_rare_answers_share_a_row_and_the_right_one_has_its_own() -> None:
    reference = {"20": 993, "14": 4, "9": 2, "none": 1}
    rows = bars(counted(reference, {"20": 900, "14": 4, "9": 3, "none": 93}), PROBLEM)
    assert [(row["answer"], row["right"]) for row in rows] == [
        ("14", True), ("20", False), ("no answer", False), ("1 rare", False),
    ]  # fmt: skip
    shares = [[value for value, _ in row["shares"]] for row in rows]
    assert [sum(column) for column in zip(*shares, strict=True)] == pytest.approx([1, 1, 1])
    assert [row[0] for row in shares] == [0.004, 0.993, 0.001, 0.002]
    assert rows[1]["shares"][1] == [0.9, "0.900"]


def test_the_identity_is_shown_with_its_numbers() -> None:
    now, best, same = identity(counted({"20": 3, "14": 1}, {"20": 1, "14": 3}))
    # E r = 3/4, KL to the reference = log(3) / 2, Z = e^2 / 4 + 3/4.
    assert (now["value"], now["parts"]) == ("0.475", "0.750 − 0.275")
    assert (best["value"], best["parts"]) == ("0.477", "β = 0.500")
    distance = float(same["parts"].split(" − ")[1])
    assert same["value"] == now["value"]
    assert 0.477 - distance == pytest.approx(0.475, abs=1e-3)


def test_an_answer_that_the_reference_never_gave_leaves_a_dash_with_the_reason_and_keeps_the_bars() -> None:
    shown = result(counted({"20": 3, "14": 1}, {"20": 2, "14": 1, "9": 1}), PROBLEM, step=1)
    now, best, same = shown["identity"]
    assert (now["value"], same["value"]) == ("–", "–")
    assert "never gave 9" in now["parts"]
    assert best["value"] == significant(0.4773, 3)
    assert [row["answer"] for row in shown["bars"]] == ["9", "14", "20"]
    assert (shown["prompt"], shown["when"]) == ("ask 2 + 3 * 4 ?", "after 1 step")


def test_a_reference_that_never_gives_the_right_answer_is_told_of() -> None:
    assert "never gave the right answer, 14, in 4 answers" in note(counted({"20": 4}, {"20": 4}), PROBLEM)
    assert note(counted({"20": 3, "14": 1}, {"20": 4}), PROBLEM) == ""
    (row,) = bars(counted({"20": 4}, {"20": 4}), PROBLEM)
    assert row["answer"] == "20"


def test_one_preset_has_an_implicit_target() -> None:
    assert [name for name in names() if not absent(builtin(name).config)] == ["rl-kl-regularised"]
