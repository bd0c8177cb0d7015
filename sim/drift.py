"""Drift: how far apart two policies' states are, a state being a prompt with the answer so far.

A policy's state distribution is d(s) = E_rollout (1 / T) sum_t 1{s_t = s}, s_t = (x, y_<t), so a rollout's T states
share one weight. A state's features are the counts of its words and of its adjacent word pairs, begin mark and prompt
included, divided by their Euclidean length. Both policies answer the same prompts with the same random numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sim.errors import InvalidInput
from sim.language import BOS, draw_problem, encode
from sim.policy import Params, Policy
from sim.rng import generator
from sim.rollout import sample

Floats = NDArray[np.float64]
Tokens = tuple[int, ...]

PROMPTS = 96
#: States a side; prompts beyond are left out as a whole.
MAX_STATES = 1_500
PERMUTATIONS = 999
DIRECTIONS = 64


@dataclass(frozen=True)
class Rollouts:
    """One answer to each of P prompts, as token ids; its states are the prompt with each proper start of the answer."""

    prompts: tuple[Tokens, ...]
    answers: tuple[Tokens, ...]

    def states(self, index: int) -> list[Tokens]:
        """The states of one rollout, one for each token that was written."""
        prompt, answer = self.prompts[index], self.answers[index]
        return [prompt + answer[:t] for t in range(len(answer))]

    def first(self, count: int) -> "Rollouts":
        """The first few prompts."""
        return Rollouts(self.prompts[:count], self.answers[:count])


@dataclass(frozen=True)
class Drift:
    """How far a policy's states are from the reference's; numbers without a unit, 0 where the rollouts are the same.

    `mmd2` is the unbiased squared maximum mean discrepancy of an RBF kernel of `bandwidth`; `mmd_p` the p value of
    swapping the policies' rollouts of a prompt, `null_95` the 95th percentile of mmd2 under these swaps.
    `sliced_wasserstein` is the mean Wasserstein-1 distance over random directions of the features that were seen,
    `centroid` the Euclidean distance of the mean features, `jaccard` the Jaccard distance of the sets of adjacent
    word pairs whose second word the policy wrote. `states` counts both sides, `prompts` those that were compared.
    """

    mmd2: float
    mmd_p: float
    null_95: float
    bandwidth: float
    sliced_wasserstein: float
    centroid: float
    jaccard: float
    states: int
    prompts: int


def rollouts_of(model: Policy, params: Params, prompts: int, seed: int, draw: int = 0) -> Rollouts:
    """One sampled answer to each of the seed's first prompts, at temperature 1.

    Every policy gets the same prompts and random numbers; another `draw` has other random numbers for the same prompts.
    """
    rng = generator(seed, "drift prompts")
    asked = [encode([BOS, *draw_problem(rng).words]) for _ in range(prompts)]
    answers = sample(model, params, asked, generator(seed, "drift rollouts", draw=draw))
    return Rollouts(tuple(map(tuple, asked)), tuple(map(tuple, answers)))


def drift(model: Policy, params: Params, reference: Params, rollouts: int = PROMPTS, seed: int = 0) -> Drift:
    """The drift of a policy's states from a reference's, of the same model, on the seed's prompts.

    Raises:
        InvalidInput: with fewer than two rollouts.
    """
    return compare(rollouts_of(model, reference, rollouts, seed), rollouts_of(model, params, rollouts, seed), seed)


def compare(reference: Rollouts, policy: Rollouts, seed: int = 0) -> Drift:
    """The drift between two sets of rollouts on the same prompts, of which at most MAX_STATES states a side are used.

    Raises:
        InvalidInput: if the prompts differ, or are fewer than two.
    """
    if reference.prompts != policy.prompts:
        raise InvalidInput(["rollouts: got two sets of prompts, allowed is one; let both policies answer the same"])
    if len(policy.prompts) < 2:
        raise InvalidInput(
            [f"rollouts: got {len(policy.prompts)}, allowed 2 or more, as prompts are compared in pairs"]
        )
    reference, policy = _bounded(reference, policy)
    P = len(policy.prompts)
    rows = [side.states(p) for side in (reference, policy) for p in range(P)]
    weight_S = np.concatenate([np.full(len(row), 1 / len(row)) for row in rows])
    rollout_S = np.repeat(np.arange(2 * P), [len(row) for row in rows])
    features_SF = features([state for row in rows for state in row])
    squared_SS = squared_distances(features_SF)
    bandwidth = median_distance(squared_SS)
    mean_RR = _rollout_means(np.exp(-squared_SS / (2 * bandwidth**2)), weight_S, rollout_S)
    H_PP = mean_RR[:P, :P] + mean_RR[P:, P:] - mean_RR[:P, P:] - mean_RR[P:, :P]
    # Rounding must not tell apart what is the same.
    same_P = np.array([a == b for a, b in zip(reference.answers, policy.answers, strict=True)])
    H_PP[same_P] = H_PP[:, same_P] = 0
    p, null_95 = swap_test(H_PP, generator(seed, "drift swaps"))
    ours_S = rollout_S >= P
    theirs_SF, our_SF = features_SF[~ours_S], features_SF[ours_S]
    directions_FD = generator(seed, "drift directions").normal(size=(features_SF.shape[1], DIRECTIONS))
    directions_FD /= np.linalg.norm(directions_FD, axis=0)
    weights = weight_S[~ours_S] / P, weight_S[ours_S] / P
    sliced_D = wasserstein(theirs_SF @ directions_FD, our_SF @ directions_FD, *weights)
    centroid = float(np.linalg.norm(weights[0] @ theirs_SF - weights[1] @ our_SF))
    return Drift(
        mmd2=unbiased(H_PP),
        mmd_p=p,
        null_95=null_95,
        bandwidth=bandwidth,
        sliced_wasserstein=0.0 if same_P.all() else float(sliced_D.mean()),
        centroid=0.0 if same_P.all() else centroid,
        jaccard=jaccard_distance(written_pairs(reference), written_pairs(policy)),
        states=len(rollout_S),
        prompts=P,
    )


def features(states: Sequence[Tokens]) -> Floats:
    """Unit-length counts [S, F] of the words and of the adjacent word pairs of each state, for those seen in any."""
    column: dict[Tokens, int] = {}
    rows, columns = [], []
    for row, state in enumerate(states):
        for term in [*zip(state, strict=True), *pairwise(state)]:
            rows.append(row)
            columns.append(column.setdefault(term, len(column)))
    counts_SF = np.zeros((len(states), len(column)))
    np.add.at(counts_SF, (rows, columns), 1)
    return np.asarray(counts_SF / np.linalg.norm(counts_SF, axis=1, keepdims=True))


def squared_distances(features_SF: Floats) -> Floats:
    """|x - y|^2 = 2 - 2 <x, y> of unit vectors, [S, S]."""
    squared_SS = np.maximum(2 - 2 * (features_SF @ features_SF.T), 0)
    np.fill_diagonal(squared_SS, 0)
    # What is left of rounding between equal states would count as a distance.
    squared_SS[squared_SS < 1e-12] = 0
    return np.asarray(squared_SS)


def median_distance(squared_SS: Floats) -> float:
    """The median heuristic's bandwidth: the median distance of two pooled states that differ; 1 where none do."""
    squared = squared_SS[np.triu_indices(len(squared_SS), 1)]
    squared = squared[squared > 0]
    return float(np.sqrt(np.median(squared))) if len(squared) else 1.0


