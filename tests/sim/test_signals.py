"""Weight rows, against losses differentiated by torch, exact cases and any input."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from sim.config import Clip
from sim.signals import forward, kl, label, onehot, reverse, sampled_reverse, scale
from tests import reference as slow
from tests.signals import (
    CASES,
    DIVERGENCES,
    KINDS,
    OFF,
    TERMS,
    ascent,
    clips,
    close,
    expected_ascent,
    logs,
    on,
    pairs,
)


@pytest.mark.parametrize("case", CASES)
def test_logit_gradients_of_every_divergence_are_the_exact_ones(case: dict[str, Any]) -> None:
    log_p, log_q = logs(case["student"]), logs(case["teacher"])
    exact = case["ascent_logit_gradient"]
    close(ascent(forward(log_p, log_q, OFF).rows_NV, log_p), exact["forward_kl"])
    close(ascent(reverse(log_p, log_q, OFF).rows_NV, log_p), exact["reverse_kl"])
    close(expected_ascent(sampled_reverse, log_p, log_q, OFF), exact["sampled_reverse_kl_expectation"])
    close(ascent(label(log_p, torch.tensor([0]), OFF).rows_NV, log_p), exact["label_0"])


def test_dynamic_fine_tuning_climbs_the_probability_of_the_label() -> None:
    """p = (0.2, 0.3, 0.5), y = 0: d p_0 / d logits = p_0 (onehot - p) = (0.16, -0.06, -0.1)."""
    log_p, token = logs([0.2, 0.3, 0.5]), torch.tensor([0])
    found = label(log_p, token, OFF, "probability")
    close(ascent(found.rows_NV, log_p), [0.16, -0.06, -0.1])
    close(found.signal_N, [-0.2 * math.log(0.2)])
    close(found.kl_N, [-math.log(0.2)])
    assert not found.clipped_N.any()
    z = log_p.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(z.softmax(-1)[0, 0], z)
    close(ascent(found.rows_NV, log_p), gradient)


#: That of TERMS["jsd"].
JSD_BETA = 0.3


def losses(z: Tensor, log_q: Tensor, token: Tensor, clip: Clip) -> dict[str, Tensor]:
    """Each method's loss written out, with what is detached detached."""
    log_p = z.log_softmax(-1)
    p, q = log_p.exp(), log_q.exp()
    at_y = log_p.gather(-1, token[:, None])[:, 0]
    A = (log_q - log_p).detach()
    reverse_entries, forward_entries, surprise = p * (log_p - log_q), q * (log_q - log_p), -at_y
    mixture = JSD_BETA * q + (1 - JSD_BETA) * p
    jsd_entries = JSD_BETA * q * (log_q - mixture.log()) + (1 - JSD_BETA) * p * (log_p - mixture.log())
    at_y_now = at_y.exp().detach()
    if clip.on and clip.kind == "advantage":
        cap = clip.threshold
        A_forward, kept = (q / p - 1).detach().clamp(-cap, cap), ((1 + cap) * at_y.exp()).clamp(max=1).detach()
        A = A.clamp(-cap, cap)
        A_jsd = (mixture.log() - log_p).detach().clamp(-cap, cap)
        return {
            "sampled-reverse": -(A.gather(-1, token[:, None])[:, 0] * at_y).sum(),
            "reverse": -(p.detach() * A * log_p).sum(),
            "forward": -(p.detach() * A_forward * log_p).sum(),
            "label": (kept * surprise).sum(),
            "DFT": (at_y_now * kept * surprise).sum(),
            "jsd": -((1 - JSD_BETA) * p.detach() * A_jsd * log_p).sum(),
        }
    factors = [torch.ones(len(z), dtype=z.dtype)] * 4
    if clip.on and clip.kind == "token-scale":
        divergences = (reverse_entries.sum(-1), forward_entries.sum(-1), surprise, jsd_entries.sum(-1))
        factors = [(clip.threshold / divergence).clamp(max=1).detach() for divergence in divergences]
    if clip.on and clip.kind == "entry-clamp":
        reverse_entries, forward_entries, surprise, jsd_entries = (
            entry.clamp(max=clip.threshold) for entry in (reverse_entries, forward_entries, surprise, jsd_entries)
        )
        A = A.clamp(min=-clip.threshold)
    return {
        "sampled-reverse": -(factors[0] * A.gather(-1, token[:, None])[:, 0] * at_y).sum(),
        "reverse": (factors[0] * reverse_entries.sum(-1)).sum(),
        "forward": (factors[1] * forward_entries.sum(-1)).sum(),
        "label": (factors[2] * surprise).sum(),
        "DFT": (at_y_now * factors[2] * surprise).sum(),
        "jsd": (factors[3] * jsd_entries.sum(-1)).sum(),
    }


