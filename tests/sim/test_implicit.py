"""The implicit target: exact cases, the identity for any distribution, and the shipped policies' answers."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import Cancelled, InvalidInput
from sim.frame import Undetermined
from sim.implicit import (
    NONE,
    PIECE,
    compared,
    divergence,
    final_answer,
    implicit_target,
    objective,
    sampled_answers,
)
from sim.language import BOS, EOS, VOCABULARY, Problem, decode, encode, verify
from sim.rng import generator
from sim.rollout import sample
from sim.world import World
from tests import reference as slow
from tests.shipped import outcomes

PROBLEM = Problem(2, "+", 3, "*", 4)


@pytest.mark.parametrize("case", slow.golden()["implicit_target"])
def test_the_target_and_the_objective_are_the_exact_ones(case: dict[str, Any]) -> None:
    reference, reward, policy = (np.array(case[name]) for name in ("reference", "reward", "policy"))
    target, log_Z = implicit_target(reference, reward, case["beta"])
    np.testing.assert_allclose(target, case["target"], rtol=1e-12)
    assert case["beta"] * log_Z == pytest.approx(case["beta_log_Z"], rel=1e-12)
    value = objective(policy, reference, reward, case["beta"])
    assert value == pytest.approx(case["objective"], rel=1e-12)
    assert case["beta"] * (log_Z - divergence(policy, target)) == pytest.approx(value, rel=1e-12)


@given(st.integers(0, 2**31), st.integers(1, 6), st.floats(0.05, 20))
def test_the_objective_is_beta_log_z_less_beta_times_the_divergence_to_the_target(
    seed: int, size: int, beta: float
) -> None:
    rng = np.random.default_rng(seed)
    reference, policy = rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size))
    reward = rng.normal(size=size)
    target, log_Z = implicit_target(reference, reward, beta)
    value = objective(policy, reference, reward, beta)
    assert value == pytest.approx(beta * (log_Z - divergence(policy, target)), rel=1e-6, abs=1e-9)
    assert value <= objective(target, reference, reward, beta) + 1e-9


def test_the_divergence_has_a_direction() -> None:
    p, q = np.array([0.5, 0.5]), np.array([0.9, 0.1])
    assert divergence(p, q) == pytest.approx(0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(5))
    assert divergence(q, p) == pytest.approx(0.9 * math.log(1.8) + 0.1 * math.log(0.2))
    assert divergence(np.array([1.0, 0.0]), p) == pytest.approx(math.log(2))
    assert divergence(p, np.array([1.0, 0.0])) == math.inf


def test_a_tiny_beta_leaves_the_best_outcomes_alone_and_nothing_overflows() -> None:
    target, log_Z = implicit_target(np.array([0.2, 0.3, 0.5]), np.array([1.0, 1.0, 0.0]), 1e-5)
    np.testing.assert_allclose(target, [0.4, 0.6, 0.0])
    assert log_Z == pytest.approx(1e5 + math.log(0.5))


def test_a_large_beta_leaves_the_reference_as_it_is() -> None:
    reference = np.array([0.2, 0.8])
    np.testing.assert_allclose(implicit_target(reference, np.array([1.0, 0.0]), 1e9)[0], reference, rtol=1e-8)


def test_what_the_reference_never_gives_the_target_never_gives() -> None:
    target, _ = implicit_target(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 0.01)
    assert target.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("reference", "beta", "said"),
    [([0.5, 0.5], 0.0, r"beta: got 0, allowed above 0"), ([0.5, 0.4], 1.0, r"got shares that add up to 0\.9")],
)
def test_what_has_no_target_is_refused(reference: list[float], beta: float, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        implicit_target(np.array(reference), np.zeros(2), beta)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (f"so answer 14 {EOS}", "14"),
        (f"so result 20 {EOS}", "20"),
        (f"answer 20 wait so answer 14 {EOS}", "14"),
        ("so answer 14", NONE),
        (f"so 14 {EOS}", NONE),
        (f"answer so {EOS}", NONE),
        (EOS, NONE),
    ],
)
def test_the_final_answer_is_the_number_that_the_answer_closes_with(answer: str, said: str) -> None:
    assert final_answer(answer.split()) == said


@given(st.lists(st.sampled_from(["answer", "result", "14", "20", "so", EOS]), max_size=5))
def test_the_verifier_rewards_the_right_final_answer_and_no_other(answer: list[str]) -> None:
    assert set(answer) <= set(VOCABULARY)
    assert verify(PROBLEM, answer) == (final_answer(answer) == "14")


def test_outcomes_are_shares_of_the_sampled_answers() -> None:
    policies = World.load().policies
    base, other = policies["base"], policies["over-trained"]
    found = outcomes(other.params, base.params, PROBLEM, beta=0.5)
    counts = sampled_answers(base.model, base.params, PROBLEM, 64)
    assert {name: p * 64 for name, p in zip(found.answers, found.reference_p, strict=True) if p} == dict(counts)
    assert sum(counts.values()) == 64
    for shares in (found.reference_p, found.policy_p, found.target_p):
        assert shares.sum() == pytest.approx(1)
    assert [float(name == "14") for name in found.answers] == list(found.reward)
    right = found.answers.index("14")
    assert found.policy_p[right] > 0.9 > found.reference_p[right]
    odds = found.reference_p[right] / (1 - found.reference_p[right]) * math.exp(1 / 0.5)
    assert found.target_p[right] == pytest.approx(odds / (1 + odds))


def test_the_reference_is_worth_its_accuracy_and_lies_the_divergence_below_the_best() -> None:
    base = World.load().policies["base"]
    found = outcomes(base.params, base.params, PROBLEM, beta=0.5)
    np.testing.assert_array_equal(found.policy_p, found.reference_p)
    assert found.objective == pytest.approx(float(found.reference_p @ np.array(found.reward)))
    assert not isinstance(found.kl_to_target, Undetermined)
    assert found.objective == pytest.approx(found.best - 0.5 * found.kl_to_target)


def test_an_outcome_that_the_reference_never_gave_leaves_the_objective_open() -> None:
    policies = World.load().policies
    base, other = policies["base"], policies["over-trained"]
    found = outcomes(base.params, other.params, PROBLEM, beta=0.5)
    assert isinstance(found.objective, Undetermined)
    assert "never gave" in found.objective.reason
    assert found.kl_to_target == found.objective


def test_the_parts_of_the_objective_are_those_worked_by_hand() -> None:
    found = compared(Counter({"20": 3, "14": 1}), Counter({"20": 1, "14": 1}) + Counter({"14": 2}), PROBLEM, beta=0.5)
    assert found.answers == ("14", "20")
    assert found.expected_reward == 0.75
    assert found.kl_to_reference == pytest.approx(0.5 * math.log(3))
    assert found.objective == pytest.approx(0.75 - 0.25 * math.log(3))
    assert found.best == pytest.approx(0.5 * math.log(0.25 * math.e**2 + 0.75))


def test_sampling_in_pieces_gives_the_answers_of_sampling_at_once() -> None:
    base, count = World.load().policies["base"], 2 * PIECE + 5
    prompts = [encode([BOS, *PROBLEM.words])] * count
    at_once = sample(base.model, base.params, prompts, generator(3, "outcomes"))
    expected = Counter(final_answer(decode(answer)) for answer in at_once)
    assert sampled_answers(base.model, base.params, PROBLEM, count, seed=3) == expected


def test_sampling_stops_before_the_piece_at_which_it_is_cancelled() -> None:
    base, asked = World.load().policies["base"], iter([False, False, True])
    with pytest.raises(Cancelled, match=f"stopped after {2 * PIECE} of {4 * PIECE}"):
        sampled_answers(base.model, base.params, PROBLEM, 4 * PIECE, cancel=lambda: next(asked))


def test_the_identity_holds_where_the_target_is_too_small_for_a_float() -> None:
    found = compared(Counter({"20": 3, "14": 1}), Counter({"20": 2, "14": 2}), PROBLEM, beta=1e-3)
    assert found.target_p[found.answers.index("20")] == 0
    assert found.kl_to_target == pytest.approx(
        0.5 * math.log(0.5) + 0.5 * (math.log(0.5 / 0.75) + 1e3 + math.log(0.25))
    )
    assert not isinstance(found.kl_to_target, Undetermined)
    assert found.objective == pytest.approx(found.best - 1e-3 * found.kl_to_target)
