"""Weight rows, clips and advantages, against losses differentiated by torch, exact cases and any input."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

from sim.config import Clip, Reward
from sim.signals import Signal, advantages, forward, jsd, kl, label, mean_kl, onehot, reverse, sampled_reverse, scale
from tests import reference as slow

OFF = Clip()
KINDS = ("entry-clamp", "token-scale", "advantage")
Term = Callable[[Tensor, Tensor, Tensor, Clip], Signal]
TERMS: dict[str, Term] = {
    "sampled-reverse": sampled_reverse,
    "reverse": lambda log_p, log_q, _, clip: reverse(log_p, log_q, clip),
    "forward": lambda log_p, log_q, _, clip: forward(log_p, log_q, clip),
    "label": lambda log_p, _, token, clip: label(log_p, token, clip),
    "DFT": lambda log_p, _, token, clip: label(log_p, token, clip, "probability"),
    "jsd": lambda log_p, log_q, _, clip: jsd(log_p, log_q, 0.3, clip),
    "jsd, nearly forward": lambda log_p, log_q, _, clip: jsd(log_p, log_q, 0.001, clip),
    "jsd, nearly reverse": lambda log_p, log_q, _, clip: jsd(log_p, log_q, 0.999, clip),
}
DIVERGENCES = ("sampled-reverse", "reverse", "forward", "jsd", "jsd, nearly forward", "jsd, nearly reverse")
BETAS = (0.001, 0.1, 0.5, 0.9, 0.999)
CASES = slow.golden()["divergence"]


def logs(p: list[float]) -> Tensor:
    return torch.tensor([p], dtype=torch.float64).log()


def on(kind: str, threshold: float) -> Clip:
    return Clip.model_construct(on=True, kind=kind, threshold=threshold)


def ascent(rows_NV: Tensor, log_p_NV: Tensor) -> Tensor:
    """sum_v w[v] d log p_v / d logits = w - p sum_v w."""
    return rows_NV - log_p_NV.exp() * rows_NV.sum(-1, keepdim=True)


def expected_ascent(term: Term, log_p: Tensor, log_q: Tensor, clip: Clip) -> Tensor:
    """The mean over tokens y drawn from p."""
    words = range(log_p.shape[-1])
    parts = [ascent(term(log_p, log_q, torch.tensor([y]), clip).rows_NV, log_p) * log_p[0, y].exp() for y in words]
    return torch.stack(parts).sum(0)


def close(found: Tensor, expected: list[float] | Tensor, atol: float = 1e-12) -> None:
    expected = torch.as_tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(found.reshape(expected.shape), expected, rtol=1e-10, atol=atol)


@st.composite
def pairs(draw: st.DrawFn, largest: float = 30.0) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities of a student and a teacher at some sites, and the tokens there."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(2, 6)))
    logits = arrays(np.float64, shape, elements=st.floats(-largest, largest))
    tokens = draw(arrays(np.int64, shape[0], elements=st.integers(0, shape[1] - 1)))
    log_p, log_q = (torch.from_numpy(draw(logits)).log_softmax(-1) for _ in range(2))
    return log_p, log_q, torch.from_numpy(tokens)


clips = st.builds(on, st.sampled_from(KINDS), st.floats(1e-3, 100))


@pytest.mark.parametrize("case", CASES)
def test_both_divergences_are_the_exact_ones(case: dict[str, Any]) -> None:
    log_p, log_q = logs(case["student"]), logs(case["teacher"])
    token = torch.tensor([0])
    close(kl(log_q, log_p), [case["forward_kl"]])
    close(kl(log_p, log_q), [case["reverse_kl"]])
    close(forward(log_p, log_q, OFF).kl_N, [case["forward_kl"]])
    close(reverse(log_p, log_q, OFF).kl_N, [case["reverse_kl"]])
    close(sampled_reverse(log_p, log_q, token, OFF).kl_N, [case["reverse_kl"]])


@pytest.mark.parametrize("case", CASES)
def test_sampled_advantages_are_the_exact_ones(case: dict[str, Any]) -> None:
    log_p, log_q = (logs(case[who]).expand(3, 3) for who in ("student", "teacher"))
    found = sampled_reverse(log_p, log_q, torch.arange(3), OFF)
    close(found.signal_N, case["sampled_advantage"])
    close(found.rows_NV, torch.diag(torch.tensor(case["sampled_advantage"], dtype=torch.float64)))


@pytest.mark.parametrize("case", CASES)
def test_logit_gradients_of_every_divergence_are_the_exact_ones(case: dict[str, Any]) -> None:
    log_p, log_q = logs(case["student"]), logs(case["teacher"])
    exact = case["ascent_logit_gradient"]
    close(ascent(forward(log_p, log_q, OFF).rows_NV, log_p), exact["forward_kl"])
    close(ascent(reverse(log_p, log_q, OFF).rows_NV, log_p), exact["reverse_kl"])
    close(expected_ascent(sampled_reverse, log_p, log_q, OFF), exact["sampled_reverse_kl_expectation"])
    close(ascent(label(log_p, torch.tensor([0]), OFF).rows_NV, log_p), exact["label_0"])


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


def test_a_student_and_a_teacher_who_share_no_word_are_as_far_apart_as_a_mixture_can_tell() -> None:
    found = jsd(logs([1.0, 0.0]), logs([0.0, 1.0]), 0.25, OFF)
    close(found.kl_N, [-0.25 * math.log(0.25) - 0.75 * math.log(0.75)])
    assert torch.isfinite(found.rows_NV).all()


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


@pytest.mark.parametrize("case", CASES)
def test_the_entry_clamp_is_the_exact_one(case: dict[str, Any]) -> None:
    log_p, log_q, exact = logs(case["student"]), logs(case["teacher"]), case["entry_clamp"]
    clip = on("entry-clamp", exact["tau"])
    found = forward(log_p, log_q, clip)
    close(found.signal_N, [exact["forward_loss"]])
    close(ascent(found.rows_NV, log_p), exact["forward_ascent_logit_gradient"])
    found = reverse(log_p, log_q, clip)
    close(found.signal_N, [exact["reverse_loss"]])
    close(ascent(found.rows_NV, log_p), exact["reverse_ascent_logit_gradient"])


def test_the_entry_clamp_turns_the_pivots_arrow_round_and_leaves_a_hundredth_of_it() -> None:
    log_p, log_q = logs([0.01, 0.495, 0.495]), logs([0.6, 0.2, 0.2])
    free, clamped = (ascent(forward(log_p, log_q, clip).rows_NV, log_p) for clip in (OFF, on("entry-clamp", 0.05)))
    assert float(free.norm() / clamped.norm()) == pytest.approx(147.5, abs=1)
    assert float((free * clamped).sum() / free.norm() / clamped.norm()) == pytest.approx(-1)


@pytest.mark.parametrize("case", CASES)
def test_the_token_scale_is_the_exact_one(case: dict[str, Any]) -> None:
    log_p, log_q, exact = logs(case["student"]), logs(case["teacher"]), case["token_scale"]
    clip = on("token-scale", exact["tau"])
    close(ascent(forward(log_p, log_q, clip).rows_NV, log_p), exact["forward_ascent_logit_gradient"])
    for name, term in (("forward", forward), ("reverse", reverse)):
        factor = exact[f"{name}_factor"]
        close(term(log_p, log_q, clip).rows_NV, term(log_p, log_q, OFF).rows_NV * factor)
        close(term(log_p, log_q, clip).signal_N, term(log_p, log_q, OFF).kl_N * factor)
        assert bool(term(log_p, log_q, clip).clipped_N) == (factor < 1)


@pytest.mark.parametrize("case", CASES)
def test_the_advantage_clip_is_the_exact_one(case: dict[str, Any]) -> None:
    exact = case["advantage_clip"]
    log_p, log_q = logs(case["student"]), logs(case["teacher"])
    clip = on("advantage", exact["c"])
    found = sampled_reverse(log_p.expand(3, 3), log_q.expand(3, 3), torch.arange(3), clip)
    close(found.signal_N, exact["advantages"])
    close(expected_ascent(sampled_reverse, log_p, log_q, clip), exact["expected_ascent_logit_gradient"])
    close(ascent(reverse(log_p, log_q, clip).rows_NV, log_p), exact["expected_ascent_logit_gradient"])


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


@given(pairs(), st.sampled_from(list(TERMS)), st.sampled_from(KINDS))
def test_a_clip_with_an_endless_threshold_is_no_clip(pair: tuple[Tensor, Tensor, Tensor], name: str, kind: str) -> None:
    free, clipped = (TERMS[name](*pair, clip) for clip in (OFF, on(kind, 1e300)))
    assert torch.equal(free.rows_NV, clipped.rows_NV)
    torch.testing.assert_close(free.signal_N, clipped.signal_N)
    assert not clipped.clipped_N.any()


@given(pairs(), st.sampled_from(list(TERMS)), clips)
def test_a_clip_never_lengthens_a_row_unless_it_is_the_entry_clamp(
    pair: tuple[Tensor, Tensor, Tensor], name: str, clip: Clip
) -> None:
    """The clamp of a whole distribution drops entries of a sum, which may leave more: see the next test."""
    if clip.kind == "entry-clamp" and name in ("reverse", "forward"):
        clip = on("token-scale", clip.threshold)
    free, clipped = (TERMS[name](*pair, one).rows_NV.norm(dim=-1) for one in (OFF, clip))
    assert (clipped <= free * (1 + 1e-12)).all()


def test_the_entry_clamp_can_lengthen_an_arrow() -> None:
    """p = (.5, .5), q = (.6, .4): the pull (.1, -.1) loses its first entry and becomes (-.2, .2)."""
    log_p, log_q = logs([0.5, 0.5]), logs([0.6, 0.4])
    close(ascent(forward(log_p, log_q, OFF).rows_NV, log_p), [0.1, -0.1])
    close(ascent(forward(log_p, log_q, on("entry-clamp", 0.05)).rows_NV, log_p), [-0.2, 0.2])


@given(pairs(), st.sampled_from(list(TERMS)), clips)
def test_a_site_that_no_clip_touched_keeps_its_row(pair: tuple[Tensor, Tensor, Tensor], name: str, clip: Clip) -> None:
    free, clipped = (TERMS[name](*pair, one) for one in (OFF, clip))
    untouched = ~clipped.clipped_N
    assert torch.equal(free.rows_NV[untouched], clipped.rows_NV[untouched])
    torch.testing.assert_close(free.signal_N[untouched], clipped.signal_N[untouched])
    torch.testing.assert_close(free.kl_N, clipped.kl_N)


@given(pairs(), clips)
def test_the_thresholds_bound_what_they_name(pair: tuple[Tensor, Tensor, Tensor], clip: Clip) -> None:
    log_p, log_q, token = pair
    tau = clip.threshold * (1 + 1e-9)
    advantage, scaled, clamp = (on(kind, clip.threshold) for kind in ("advantage", "token-scale", "entry-clamp"))
    assert (sampled_reverse(log_p, log_q, token, advantage).signal_N.abs() <= tau).all()
    assert (sampled_reverse(log_p, log_q, token, clamp).signal_N >= -tau).all()
    p = log_p.exp()
    for term in (reverse, forward, lambda log_p, log_q, clip: jsd(log_p, log_q, 0.3, clip)):
        assert (term(log_p, log_q, advantage).rows_NV.abs() <= tau * p).all()
        assert (term(log_p, log_q, scaled).signal_N <= tau).all()
    assert (label(log_p, token, scaled).signal_N <= tau).all()
    at_y = p.gather(-1, token[:, None])[:, 0]
    assert (label(log_p, token, advantage).rows_NV.sum(-1) <= (1 + tau) * at_y).all()


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
