"""Drift of states: two-point cases by hand, the sums written out, and the shipped policies."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from sim import drift as module
from sim.drift import (
    Rollouts,
    compare,
    drift,
    features,
    jaccard_distance,
    median_distance,
    rollouts_of,
    squared_distances,
    swap_test,
    unbiased,
    wasserstein,
    written_pairs,
)
from sim.errors import InvalidInput
from sim.world import Weights, World

PROMPTS = ((1, 5), (1, 6))


@cache
def policy(name: str = "base") -> Weights:
    return World.load().policies[name]


@cache
def shipped(name: str = "base", draw: int = 0, prompts: int = 24, seed: int = 0) -> Rollouts:
    return rollouts_of(policy(name).model, policy(name).params, prompts, seed, draw)


def slow_mmd2(reference: Rollouts, other: Rollouts, bandwidth: float) -> float:
    """Each pair of states of two different prompts, one at a time, from the definitions."""

    def unit(state: tuple[int, ...]) -> dict[tuple[int, ...], float]:
        counts: dict[tuple[int, ...], int] = {}
        for term in [(word,) for word in state] + [(state[i], state[i + 1]) for i in range(len(state) - 1)]:
            counts[term] = counts.get(term, 0) + 1
        length = math.sqrt(sum(count**2 for count in counts.values()))
        return {term: count / length for term, count in counts.items()}

    def mean_kernel(x: list[tuple[int, ...]], y: list[tuple[int, ...]]) -> float:
        total = 0.0
        for one in map(unit, x):
            for two in map(unit, y):
                squared = sum((one.get(term, 0) - two.get(term, 0)) ** 2 for term in one.keys() | two.keys())
                total += math.exp(-squared / (2 * bandwidth**2))
        return total / (len(x) * len(y))

    P, total = len(reference.prompts), 0.0
    for p in range(P):
        for q in range(P):
            if p != q:
                x, x2, y, y2 = reference.states(p), reference.states(q), other.states(p), other.states(q)
                total += mean_kernel(x, x2) + mean_kernel(y, y2) - mean_kernel(x, y2) - mean_kernel(y, x2)
    return total / (P * (P - 1))


def test_a_state_is_the_prompt_with_each_answer_so_far() -> None:
    assert Rollouts(((1, 5),), ((7, 8, 2),)).states(0) == [(1, 5), (1, 5, 7), (1, 5, 7, 8)]


def test_features_are_unit_length_counts_of_words_and_pairs() -> None:
    """(3, 3): word 3 twice, pair 33 once; (3,): word 3 once."""
    np.testing.assert_allclose(features([(3, 3), (3,)]), [[2 / math.sqrt(5), 1 / math.sqrt(5)], [1, 0]])


def test_the_discrepancy_of_two_points_is_the_one_worked_by_hand() -> None:
    """H = h(1, 2): two prompts whose rollouts have kernel means a = k(x, x'), b = k(y, y'), c, d across."""
    a, b, c, d = 0.9, 0.8, 0.3, 0.2
    H = np.array([[5.0, a + b - c - d], [a + b - c - d, 7.0]])
    assert unbiased(H) == pytest.approx(1.2)


def test_the_discrepancy_is_that_of_the_double_loop() -> None:
    one, other = shipped(prompts=5), shipped("over-trained", prompts=5)
    found = compare(one, other)
    assert found.mmd2 == pytest.approx(slow_mmd2(one, other, found.bandwidth), abs=1e-12)
    assert found.mmd2 != 0


def test_the_bandwidth_is_the_median_distance_of_states_that_differ() -> None:
    """Three states at right angles but for two equal ones: distances 0, root 2, root 2."""
    x = features([(3,), (3,), (4,)])
    assert median_distance(squared_distances(x)) == pytest.approx(math.sqrt(2))
    assert median_distance(squared_distances(x[:2])) == 1


def test_swaps_of_two_prompts_give_the_p_value_of_a_coin() -> None:
    """With two prompts MMD^2 is +h or -h, so half of the swaps reach it."""
    H = np.array([[0.0, 1.0], [1.0, 0.0]])
    p, null_95 = swap_test(H, np.random.default_rng(0), 9999)
    assert p == pytest.approx(0.5, abs=0.02)
    assert null_95 == 1
    assert swap_test(-H, np.random.default_rng(0))[0] == 1


def test_a_swap_changes_the_sign_of_its_prompt_in_the_discrepancy() -> None:
    one, other = shipped(prompts=4), shipped("over-trained", prompts=4)
    width = compare(one, other).bandwidth
    swapped = (
        Rollouts(one.prompts, (other.answers[0], *one.answers[1:])),
        Rollouts(one.prompts, (one.answers[0], *other.answers[1:])),
    )
    rest = Rollouts(one.prompts[1:], one.answers[1:]), Rollouts(one.prompts[1:], other.answers[1:])
    # Of the 4 x 3 ordered pairs of prompts, the 3 x 2 without the first keep their sign.
    unmoved, before, after = (
        6 * slow_mmd2(*rest, width),
        12 * slow_mmd2(one, other, width),
        12 * slow_mmd2(*swapped, width),
    )
    assert after - unmoved == pytest.approx(unmoved - before)
    assert abs(after - before) > 1e-6


def test_an_impossible_coincidence_has_the_smallest_p_value() -> None:
    D = np.ones((12, 1))
    assert swap_test(D @ D.T, np.random.default_rng(0), 999)[0] < 0.01


def test_a_policy_has_exactly_no_drift_from_itself_with_the_same_random_numbers() -> None:
    base = policy()
    found = drift(base.model, base.params, base.params, rollouts=8, seed=3)
    values = (found.mmd2, found.null_95, found.sliced_wasserstein, found.centroid, found.jaccard)
    assert values == (0, 0, 0, 0, 0)
    assert found.mmd_p == 1
    assert found.states == 2 * sum(map(len, shipped(prompts=8, seed=3).answers))


def test_two_samples_of_one_policy_are_seldom_told_apart_and_their_discrepancy_averages_to_nothing() -> None:
    found = [compare(shipped(seed=seed), shipped(draw=1, seed=seed), seed) for seed in range(12)]
    assert sum(each.mmd_p < 0.05 for each in found) <= 3
    mmd2 = np.array([each.mmd2 for each in found])
    assert mmd2.min() < 0 < mmd2.max()
    assert abs(mmd2.mean()) < 3 * mmd2.std(ddof=1) / math.sqrt(len(mmd2))


def test_another_policy_is_told_apart() -> None:
    found = compare(shipped(), shipped("cross-family"))
    assert found.mmd_p == pytest.approx(1 / 1000)
    assert found.mmd2 > found.null_95 > 0
    assert min(found.sliced_wasserstein, found.centroid, found.jaccard) > 0


def test_only_the_answers_random_numbers_change_with_the_draw() -> None:
    assert shipped(draw=1).prompts == shipped().prompts
    assert shipped(draw=1).answers != shipped().answers
    assert shipped(prompts=8, draw=1) == shipped(draw=1).first(8)


def test_the_wasserstein_distance_of_two_points_is_their_distance() -> None:
    one = np.ones(1)
    assert wasserstein(np.array([[2.0]]), np.array([[-1.5]]), one, one) == pytest.approx([3.5])


def test_the_wasserstein_distance_of_shared_mass_counts_what_moves() -> None:
    """Half of the mass stays at 0, half goes from 0 to 4."""
    found = wasserstein(np.zeros((1, 1)), np.array([[0.0], [4.0]]), np.ones(1), np.full(2, 0.5))
    assert found == pytest.approx([2.0])


@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 6))
def test_the_wasserstein_distance_is_scipys(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, u, v = rng.integers(-3, 4, (n, 2)) * 1.0, rng.normal(size=(m, 2)), rng.random(n) + 0.1, rng.random(m) + 0.1
    found = wasserstein(x, y, u / u.sum(), v / v.sum())
    expected = [wasserstein_distance(x[:, d], y[:, d], u, v) for d in range(2)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_centroids_of_two_points_are_their_distance_apart() -> None:
    """One state a rollout, the prompt itself, would be alike; the second states differ by a word and a pair."""
    one, other = (Rollouts(PROMPTS, ((a, 2), (a, 2))) for a in (7, 8))
    # Each rollout's mean is half (1, 5), the same on both sides, and half (1, 5, a): unit counts over root 5, where
    # the word a and the pair 5a are on one side only. Over the two prompts the words a add up, the pairs do not.
    word, pair = 1 / 2 / math.sqrt(5), 1 / 4 / math.sqrt(5)
    assert compare(one, other).centroid == pytest.approx(math.sqrt(2 * word**2 + 4 * pair**2))


def test_the_jaccard_distance_is_of_the_pairs_that_were_written() -> None:
    one, other = Rollouts(((1, 5),), ((7, 2),)), Rollouts(((1, 5),), ((7, 8, 2),))
    assert written_pairs(one) == {(5, 7), (7, 2)}
    assert written_pairs(other) == {(5, 7), (7, 8), (8, 2)}
    assert jaccard_distance(written_pairs(one), written_pairs(other)) == pytest.approx(1 - 1 / 4)
    assert jaccard_distance(set(), set()) == 0


def test_a_rollouts_states_share_one_weight_however_long_it_is() -> None:
    """Two answers of which one is longer by a word of its own: the longer weighs no more."""
    one = Rollouts(PROMPTS, ((2,), (2,)))
    other = Rollouts(PROMPTS, ((7, 2), (2,)))
    x = features([(1, 5), (1, 5, 7)])
    assert compare(one, other).centroid == pytest.approx(float(np.linalg.norm(x[0] - x.mean(0))) / 2)


def test_whole_prompts_are_left_out_beyond_the_states_that_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = shipped(), shipped(draw=1)
    monkeypatch.setattr(module, "MAX_STATES", 60)
    found = compare(one, other)
    kept = found.prompts
    lengths = [sum(map(len, side.answers[:kept])) for side in (one, other)]
    assert found.states == sum(lengths)
    assert max(lengths) <= 60 < max(sum(map(len, side.answers[: kept + 1])) for side in (one, other))
    assert found == compare(one.first(kept), other.first(kept))


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"got two sets of prompts"):
        compare(shipped(), shipped(seed=1))
    with pytest.raises(InvalidInput, match=r"got 1, allowed 2 or more"):
        compare(shipped(prompts=1), shipped(prompts=1))