@pytest.mark.parametrize("clip", [OFF, *(on(kind, tau) for kind in KINDS for tau in (0.05, 0.5))])
def test_rows_give_the_gradient_of_the_loss_that_they_stand_for(clip: Clip) -> None:
    rng = torch.Generator().manual_seed(0)
    z, teacher = (torch.randn(6, 5, generator=rng, dtype=torch.float64) * 2 for _ in range(2))
    log_q, token = teacher.log_softmax(-1), torch.tensor([0, 1, 2, 3, 4, 0])
    z.requires_grad_()
    for name, loss in losses(z, log_q, token, clip).items():
        (gradient,) = torch.autograd.grad(loss, z, retain_graph=True)
        log_p = z.detach().log_softmax(-1)
        close(ascent(TERMS[name](log_p, log_q, token, clip).rows_NV, log_p), -gradient)


def test_rows_give_the_finite_difference_of_the_loss() -> None:
    rng = torch.Generator().manual_seed(1)
    z, teacher = (torch.randn(1, 4, generator=rng, dtype=torch.float64) for _ in range(2))
    log_q, token, h = teacher.log_softmax(-1), torch.tensor([2]), 1e-6
    for name in ("reverse", "forward", "label", "jsd"):
        slopes = []
        for v in range(4):
            step = torch.zeros_like(z)
            step[0, v] = h
            ahead, behind = (float(losses(z + s * step, log_q, token, OFF)[name]) for s in (1, -1))
            slopes.append(-(ahead - behind) / (2 * h))
        log_p = z.log_softmax(-1)
        close(ascent(TERMS[name](log_p, log_q, token, OFF).rows_NV, log_p), slopes, atol=1e-8)


def test_a_reward_with_a_kl_is_a_divergence_to_the_policy_that_it_implies() -> None:
    case = slow.golden()["implicit_target"][0]
    beta, reward = case["beta"], torch.tensor([case["reward"]], dtype=torch.float64)
    log_p, log_ref, log_target = (logs(case[name]) for name in ("policy", "reference", "target"))
    objective = (log_p.exp() * reward).sum() - beta * kl(log_p, log_ref)
    close(objective, [case["objective"]])
    close(-beta * kl(log_p, log_target) + case["beta_log_Z"], [case["minus_beta_kl_to_target_plus_beta_log_Z"]])
    z = log_p.clone().requires_grad_()
    p = z.softmax(-1)
    ((p * reward).sum() - beta * (p * (p.log() - log_ref)).sum()).backward()  # type: ignore[no-untyped-call]
    assert z.grad is not None
    close(beta * ascent(reverse(log_p, log_target, OFF).rows_NV, log_p), z.grad)


@given(pairs(), st.sampled_from(DIVERGENCES), clips | st.just(OFF), st.sampled_from([torch.float32, torch.float64]))
def test_a_teacher_equal_to_the_student_gives_exactly_zero(
    pair: tuple[Tensor, Tensor, Tensor], divergence: str, clip: Clip, dtype: torch.dtype
) -> None:
    log_p, _, token = pair
    log_p = log_p.to(dtype)
    found = TERMS[divergence](log_p, log_p.clone(), token, clip)
    assert not found.rows_NV.any()
    assert not found.signal_N.any()
    assert not found.kl_N.any()
    assert not found.clipped_N.any()


@given(pairs(1e4), st.sampled_from(list(TERMS)), clips | st.just(OFF))
def test_extreme_logits_at_a_low_temperature_leave_no_nan(
    pair: tuple[Tensor, Tensor, Tensor], name: str, clip: Clip
) -> None:
    log_p, log_q, token = pair
    logits = log_p.float().requires_grad_()
    cold_p, cold_q = (logits / 0.05).log_softmax(-1), (log_q.float() / 0.05).log_softmax(-1)
    found = TERMS[name](cold_p.detach(), cold_q, token, clip)
    for value in (found.rows_NV, found.signal_N, found.kl_N):
        assert torch.isfinite(value).all()
    (gradient,) = torch.autograd.grad(cold_p, logits, found.rows_NV)
    assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("name", list(TERMS))
@pytest.mark.parametrize("clip", [OFF, *(on(kind, 0.3) for kind in KINDS)])
def test_a_word_that_neither_can_say_leaves_no_nan(name: str, clip: Clip) -> None:
    log_p, log_q = logs([0.2, 0.8, 0.0]), logs([0.7, 0.3, 0.0])
    found = TERMS[name](log_p, log_q, torch.tensor([0]), clip)
    known = TERMS[name](log_p[:, :2], log_q[:, :2], torch.tensor([0]), clip)
    close(found.rows_NV[:, :2], known.rows_NV)
    close(found.signal_N, known.signal_N)
    assert not found.rows_NV[:, 2].any()


def test_onehot_and_scale_are_what_they_say() -> None:
    like = torch.zeros(2, 3, dtype=torch.float64)
    close(onehot(torch.tensor([2, 0]), torch.tensor([1.5, -2.0]), like), [[0, 0, 1.5], [-2.0, 0, 0]])
    close(scale(torch.tensor([0.0, 0.5, 1.0, 4.0], dtype=torch.float64), 1.0), [1, 1, 1, 0.25])
