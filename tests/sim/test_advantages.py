"""Advantages, of sampled tokens and within groups of rewards, against exact cases and by hand."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sim.config import Reward
from sim.signals import advantages, sampled_reverse
from tests import reference as slow
from tests.signals import CASES, OFF, close, logs


@pytest.mark.parametrize("case", CASES)
def test_sampled_advantages_are_the_exact_ones(case: dict[str, Any]) -> None:
    log_p, log_q = (logs(case[who]).expand(3, 3) for who in ("student", "teacher"))
    found = sampled_reverse(log_p, log_q, torch.arange(3), OFF)
    close(found.signal_N, case["sampled_advantage"])
    close(found.rows_NV, torch.diag(torch.tensor(case["sampled_advantage"], dtype=torch.float64)))


CHOICES = {
    "centred": Reward(),
    "std_ddof1_eps1e-4": Reward(normalise=True),
    "leave_one_out": Reward(baseline="leave-one-out"),
}


@pytest.mark.parametrize("case", slow.golden()["group_advantage"])
@pytest.mark.parametrize("name", list(CHOICES))
def test_group_advantages_are_the_exact_ones(case: dict[str, Any], name: str) -> None:
    found = advantages(np.array(case["rewards"]), np.zeros(4, np.int64), CHOICES[name])
    np.testing.assert_allclose(found, case[name], rtol=1e-12, atol=0)


rewards = st.lists(st.integers(0, 4).map(float), min_size=2, max_size=8)


@given(rewards, rewards, st.sampled_from(list(CHOICES.values())))
def test_group_statistics_are_within_the_group(a: list[float], b: list[float], reward: Reward) -> None:
    mixed = np.array([*a, *b])
    group = np.array([0] * len(a) + [7] * len(b))
    order = np.random.default_rng(0).permutation(len(mixed))
    together = np.empty(len(mixed))
    together[order] = advantages(mixed[order], group[order], reward)
    apart = [advantages(np.array(part), np.zeros(len(part), np.int64), reward) for part in (a, b)]
    np.testing.assert_allclose(together, np.concatenate(apart), rtol=1e-9, atol=1e-12)


@given(rewards)
def test_leave_one_out_compares_with_the_others(values: list[float]) -> None:
    found = advantages(np.array(values), np.zeros(len(values), np.int64), Reward(baseline="leave-one-out"))
    others = [r - np.mean(values[:i] + values[i + 1 :]) for i, r in enumerate(values)]
    np.testing.assert_allclose(found, others, atol=1e-12)


@given(st.floats(-10, 10), st.integers(1, 8), st.booleans(), st.sampled_from(["mean", "leave-one-out"]))
def test_equal_rewards_give_exactly_no_advantage(r: float, size: int, normalise: bool, baseline: Any) -> None:
    reward = Reward(baseline=baseline, normalise=normalise)
    assert not advantages(np.full(size, r), np.zeros(size, np.int64), reward).any()


@pytest.mark.parametrize("baseline", ["mean", "leave-one-out"])
@pytest.mark.parametrize("normalise", [False, True])
def test_rewards_that_differ_by_rounding_only_do_not_blow_up(baseline: Any, normalise: bool) -> None:
    values = np.array([0.1 + 0.2, 0.3, 0.3, float(np.float32(0.3))])
    assert len(set(values)) == 3
    assert not advantages(values, np.zeros(4, np.int64), Reward(baseline=baseline, normalise=normalise)).any()


def test_without_a_baseline_the_advantage_is_the_reward() -> None:
    values, group = np.array([1.0, 0, 1, 1]), np.array([0, 0, 1, 1])
    np.testing.assert_array_equal(advantages(values, group, Reward(baseline="none")), values)


def test_a_group_of_one_has_no_advantage() -> None:
    values, group = np.array([1.0, 0, 1]), np.array([0, 1, 2])
    for baseline in ("mean", "leave-one-out"):
        assert not advantages(values, group, Reward(baseline=baseline, normalise=True)).any()
