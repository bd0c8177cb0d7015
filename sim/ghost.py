"""Norms and inner products of many gradients without the gradients.

At a linear layer the gradient of one sequence is sum_s delta_s a_s^T over its positions s (delta: cotangent of
the layer's output, a: its input), so |sum_s delta_s a_s^T|^2 = sum_{s,s'} (delta_s . delta_s')(a_s . a_s'): two
small Gram matrices. Bias, LayerNorm and embeddings likewise. Only cotangents of activations are needed, from
the forward pass that is already there.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from sim.errors import Cancelled
from sim.gradients import Linearisation
from sim.policy import Tap


def site_norms(point: Linearisation, rows_NV: Tensor, cancel: Callable[[], bool] | None = None) -> Tensor:
    """|g_n| of every site, exact, float64 [N].

    One pass of activation cotangents a position, for all sequences at once: T passes and not N.

    Args:
        point: the linearised student.
        rows_NV: the weight rows.
        cancel: asked before each position.

    Raises:
        Cancelled: when `cancel` says so.
    """
    batch = point.batch
    cotangent_NV = point.logit_cotangent(rows_NV)
    sequence_N, column_N = torch.from_numpy(batch.sequence_N), torch.from_numpy(batch.column_N)
    grams = [_input_gram(tap) for tap in point.taps]
    squared_N = torch.zeros(len(column_N), dtype=torch.float64)
    for t in torch.unique(column_N).tolist():
        if cancel is not None and cancel():
            raise Cancelled("per-token norms: stopped")
        here_n = (column_N == t).nonzero()[:, 0]
        rows_b = sequence_N[here_n]
        cotangent_BTV = torch.zeros_like(point.logits_BTV)
        cotangent_BTV[rows_b, t] = cotangent_NV[here_n]
        deltas = _deltas(point, cotangent_BTV)
        total_b = torch.zeros(len(here_n), dtype=torch.float64)
        for tap, gram, delta in zip(point.taps, grams, deltas, strict=True):
            total_b += _squared(tap, gram, delta[:, : t + 1], t + 1)[rows_b]
        squared_N[here_n] = total_b
    return squared_N.clamp(min=0).sqrt()


def rollout_gram(point: Linearisation, rows_NV: Tensor, weights_N: Tensor) -> Tensor:
    """<g_r, g_s> of the rollouts' gradients g_r = sum_{n in r} a_n g_n, float64 [B, B]; its sum is |G|^2."""
    cotangent_BTV = torch.zeros_like(point.logits_BTV)
    rows, columns = torch.from_numpy(point.batch.sequence_N), torch.from_numpy(point.batch.column_N)
    cotangent_BTV[rows, columns] = point.logit_cotangent(rows_NV * weights_N[:, None])
    total_BB = torch.zeros(len(cotangent_BTV), len(cotangent_BTV), dtype=torch.float64)
    for tap, delta in zip(point.taps, _deltas(point, cotangent_BTV), strict=True):
        for gradient_BP in _gradients(tap, delta):
            total_BB += (gradient_BP @ gradient_BP.T).double()
    return total_BB


def _deltas(point: Linearisation, cotangent_BTV: Tensor) -> tuple[Tensor, ...]:
    outputs = [tap.output for tap in point.taps]
    return torch.autograd.grad(point.logits_BTV, outputs, cotangent_BTV, retain_graph=True)


def _input_gram(tap: Tap) -> Tensor:
    """The inner products of a layer's inputs within each sequence, [B, T, T] (LayerNorm: the inputs themselves)."""
    if tap.kind == "linear":
        gram = tap.inputs @ tap.inputs.transpose(1, 2)
        return (gram + 1 if tap.biased else gram).detach()
    if tap.kind == "tokens":
        return (tap.inputs[:, :, None] == tap.inputs[:, None]).to(tap.output.dtype)
    return tap.inputs.detach()


def _squared(tap: Tap, gram: Tensor, delta_BSd: Tensor, S: int) -> Tensor:
    """Each sequence's squared gradient norm at one layer, float64 [B]."""
    if tap.kind in ("linear", "tokens"):
        outer_BSS = delta_BSd @ delta_BSd.transpose(1, 2)
        return (outer_BSS * gram[:, :S, :S]).flatten(1).sum(-1, dtype=torch.float64)
    if tap.kind == "norm":
        gain_Bd, bias_Bd = (delta_BSd * gram[:, :S]).sum(1), delta_BSd.sum(1)
        return (gain_Bd.square() + bias_Bd.square()).sum(-1, dtype=torch.float64)
    return delta_BSd.square().flatten(1).sum(-1, dtype=torch.float64)


def _gradients(tap: Tap, delta_BTd: Tensor) -> list[Tensor]:
    """Each sequence's gradient at one layer, as flat rows [B, P]."""
    if tap.kind == "linear":
        weight_BP = torch.einsum("bto,bti->boi", delta_BTd, tap.inputs.detach()).flatten(1)
        return [weight_BP, delta_BTd.sum(1)] if tap.biased else [weight_BP]
    if tap.kind == "norm":
        return [(delta_BTd * tap.inputs.detach()).sum(1), delta_BTd.sum(1)]
    if tap.kind == "tokens":
        B, _, d = delta_BTd.shape
        rows_BVd = torch.zeros(B, int(tap.inputs.max()) + 1, d, dtype=delta_BTd.dtype)
        index_BTd = tap.inputs[..., None].expand_as(delta_BTd)
        return [rows_BVd.scatter_add_(1, index_BTd, delta_BTd).flatten(1)]
    return [delta_BTd.flatten(1)]
