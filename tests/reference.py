"""Slow, obvious oracles in float64, written from the definitions; they share no code with the engine.

A token site is (rollout r, position j): the prefix is the prompt with the answer's first j tokens, the token is the
answer's j-th. Each is looked at by itself: one sequence, no padding, one backward pass a token.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sim.batch import Batch
from sim.language import EOS_ID, Problem
from sim.policy import Params, Transformer

# Bits must not depend on how many threads the machine lends.
torch.set_num_threads(1)

PROBLEM = Problem(2, "+", 3, "*", 4)
TINY = Transformer(layers=2, width=16, heads=2, context=16, vocabulary=11)


@cache
def golden() -> dict[str, Any]:
    """Small exact cases whose numbers were worked out elsewhere."""
    return json.loads((Path(__file__).parent / "data" / "golden.json").read_text("utf-8"))


def random_params(model: Transformer, seed: int = 0, dtype: torch.dtype = torch.float64) -> dict[str, Tensor]:
    """Random parameters in which no gain is 1 and no bias 0."""
    rng = torch.Generator().manual_seed(seed)
    return {
        name: (value.double() + 0.3 * torch.randn(value.shape, generator=rng, dtype=torch.float64)).to(dtype)
        for name, value in model.initial(rng).items()
    }


def random_direction(params: Params, seed: int) -> dict[str, Tensor]:
    """A parameter vector of normal numbers."""
    rng = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(value.shape, generator=rng, dtype=torch.float64).to(value) for name, value in params.items()
    }


def make_batch(prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[int]], group_size: int = 2) -> Batch:
    """A batch of given token ids."""
    rows = len(answers)
    return Batch(
        problems=(PROBLEM,) * rows,
        prompts=tuple(map(tuple, prompts)),
        answers=tuple(map(tuple, answers)),
        group_B=np.arange(rows) // group_size,
        on_policy_B=np.ones(rows, bool),
        reward_B=np.arange(rows) % 2.0,
        kept_B=np.ones(rows, bool),
        labelled_B=np.zeros(rows, bool),
    )


def data_batch(batch: Batch) -> Batch:
    """The same sequences as somebody else's words: each token is a label."""
    return replace(batch, on_policy_B=np.zeros(len(batch.answers), bool), labelled_B=np.ones(len(batch.answers), bool))


def accepted_batch(batch: Batch) -> Batch:
    """The same sequences after rejection sampling: those of reward 1 are kept and are labels, the others dropped."""
    return replace(batch, kept_B=batch.reward_B == 1, labelled_B=batch.reward_B == 1)


def random_batch(model: Transformer = TINY, seed: int = 0) -> Batch:
    """Four rollouts of unequal lengths; words repeat within a rollout."""
    rng = np.random.default_rng(seed)
    shapes = [(3, 5), (4, 1), (2, 7), (5, 4)]
    return make_batch(
        [rng.integers(1, model.vocabulary, prompt).tolist() for prompt, _ in shapes],
        [rng.integers(1, model.vocabulary, answer).tolist() for _, answer in shapes],
    )


