"""Signals: a row of detached weights w_n in R^V for each site, and the clips that cap it.

The per-token gradient is g_n = sum_v w_n[v] grad log pi(v | s_n). Adding c * pi to a row changes nothing, as
sum_v pi grad log pi = 0; rows are shifted so that a teacher equal to the student gives exactly zero.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim.config import Clip, Reward

#: Rewards closer together than this are equal: rounding must not become an advantage.
EQUAL_REWARDS = 1e-6


@dataclass(frozen=True)
class Signal:
    """Weight rows of N sites, and what each site's objective asks for.

    `rows_NV` are the weights; `signal_N` in nats: the (clipped) log-ratio at the sampled token, the (clipped)
    divergence over the vocabulary (for an advantage clip of the forward KL or JSD the unclipped one), or the label's
    surprise, and for a reward its advantage; `kl_N` the divergence before the clip (NaN where no teacher speaks);
    `clipped_N` tells where the clip bit.
    """

    rows_NV: Tensor
    signal_N: Tensor
    kl_N: Tensor
    clipped_N: Tensor


def kl(log_p_NV: Tensor, log_q_NV: Tensor) -> Tensor:
    """KL(p || q) of each row in nats, sum_v p (log p - log q), with 0 log 0 = 0; rounding makes none negative."""
    p_NV = log_p_NV.exp()
    return torch.where(p_NV > 0, p_NV * (log_p_NV - log_q_NV), 0.0).sum(-1).clamp(min=0)


def mean_kl(log_p_NV: Tensor, log_q_NV: Tensor) -> float:
    """The mean of KL(p || q) over sites, in float64.

    Both are normalised anew: what float32 leaves of sum_v p - 1 would outweigh the divergence of a small step.
    """
    log_p_NV, log_q_NV = (log_NV.double().log_softmax(-1) for log_NV in (log_p_NV, log_q_NV))
    return float(kl(log_p_NV, log_q_NV).mean())


def advantages(reward_B: NDArray[np.float64], group_B: NDArray[np.int64], reward: Reward) -> NDArray[np.float64]:
    """Group-relative advantages A_B of rollouts.

    mean: r - mean(r); leave-one-out: r - mean of the group's others; none: r. With `normalise`, divided by the
    group's std (ddof 1) + 1e-4. Equal rewards give exactly 0 (baseline none: r), and so does a group of one.

    Source: Dr. GRPO (mean, not divided), GRPO (mean, divided), RLOO (leave-one-out).
    """
    A_B = np.zeros_like(reward_B)
    for group in np.unique(group_B):
        inside = group_B == group
        r, n = reward_B[inside], int(inside.sum())
        if reward.baseline == "none":
            centred = r
        elif n == 1 or np.ptp(r) < EQUAL_REWARDS:
            continue
        else:
            centred = (r - r.mean()) * (n / (n - 1) if reward.baseline == "leave-one-out" else 1.0)
        if reward.normalise:
            spread = r.std(ddof=1) if n > 1 and np.ptp(r) >= EQUAL_REWARDS else 0.0
            centred = centred / (spread + 1e-4) if spread else np.zeros_like(centred)
        A_B[inside] = centred
    return A_B


def sampled_reverse(log_p_NV: Tensor, log_q_NV: Tensor, token_N: Tensor, clip: Clip) -> Signal:
    """Sampled reverse KL: w = A onehot(y), A = log q(y) - log p(y).

    The advantage clip bounds A to +-threshold; the token scale multiplies by min(1, threshold / KL(p || q)); the
    entry clamp caps the sampled entry log p(y) - log q(y), so that A is at least -threshold (one-sided: it
    does not hold back a pull upwards).
    """
    A_N = (log_q_NV - log_p_NV).gather(-1, token_N[:, None])[:, 0]
    kl_N = kl(log_p_NV, log_q_NV)
    capped_N = A_N
    if clip.on and clip.kind == "advantage":
        capped_N = A_N.clamp(-clip.threshold, clip.threshold)
    elif clip.on and clip.kind == "entry-clamp":
        capped_N = A_N.clamp(min=-clip.threshold)
    elif clip.on:
        capped_N = A_N * scale(kl_N, clip.threshold)
    return Signal(onehot(token_N, capped_N, log_p_NV), capped_N, kl_N, capped_N != A_N)


def reverse(log_p_NV: Tensor, log_q_NV: Tensor, clip: Clip) -> Signal:
    """Full reverse KL(p || q): w = p (log q - log p).

    advantage: log q - log p within +-threshold; token scale: min(1, threshold / KL); entry clamp: an entry
    p (log p - log q) over the threshold gives no gradient, any other its own, -p (log p - log q + 1).
    """
    p_NV = log_p_NV.exp()
    ratio_NV = torch.where(p_NV > 0, log_q_NV - log_p_NV, 0.0)
    entries_NV = -p_NV * ratio_NV
    kl_N = entries_NV.sum(-1).clamp(min=0)
    if clip.on and clip.kind == "advantage":
        capped_NV = ratio_NV.clamp(-clip.threshold, clip.threshold)
        rows_NV = p_NV * capped_NV
        return Signal(rows_NV, -rows_NV.sum(-1), kl_N, (capped_NV != ratio_NV).any(-1))
    if clip.on and clip.kind == "entry-clamp":
        return _clamped(-entries_NV, entries_NV, p_NV, kl_N, clip.threshold)
    return _scaled(-entries_NV, kl_N, clip)


def forward(log_p_NV: Tensor, log_q_NV: Tensor, clip: Clip) -> Signal:
    """Full forward KL(q || p): w = q, shifted to q - p.

    token scale: min(1, threshold / KL); entry clamp: an entry q (log q - log p) over the threshold gives no
    gradient, any other its own, q; advantage: with q = p (1 + A), A within +-threshold.

    Source: on-policy self-distillation's public default is the entry clamp at 0.05.
    """
    p_NV, q_NV = log_p_NV.exp(), log_q_NV.exp()
    entries_NV = torch.where(q_NV > 0, q_NV * (log_q_NV - log_p_NV), 0.0)
    kl_N = entries_NV.sum(-1).clamp(min=0)
    if clip.on and clip.kind == "advantage":
        over_NV = (q_NV - p_NV).abs() > clip.threshold * p_NV
        rows_NV = torch.where(over_NV, clip.threshold * p_NV * (q_NV - p_NV).sign(), q_NV - p_NV)
        return Signal(rows_NV, kl_N, kl_N, over_NV.any(-1))
    if clip.on and clip.kind == "entry-clamp":
        return _clamped(q_NV - p_NV, entries_NV, -p_NV, kl_N, clip.threshold)
    return _scaled(q_NV - p_NV, kl_N, clip)


def jsd(log_p_NV: Tensor, log_q_NV: Tensor, beta: float, clip: Clip) -> Signal:
    """Generalised Jensen-Shannon divergence: w = (1 - b) p log(m / p), with the mixture m = b q + (1 - b) p.

    It is b KL(q || m) + (1 - b) KL(p || m).
    advantage: log m - log p within +-threshold; token scale: min(1, threshold / JSD); entry clamp: an entry
    b q log(q / m) + (1 - b) p log(p / m) over the threshold gives no gradient, any other its own, which is its w. The
    divergence goes to 0 at both ends of b, so those are named forward and reverse KL instead.

    Source: Agarwal et al., On-policy distillation of language models (2024).
    """
    p_NV, q_NV = log_p_NV.exp(), log_q_NV.exp()
    # log(m / p) from the log-ratio, so that q = p gives exactly 0; the other form where e^r would overflow.
    ratio_NV = torch.where(p_NV > 0, log_q_NV - log_p_NV, 0.0)
    near_NV = torch.log1p(beta * torch.expm1(ratio_NV.clamp(max=1)))
    far_NV = torch.logaddexp(ratio_NV + math.log(beta), torch.full_like(ratio_NV, math.log1p(-beta)))
    above_NV = torch.where(ratio_NV > 1, far_NV, near_NV)
    below_NV = torch.where(q_NV > 0, ratio_NV - above_NV, 0.0)
    # Where the student gives nothing, m is b q.
    below_NV = torch.where(p_NV > 0, below_NV, -math.log(beta))
    entries_NV = beta * q_NV * below_NV - (1 - beta) * p_NV * above_NV
    kl_N = entries_NV.sum(-1).clamp(min=0)
    rows_NV = (1 - beta) * p_NV * above_NV
    if clip.on and clip.kind == "advantage":
        capped_NV = above_NV.clamp(-clip.threshold, clip.threshold)
        return Signal((1 - beta) * p_NV * capped_NV, kl_N, kl_N, (capped_NV != above_NV).any(-1))
    if clip.on and clip.kind == "entry-clamp":
        return _clamped(rows_NV, entries_NV, torch.zeros_like(rows_NV), kl_N, clip.threshold)
    return _scaled(rows_NV, kl_N, clip)


def label(log_p_NV: Tensor, token_N: Tensor, clip: Clip, weight: str = "one") -> Signal:
    """Forward KL to a label: w = onehot(y); the divergence is the surprise -log p(y).

    With `weight` "probability" (DFT) w = p(y) onehot(y), detached: the ascent direction is grad p(y). A point mass q
    has the one entry -log p(y). Token scale and entry clamp act on it; the advantage clip bounds the label's ratio
    q / p by 1 + threshold, which leaves min(1, (1 + threshold) p(y)) of its weight.

    Source: DFT is Wu et al., On the generalization of SFT (2025).
    """
    surprise_N = -log_p_NV.gather(-1, token_N[:, None])[:, 0]
    factor_N = torch.ones_like(surprise_N)
    if clip.on and clip.kind == "token-scale":
        factor_N = scale(surprise_N, clip.threshold)
    elif clip.on and clip.kind == "entry-clamp":
        factor_N = (surprise_N <= clip.threshold).to(surprise_N)
    elif clip.on:
        factor_N = ((1 + clip.threshold) * (-surprise_N).exp()).clamp(max=1)
    clipped_N = factor_N != 1
    if weight == "probability":
        factor_N = factor_N * (-surprise_N).exp()
    return Signal(onehot(token_N, factor_N, log_p_NV), factor_N * surprise_N, surprise_N, clipped_N)


def onehot(token_N: Tensor, weight_N: Tensor, like_NV: Tensor) -> Tensor:
    """Rows weight_N * onehot(token_N)."""
    return torch.zeros_like(like_NV).scatter_(-1, token_N[:, None], weight_N[:, None].to(like_NV))


def scale(kl_N: Tensor, threshold: float) -> Tensor:
    """The token scale min(1, threshold / KL), exactly 1 where KL does not exceed the threshold."""
    return torch.where(kl_N > threshold, threshold / kl_N.clamp(min=1e-30), 1.0)


def _scaled(rows_NV: Tensor, kl_N: Tensor, clip: Clip) -> Signal:
    if not (clip.on and clip.kind == "token-scale"):
        return Signal(rows_NV, kl_N, kl_N, torch.zeros_like(kl_N, dtype=torch.bool))
    factor_N = scale(kl_N, clip.threshold)
    return Signal(rows_NV * factor_N[:, None], kl_N * factor_N, kl_N, factor_N < 1)


def _clamped(rows_NV: Tensor, entries_NV: Tensor, lost_NV: Tensor, kl_N: Tensor, threshold: float) -> Signal:
    """Rows in which entries over the threshold keep only the shift that the others carry."""
    over_NV = entries_NV > threshold
    capped_N = entries_NV.clamp(max=threshold).sum(-1)
    return Signal(torch.where(over_NV, lost_NV, rows_NV), capped_N, kl_N, over_NV.any(-1))
