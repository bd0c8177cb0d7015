"""What each clip does to a row and a signal, against exact cases and any input."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from sim.config import Clip
from sim.signals import forward, jsd, label, reverse, sampled_reverse
from tests.signals import CASES, KINDS, OFF, TERMS, ascent, clips, close, expected_ascent, logs, on, pairs


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