def random_rows(batch: Batch, vocabulary: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """Any weights, one a site and word."""
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(len(batch.token_N), vocabulary, generator=rng, dtype=torch.float64).to(dtype)


def double(params: Params) -> dict[str, Tensor]:
    """The same numbers in float64."""
    return {name: value.detach().double() for name, value in params.items()}


def flat(vector: Params) -> Tensor:
    """A parameter vector as one row, in float64."""
    return torch.cat([vector[name].detach().double().flatten() for name in sorted(vector)])


def prefixes(batch: Batch) -> Iterator[tuple[int, list[int], int]]:
    """Rollout, prefix and token of each site."""
    for r, (prompt, answer) in enumerate(zip(batch.prompts, batch.answers, strict=True)):
        for j, token in enumerate(answer):
            yield r, [*prompt, *answer[:j]], token


def next_word(model: Transformer, params: Params, prefix: Sequence[int], temperature: float = 1.0) -> Tensor:
    """log pi(v | prefix) = log softmax(logits / temperature), [V]."""
    logits_V = model.logits(params, torch.tensor([list(prefix)]))[0, -1]
    return (logits_V / temperature).log_softmax(-1)


def log_probs(model: Transformer, params: Params, batch: Batch, temperature: float = 1.0) -> Tensor:
    """log pi_NV in float64, a forward pass a token."""
    params = double(params)
    return torch.stack([next_word(model, params, prefix, temperature) for _, prefix, _ in prefixes(batch)])


def site_gradients(
    model: Transformer,
    params: Params,
    batch: Batch,
    rows_NV: Tensor,
    temperature: float = 1.0,
    only: Sequence[int] | None = None,
) -> Tensor:
    """g_n = grad sum_v w_n[v] log pi(v | s_n), [N, P]: a backward pass a token; of `only` some sites where given."""
    leaves = {name: value.requires_grad_() for name, value in double(params).items()}
    found = []
    for n, (_, prefix, _) in enumerate(prefixes(batch)):
        if only is not None and n not in only:
            continue
        objective = (rows_NV[n].double() * next_word(model, leaves, prefix, temperature)).sum()
        found.append(flat(dict(zip(leaves, torch.autograd.grad(objective, list(leaves.values())), strict=True))))
    return torch.stack(found)


def jacobian(model: Transformer, params: Params, batch: Batch, temperature: float = 1.0) -> Tensor:
    """grad log pi(v | s_n) of every site and word, [N, V, P]: a backward pass each."""
    V = model.vocabulary
    one = torch.eye(V, dtype=torch.float64)
    count = len(list(prefixes(batch)))
    by_word = [site_gradients(model, params, batch, one[v].expand(count, V), temperature) for v in range(V)]
    return torch.stack(by_word, 1)


#: Tokens that an answer may have, by the world's rules.
LONGEST_ANSWER = 36


def mean_gradient(
    gradients_NP: Tensor, lengths: Sequence[int], aggregation: str, kept: Sequence[bool] | None = None
) -> Tensor:
    """G of per-token gradients, in the three ways, by loops over rollouts; of the `kept` ones where given."""
    parts = list(gradients_NP.split(list(lengths)))
    if kept is not None:
        parts = [part for part, stays in zip(parts, kept, strict=True) if stays]
    if not parts:
        return torch.zeros_like(gradients_NP[0])
    if aggregation == "token":
        return torch.cat(parts).mean(0)
    if aggregation == "sequence":
        return torch.stack([part.mean(0) for part in parts]).mean(0)
    return torch.stack([part.sum(0) for part in parts]).sum(0) / (len(parts) * LONGEST_ANSWER)


def shares(summands_NP: Tensor) -> Tensor:
    """<s_n, G> / |G|^2 of the summands of G = sum_n s_n."""
    total_P = summands_NP.sum(0)
    return summands_NP @ total_P / (total_P @ total_P)


def fisher(jacobian_NVP: Tensor, log_p_NV: Tensor, directions_KP: Tensor) -> Tensor:
    """u'Fv = mean_n Cov_{v ~ pi(. | s_n)}(D_u, D_v), site by site and pair by pair, [K, K]."""
    K = len(directions_KP)
    result = torch.zeros(K, K, dtype=torch.float64)
    for J_VP, log_p_V in zip(jacobian_NVP, log_p_NV, strict=True):
        p_V = log_p_V.exp()
        for k in range(K):
            for m in range(K):
                a_V, b_V = J_VP @ directions_KP[k], J_VP @ directions_KP[m]
                result[k, m] += (p_V * a_V * b_V).sum() - (p_V * a_V).sum() * (p_V * b_V).sum()
    return result / len(log_p_NV)


def kl(log_p_V: Sequence[float], log_q_V: Sequence[float]) -> float:
    """KL(p || q) = sum_v p (log p - log q), with 0 log 0 = 0."""
    return math.fsum(math.exp(a) * (a - b) for a, b in zip(log_p_V, log_q_V, strict=True) if a > -math.inf)


def jsd(log_p_V: Sequence[float], log_q_V: Sequence[float], beta: float) -> float:
    """beta KL(q || m) + (1 - beta) KL(p || m), with m = beta q + (1 - beta) p."""
    pairs = zip(log_p_V, log_q_V, strict=True)
    log_m_V = [math.log(beta * math.exp(q) + (1 - beta) * math.exp(p)) for p, q in pairs]
    return beta * kl(log_q_V, log_m_V) + (1 - beta) * kl(log_p_V, log_m_V)


def kl_of_step(model: Transformer, params: Params, step: Params, batch: Batch, temperature: float = 1.0) -> float:
    """Mean KL(before || after) a site, in nats."""
    before_NV = log_probs(model, params, batch, temperature)
    moved = {name: value.double() + step[name].double() for name, value in params.items()}
    after_NV = log_probs(model, moved, batch, temperature)
    return float(np.mean([kl(a, b) for a, b in zip(before_NV.tolist(), after_NV.tolist(), strict=True)]))


def sample(
    model: Transformer, params: Params, prompt: Sequence[int], u_S: Sequence[float], temperature: float
) -> list[int]:
    """One answer: the whole forward pass again for each token, drawn by walking along the probabilities."""
    params, answer = double(params), list[int]()
    for u in u_S:
        left = float(u)
        p_V = next_word(model, params, [*prompt, *answer], temperature).exp().tolist()
        word = 0
        while left >= p_V[word]:
            left -= p_V[word]
            word += 1
        answer.append(word)
        if word == EOS_ID:
            break
    return answer
