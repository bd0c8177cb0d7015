"""Measures against exact cases, hand-worked clouds and the formulae written out."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sim import measures
from sim.frame import Undetermined
from tests import reference as slow

COHERENCE = slow.golden()["coherence"]
vectors = st.integers(2, 6).flatmap(lambda n: arrays(np.float64, (n, 3), elements=st.floats(-5, 5)))


def apart(count: int) -> np.ndarray:
    return np.arange(count)


@pytest.mark.parametrize("case", slow.golden()["concentration"])
def test_effective_share_is_the_exact_one(case: dict[str, Any]) -> None:
    norms = np.array(case["norms"])
    assert measures.effective_share(norms) == pytest.approx(case["effective_share"], rel=1e-12)
    assert measures.effective_share(norms) == pytest.approx(case["effective_count"] / len(norms), rel=1e-12)


@pytest.mark.parametrize("case", COHERENCE)
def test_coherence_and_participation_ratio_are_the_exact_ones(case: dict[str, Any]) -> None:
    g = np.array(case["gradients"])
    assert measures.coherence(g @ g.T, apart(len(g))) == pytest.approx(case["coherence"], rel=1e-12)
    assert measures.participation_ratio(g @ g.T) == pytest.approx(case["participation_ratio"], rel=1e-12)


@pytest.mark.parametrize("case", COHERENCE)
def test_the_oracles_shares_are_the_exact_ones(case: dict[str, Any]) -> None:
    g = torch.tensor(case["gradients"], dtype=torch.float64)
    np.testing.assert_allclose(slow.shares(g / len(g)).numpy(), case["shares"], atol=1e-12)


@given(vectors)
def test_coherence_is_the_sum_formula_where_each_rollout_has_its_own_prompt(g: np.ndarray) -> None:
    n, squared = len(g), float((g**2).sum())
    found = measures.coherence(g @ g.T, apart(n))
    if squared < 1e-12:
        assert isinstance(found, Undetermined) or squared > 0
    else:
        expected = (float((g.sum(0) ** 2).sum()) - squared) / ((n - 1) * squared)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_coherence_does_not_count_pairs_of_one_prompt() -> None:
    g = np.array([[1.0, 0], [1.0, 0], [0, 1.0], [0, 1.0]])
    assert measures.coherence(g @ g.T, np.array([0, 0, 1, 1])) == 0
    assert measures.coherence(g @ g.T, apart(4)) == pytest.approx(1 / 3)


def test_coherence_of_one_prompt_is_undetermined() -> None:
    g = np.array([[1.0, 0], [1.0, 0]])
    assert isinstance(measures.coherence(g @ g.T, np.zeros(2, np.int64)), Undetermined)


def test_coherence_of_zero_gradients_is_undetermined() -> None:
    assert isinstance(measures.coherence(np.zeros((3, 3)), apart(3)), Undetermined)
    assert isinstance(measures.participation_ratio(np.zeros((3, 3))), Undetermined)


def test_the_noise_scale_is_the_batch_at_which_signal_equals_noise() -> None:
    """g = m + e with |m|^2 = 1 and tr(Sigma) = 3: three rollouts."""
    rng = np.random.default_rng(0)
    g = np.array([1.0, 0, 0, 0]) + rng.normal(size=(4000, 4)) * math.sqrt(3 / 4)
    found = measures.bias(g @ g.T, apart(4000), 0.5)
    assert found.noise_scale == pytest.approx(3, rel=0.1)
    assert found.coherence == pytest.approx(1 / 4, rel=0.1)
    assert found.reward_cosine == 0.5


def test_a_batch_without_a_common_direction_has_no_noise_scale() -> None:
    g = np.array([[1.0, 0], [-1.0, 0], [0, 1.0]])
    found = measures.bias(g @ g.T, apart(3), 0.0)
    assert found.coherence == pytest.approx(-1 / 3)
    assert isinstance(found.noise_scale, Undetermined)


@pytest.mark.parametrize(
    ("signal", "share"),
    [
        ([1.0, 1, 0, 0], 0.0),
        ([1.0, 0, 1, 0], 1.0),
        ([3.0, 1, 1, -1], 4 / 8),
    ],
)
def test_density_is_the_share_of_variance_inside_a_sequence(signal: list[float], share: float) -> None:
    assert measures.within_share(np.array(signal), np.array([0, 0, 1, 1])) == pytest.approx(share)


def test_one_reward_a_rollout_has_exactly_no_density() -> None:
    sequence = np.repeat(np.arange(7), [3, 1, 9, 4, 5, 2, 8])
    signal = np.array([0.1, -0.3, 0.7, 0.1, 1 / 3, -2 / 3, 0.9])[sequence]
    assert measures.within_share(signal, sequence) == 0.0


def test_a_signal_that_is_the_same_everywhere_has_no_density_to_measure() -> None:
    for value in (0.0, 0.1, 1e6):
        assert isinstance(measures.within_share(np.full(5, value), np.array([0, 0, 1, 1, 1])), Undetermined)


@given(arrays(np.float64, 8, elements=st.floats(-3, 3)))
def test_density_lies_between_nothing_and_one(signal: np.ndarray) -> None:
    found = measures.within_share(signal, np.array([0, 0, 0, 1, 1, 2, 2, 2]))
    assert isinstance(found, Undetermined) or 0 <= found <= 1


def test_density_counts_active_sites_and_silent_groups() -> None:
    signal = np.array([0.5, 0.001, -0.5, 0.0, 0.0, 0.0])
    sequence = np.array([0, 0, 1, 2, 2, 3])
    group = np.array([0, 0, 1, 1])
    found = measures.density(signal, signal == 0, sequence, group)
    assert found.active_share == pytest.approx(2 / 6)
    assert found.silent_groups == 0.5


def test_one_token_that_pulls_alone_has_the_least_effective_share() -> None:
    assert measures.effective_share(np.array([0.0, 0, 0, 7])) == 1 / 4
    assert measures.effective_share(np.full(4, 7.0)) == 1
    assert isinstance(measures.effective_share(np.zeros(4)), Undetermined)


@pytest.mark.parametrize(("count", "top"), [(1, 1), (50, 1), (100, 1), (101, 2), (200, 2), (700, 7)])
def test_the_top_share_is_that_of_one_token_in_a_hundred(count: int, top: int) -> None:
    shares = np.full(count, -0.01)
    shares[:10] = 1.0
    assert measures.top_share(shares) == pytest.approx(min(top, count))


def test_the_top_share_keeps_its_sign() -> None:
    assert measures.top_share(np.array([-0.5, -0.2])) == -0.2
    assert isinstance(measures.top_share(np.full(3, np.nan)), Undetermined)


@given(vectors)
def test_the_leave_out_angle_is_that_between_the_update_and_the_update_without_its_longest(g: np.ndarray) -> None:
    g = g + np.array([3.0, 0, 0])
    total = g.sum(0)
    length = np.linalg.norm(g, axis=1)
    rest = total - g[int(np.argmax(length))]
    found = measures.leave_out_angle(length, g @ total / (total @ total), float(np.linalg.norm(total)))
    if np.linalg.norm(rest) < 1e-5 * np.linalg.norm(total):
        return
    cosine = np.clip(rest @ total / np.linalg.norm(rest) / np.linalg.norm(total), -1, 1)
    assert isinstance(found, float)
    # An arc cosine near 1 keeps half the digits.
    assert found == pytest.approx(math.degrees(math.acos(cosine)), abs=1e-4)


def test_a_right_angle_is_ninety_degrees() -> None:
    """Leaving (2, -1) out of (2, 0) leaves (0, 1)."""
    g = np.array([[2.0, -1.0], [0.0, 1.0]])
    total = g.sum(0)
    angle = measures.leave_out_angle(np.linalg.norm(g, axis=1), g @ total / (total @ total), 2.0)
    assert angle == pytest.approx(90)


def test_a_lone_token_has_no_leave_out_angle() -> None:
    assert isinstance(measures.leave_out_angle(np.array([2.0, 0]), np.array([1.0, 0]), 2.0), Undetermined)
    assert isinstance(measures.leave_out_angle(np.zeros(2), np.full(2, np.nan), 0.0), Undetermined)


def test_concentration_weighs_lengths_as_the_update_does() -> None:
    """The second token is longer; the first, which counts three times, pulls more."""
    g, weights = np.array([[1.0, 0], [0, 2.0]]), np.array([3.0, 1.0])
    total = weights @ g
    share = weights * (g @ total) / (total @ total)
    found = measures.concentration(np.array([1.0, 2.0]), weights, share, float(np.linalg.norm(total)))
    assert found.effective_share == pytest.approx(9 / (2 * 5))
    assert found.leave_out_angle == pytest.approx(math.degrees(math.acos(2 / math.sqrt(13))))
    assert found.top1_share == pytest.approx(9 / 13)


@given(vectors)
def test_the_participation_ratio_counts_directions(g: np.ndarray) -> None:
    C = g.T @ g
    if np.trace(C) < 1e-6:
        return
    expected = np.trace(C) ** 2 / np.trace(C @ C)
    assert measures.participation_ratio(g @ g.T) == pytest.approx(expected, rel=1e-9)