def unbiased(H_PP: Floats) -> float:
    """The unbiased MMD^2 = sum_{p != q} h(p, q) / (P (P - 1)), h = k(x, x') + k(y, y') - k(x, y') - k(y, x').

    States of two different prompts are independent, those of one prompt are not: such pairs are left out. Below 0 now
    and then, as an unbiased estimate of a number near 0 has to be. Source: Gretton et al. 2012, Lemma 6.
    """
    P = len(H_PP)
    return float((H_PP.sum() - np.trace(H_PP)) / (P * (P - 1)))


def swap_test(H_PP: Floats, rng: np.random.Generator, permutations: int = PERMUTATIONS) -> tuple[float, float]:
    """The p value (1 + count) / (1 + permutations) of MMD^2, and its 95th percentile, under swaps of whole rollouts.

    Were the policies the same, each prompt's two rollouts could be swapped. To swap those of prompt p changes the sign
    of h(p, q), so that MMD^2 becomes sum_{p != q} e_p e_q h(p, q) / (P (P - 1)) with e = +-1.
    """
    P = len(H_PP)
    apart_PP = H_PP - np.diag(np.diag(H_PP))
    signs_MP = rng.choice([-1.0, 1.0], size=(permutations, P))
    null_M = ((signs_MP @ apart_PP) * signs_MP).sum(-1) / (P * (P - 1))
    count = int((null_M >= unbiased(H_PP) - 1e-12).sum())
    return (1 + count) / (1 + permutations), float(np.quantile(null_M, 0.95))


def wasserstein(x_ND: Floats, y_MD: Floats, x_weight_N: Floats, y_weight_M: Floats) -> Floats:
    """Wasserstein-1 = integral |F - G| of two weighted samples on the line, for each of D lines; weights sum to 1."""
    values_SD = np.concatenate([x_ND, y_MD])
    order_SD = np.argsort(values_SD, axis=0, kind="stable")
    gaps_SD = np.diff(np.take_along_axis(values_SD, order_SD, 0), axis=0)
    signed_S = np.concatenate([x_weight_N, -y_weight_M])
    return np.asarray((np.abs(np.cumsum(signed_S[order_SD], 0)[:-1]) * gaps_SD).sum(0))


def written_pairs(rollouts: Rollouts) -> set[Tokens]:
    """The adjacent word pairs whose second word was written by the policy."""
    rows = [(prompt[-1], *answer) for prompt, answer in zip(rollouts.prompts, rollouts.answers, strict=True)]
    return {pair for row in rows for pair in pairwise(row)}


def jaccard_distance(one: set[Tokens], other: set[Tokens]) -> float:
    """1 - |A and B| / |A or B|; 0 for two empty sets."""
    return 1 - len(one & other) / len(one | other) if one | other else 0.0


def _bounded(reference: Rollouts, policy: Rollouts) -> tuple[Rollouts, Rollouts]:
    """The first prompts of both, at least two, as many as have at most MAX_STATES states on either side."""
    lengths_2P = np.array([[len(answer) for answer in side.answers] for side in (reference, policy)])
    count = max(2, int((np.cumsum(lengths_2P, 1).max(0) <= MAX_STATES).sum()))
    return reference.first(count), policy.first(count)


def _rollout_means(kernel_SS: Floats, weight_S: Floats, rollout_S: NDArray[np.int64]) -> Floats:
    """The mean kernel of the states of two rollouts, [2P, 2P]."""
    starts = np.flatnonzero(np.diff(rollout_S, prepend=-1))
    half_RS = np.add.reduceat(kernel_SS * weight_S[:, None], starts, 0)
    return np.asarray(np.add.reduceat(half_RS * weight_S, starts, 1))
