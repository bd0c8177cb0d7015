"""Measures of a gradient cloud: density, bias, concentration, spread. Pure functions of arrays, in float64."""

import math

import numpy as np
from numpy.typing import NDArray

from sim.frame import Bias, Concentration, Density, Reading, Undetermined

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: A signal below this (nats, or reward) counts as negligible.
NEGLIGIBLE = 0.01


def within_share(signal_N: Floats, sequence_N: Integers) -> Reading:
    """The within-sequence share of the variance of the per-token signal.

    sum_n (s_n - mean of its sequence)^2 / sum_n (s_n - mean)^2: 0 for one reward a rollout, towards 1 for a
    per-token teacher.
    """
    total = float(((signal_N - signal_N.mean()) ** 2).sum())
    if total <= 1e-12 * max(1.0, float((signal_N**2).sum())):
        return Undetermined("every token has the same signal")
    counts = np.bincount(sequence_N)
    means = np.bincount(sequence_N, signal_N) / np.maximum(counts, 1)
    within = float(((signal_N - means[sequence_N]) ** 2).sum())
    return 0.0 if within <= 1e-12 * total else within / total


def density(signal_N: Floats, silent_N: NDArray[np.bool_], sequence_N: Integers, group_B: Integers) -> Density:
    """Density: the within-sequence share, the share of sites over 0.01, the share of groups with no weight at all."""
    group_N = group_B[sequence_N]
    groups = np.unique(group_N)
    silent = [bool(silent_N[group_N == group].all()) for group in groups]
    return Density(
        within_share(signal_N, sequence_N), float((np.abs(signal_N) > NEGLIGIBLE).mean()), float(np.mean(silent))
    )


def coherence(gram_BB: Floats, group_B: Integers) -> Reading:
    """c: the mean inner product of two rollouts' gradients over their mean squared length.

    Pairs are of different prompts, as rollouts of one prompt are not independent. Where each rollout has a
    prompt of its own this is (|sum g|^2 - sum |g|^2) / ((n - 1) sum |g|^2).
    """
    apart_BB = group_B[:, None] != group_B[None]
    if not apart_BB.any():
        return Undetermined("one prompt only: coherence compares rollouts of different prompts")
    squared = float(np.trace(gram_BB)) / len(gram_BB)
    if squared <= 0:
        return Undetermined("every gradient is zero")
    return float(gram_BB[apart_BB].mean()) / squared


def bias(gram_BB: Floats, group_B: Integers, reward_cosine: Reading) -> Bias:
    """Bias: coherence, its noise scale tr(Sigma) / |E g|^2 = (1 - c) / c in rollouts, and where the pull points."""
    c = coherence(gram_BB, group_B)
    scale: Reading
    if isinstance(c, Undetermined):
        scale = c
    elif c <= 0:
        scale = Undetermined("no common direction was found in this batch: its signal is below its noise")
    else:
        scale = (1 - c) / c
    return Bias(c, scale, reward_cosine)


def effective_share(norm_N: Floats) -> Reading:
    """(sum |g|)^2 / (n sum |g|^2): 1 where all tokens pull alike, 1 / n where one pulls alone."""
    squared = float((norm_N**2).sum())
    if squared == 0:
        return Undetermined("every gradient is zero")
    return float(norm_N.sum()) ** 2 / (len(norm_N) * squared)


def top_share(share_N: Floats, top: float = 0.01) -> Reading:
    """The signed share <a_n g_n, G> / |G|^2 of the update that its strongest 1 % of tokens (at least one) carry."""
    if not np.isfinite(share_N).all():
        return Undetermined("the update is zero, so no token has a share of it")
    count = max(1, math.ceil(top * len(share_N)))
    return float(np.sort(share_N)[-count:].sum())


def leave_out_angle(length_N: Floats, share_N: Floats, update_norm: float) -> Reading:
    """The angle in degrees by which G turns when its longest summand a_n g_n is left out.

    Args:
        length_N: |a_n g_n|.
        share_N: <a_n g_n, G> / |G|^2.
        update_norm: |G|.
    """
    if update_norm == 0 or not np.isfinite(share_N).all():
        return Undetermined("the update is zero, so it has no direction")
    n = int(np.argmax(length_N))
    G2, overlap = update_norm**2, share_N[n] * update_norm**2
    rest2 = G2 - 2 * overlap + length_N[n] ** 2
    if rest2 <= 1e-12 * G2:
        return Undetermined("one token is the whole update")
    return math.degrees(math.acos(float(np.clip((G2 - overlap) / math.sqrt(G2 * rest2), -1, 1))))


def concentration(norm_N: Floats, weight_N: Floats, share_N: Floats, update_norm: float) -> Concentration:
    """Concentration: effective share of tokens, share of the top 1 %, angle without the longest."""
    return Concentration(
        effective_share(norm_N), top_share(share_N), leave_out_angle(weight_N * norm_N, share_N, update_norm)
    )


def participation_ratio(gram_BB: Floats) -> Reading:
    """(tr C)^2 / tr(C^2) of C = E g g': how many directions the rollouts' gradients span, from their Gram matrix."""
    squared = float((gram_BB**2).sum())
    if squared == 0:
        return Undetermined("every gradient is zero")
    return float(np.trace(gram_BB)) ** 2 / squared
