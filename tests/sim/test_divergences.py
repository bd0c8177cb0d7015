"""Divergences of a student and a teacher, against exact cases, limits and bounds."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from sim.signals import forward, jsd, kl, mean_kl, reverse, sampled_reverse
from tests import reference as slow
from tests.signals import (
    CASES,
    DIVERGENCES,
    OFF,
    TERMS,
    close,
    logs,
    pairs,
)

BETAS = (0.001, 0.1, 0.5, 0.9, 0.999)


@pytest.mark.parametrize("case", CASES)
def test_both_divergences_are_the_exact_ones(case: dict[str, Any]) -> None:
    log_p, log_q = logs(case["student"]), logs(case["teacher"])
    token = torch.tensor([0])
    close(kl(log_q, log_p), [case["forward_kl"]])
    close(kl(log_p, log_q), [case["reverse_kl"]])
    close(forward(log_p, log_q, OFF).kl_N, [case["forward_kl"]])
    close(reverse(log_p, log_q, OFF).kl_N, [case["reverse_kl"]])
    close(sampled_reverse(log_p, log_q, token, OFF).kl_N, [case["reverse_kl"]])


def test_kl_has_a_direction() -> None:
    a, b = [0.9, 0.1], [0.5, 0.5]
    a_to_b = 0.9 * math.log(0.9 / 0.5) + 0.1 * math.log(0.1 / 0.5)
    b_to_a = 0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1)
    assert a_to_b == pytest.approx(0.368, abs=1e-3)
    assert b_to_a == pytest.approx(0.511, abs=1e-3)
    close(kl(logs(a), logs(b)), [a_to_b])
    close(reverse(logs(a), logs(b), OFF).kl_N, [a_to_b])
    close(forward(logs(a), logs(b), OFF).kl_N, [b_to_a])


def test_kl_takes_nothing_times_log_nothing_for_nothing() -> None:
    close(kl(logs([0.0, 1.0]), logs([0.5, 0.5])), [math.log(2)])
    close(kl(logs([0.0, 1.0]), logs([0.0, 1.0])), [0.0])
    assert kl(logs([0.5, 0.5]), logs([0.0, 1.0])).item() == math.inf


def test_the_mean_divergence_is_one_of_normalised_rows_and_never_negative() -> None:
    a, b = logs([0.9, 0.1]), logs([0.5, 0.5])
    expected = kl(a, b).item() / 2
    assert mean_kl(torch.cat([a, b]), torch.cat([b, b])) == pytest.approx(expected, rel=1e-12)
    assert mean_kl(a, a + 1e-3) == 0
    assert mean_kl(a, a - 1e-3) == 0


@given(pairs(3.0), st.sampled_from(DIVERGENCES), st.floats(0, 1e-6))
def test_rounding_makes_no_divergence_negative(
    pair: tuple[Tensor, Tensor, Tensor], divergence: str, near: float
) -> None:
    log_p, log_q, token = pair
    log_p = log_p.float()
    log_q = (log_p + near * log_q.float()).log_softmax(-1)
    assert (TERMS[divergence](log_p, log_q, token, OFF).kl_N >= 0).all()
    assert (kl(log_p, log_q) >= 0).all()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("beta", ["0.1", "0.25", "0.5", "0.9"])
def test_the_generalised_jensen_shannon_divergence_is_the_exact_one(case: dict[str, Any], beta: str) -> None:
    log_p, log_q = logs(case["student"]), logs(case["teacher"])
    found = jsd(log_p, log_q, float(beta), OFF)
    close(found.kl_N, [case["jsd"][beta]])
    close(found.signal_N, [case["jsd"][beta]])
    assert slow.jsd(log_p[0].tolist(), log_q[0].tolist(), float(beta)) == pytest.approx(case["jsd"][beta], rel=1e-12)


def test_the_jensen_shannon_row_worked_by_hand() -> None:
    """p = (1/4, 3/4), q = (3/4, 1/4), b = 1/2: m = 1/2, so w = p log(m / p) / 2 = (log 2 / 8, 3 log(2/3) / 8)."""
    found = jsd(logs([0.25, 0.75]), logs([0.75, 0.25]), 0.5, OFF)
    close(found.rows_NV, [[math.log(2) / 8, 3 * math.log(2 / 3) / 8]])
    close(found.kl_N, [0.75 * math.log(1.5) - 0.25 * math.log(2)])


@given(pairs(10.0))
def test_the_jensen_shannon_divergence_is_symmetric_in_the_middle_and_mirrored_elsewhere(
    pair: tuple[Tensor, Tensor, Tensor],
) -> None:
    log_p, log_q, _ = pair
    for beta in BETAS:
        there, back = jsd(log_p, log_q, beta, OFF).kl_N, jsd(log_q, log_p, 1 - beta, OFF).kl_N
        torch.testing.assert_close(there, back, rtol=1e-8, atol=1e-12)


@given(pairs(5.0))
def test_the_jensen_shannon_divergence_dies_at_both_ends_like_beta_times_a_kl(
    pair: tuple[Tensor, Tensor, Tensor],
) -> None:
    """JSD / b tends to KL(q || p) as b falls to 0, JSD / (1 - b) to KL(p || q) as b grows to 1, both from below."""
    log_p, log_q, _ = pair
    for share, kl_N, of in (
        (lambda beta: beta, kl(log_q, log_p), "forward"),
        (lambda beta: 1 - beta, kl(log_p, log_q), "reverse"),
    ):
        shares = []
        for size in (1e-3, 1e-5, 1e-7):
            beta = size if of == "forward" else 1 - size
            found = jsd(log_p, log_q, beta, OFF).kl_N
            assert (found <= share(beta) * kl_N * (1 + 1e-6) + 1e-14).all()
            shares.append(found / share(beta))
        torch.testing.assert_close(shares[-1], kl_N, rtol=1e-2, atol=1e-6)


@given(pairs(), st.sampled_from(BETAS))
def test_the_jensen_shannon_divergence_never_exceeds_the_entropy_of_the_mixture(
    pair: tuple[Tensor, Tensor, Tensor], beta: float
) -> None:
    """0 <= JSD <= -b log b - (1 - b) log(1 - b)."""
    found = jsd(*pair[:2], beta, OFF).kl_N
    assert (found >= 0).all()
    assert (found <= (-beta * math.log(beta) - (1 - beta) * math.log1p(-beta)) * (1 + 1e-9)).all()


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_jensen_shannon_row_has_no_seam_where_its_two_forms_meet(beta: float, dtype: torch.dtype) -> None:
    """The log-ratio passes 1, where one formula takes over from another."""
    log_p = torch.tensor([[-3.0]], dtype=torch.float64)
    for ratio in (1 - 1e-6, 1.0, 1 + 1e-6):
        log_q = log_p + ratio
        p, m = log_p.exp(), beta * log_q.exp() + (1 - beta) * log_p.exp()
        found = jsd(log_p.to(dtype), log_q.to(dtype), beta, OFF).rows_NV.double()
        torch.testing.assert_close(
            found, (1 - beta) * p * (m / p).log(), rtol=2e-4 if dtype == torch.float32 else 1e-9, atol=0
        )


def test_a_student_and_a_teacher_who_share_no_word_are_as_far_apart_as_a_mixture_can_tell() -> None:
    found = jsd(logs([1.0, 0.0]), logs([0.0, 1.0]), 0.25, OFF)
    close(found.kl_N, [-0.25 * math.log(0.25) - 0.75 * math.log(0.75)])
    assert torch.isfinite(found.rows_NV).all()
