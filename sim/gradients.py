"""The linearised student: its log-probabilities at a batch's sites, their pull-back and their push-forward."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from sim.batch import Batch
from sim.policy import Params, Policy, Tap
from sim.tangents import directional_logits

Gradient = dict[str, Tensor]


class Linearisation:
    """log pi_theta(v | s_n) at the N sites of a batch, with its derivative in theta, at a temperature.

    The policy is the one that samples: softmax(logits / temperature). The forward pass is done once; weights may
    change as often as one likes.
    """

    def __init__(self, model: Policy, params: Params, batch: Batch, temperature: float = 1.0) -> None:
        self.model, self.batch, self.temperature = model, batch, temperature
        self.params = {name: value.detach().requires_grad_() for name, value in params.items()}
        self.taps: list[Tap] = []
        self.logits_BTV = model.logits(self.params, batch.tokens_BT[:, :-1], self.taps)
        self._live_NV = (batch.gather(self.logits_BTV) / temperature).log_softmax(-1)
        self.log_p_NV = self._live_NV.detach()
        self.p_NV = self.log_p_NV.exp()

    def pull(self, rows_NV: Tensor, weights_N: Tensor | None = None) -> Gradient:
        """sum_n a_n sum_v w_n[v] grad_theta log pi(v | s_n), with a_n = `weights_N` (1 where not given)."""
        if weights_N is not None:
            rows_NV = rows_NV * weights_N[:, None]
        grads = torch.autograd.grad(self._live_NV, list(self.params.values()), rows_NV, retain_graph=True)
        return dict(zip(self.params, grads, strict=True))

    def push(self, directions: Params) -> Tensor:
        """D_KNV = d/d(eps) log pi_{theta + eps u}(v | s_n) for K stacked directions u.

        D = z' - sum_v pi z', of the logits' tangents z' over the temperature; sum_v pi D = 0.
        """
        params = {name: value.detach() for name, value in self.params.items()}
        _, tangents_KBTV = directional_logits(self.model, params, self.batch.tokens_BT[:, :-1], directions)
        rows, columns = torch.from_numpy(self.batch.sequence_N), torch.from_numpy(self.batch.column_N)
        z_KNV = tangents_KBTV[:, rows, columns] / self.temperature
        return z_KNV - (self.p_NV * z_KNV).sum(-1, keepdim=True)

    @torch.no_grad()
    def after(self, step: Params) -> Tensor:
        """log pi_NV at the same sites once a step has been taken."""
        moved = {name: value + step[name] for name, value in self.params.items()}
        logits_BTV = self.model.logits(moved, self.batch.tokens_BT[:, :-1])
        return (self.batch.gather(logits_BTV) / self.temperature).log_softmax(-1)

    def logit_cotangent(self, rows_NV: Tensor) -> Tensor:
        """d/d(logits) of sum_v w[v] log pi(v) at each site: (w - pi sum_v w) / temperature, [N, V]."""
        return (rows_NV - self.p_NV * rows_NV.sum(-1, keepdim=True)) / self.temperature


def coordinates(D_KNV: Tensor, rows_NV: Tensor) -> Tensor:
    """<g_n, u_k> = sum_v w_n[v] D_k[n, v], as float64 [N, K]."""
    return torch.einsum("knv,nv->nk", D_KNV.double(), rows_NV.double())


def fisher(D_KNV: Tensor, p_NV: Tensor) -> Tensor:
    """u'Fv = E_n Cov_{v ~ pi}(D_u, D_v), as float64 [K, K]: the Fisher matrix of the policy on the K directions."""
    D_KNV, p_NV = D_KNV.double(), p_NV.double()
    centred_KNV = D_KNV - (p_NV * D_KNV).sum(-1, keepdim=True)
    return torch.einsum("knv,nv,lnv->kl", centred_KNV, p_NV, centred_KNV) / p_NV.shape[0]


def dot(a: Params, b: Params) -> float:
    """<a, b> over all parameters, accumulated in float64."""
    return float(sum(torch.dot(a[name].flatten().double(), b[name].flatten().double()) for name in a))


def norm(a: Params) -> float:
    """Euclidean length over all parameters."""
    return dot(a, a) ** 0.5


def scaled(a: Params, factor: float) -> Gradient:
    """factor * a."""
    return {name: value * factor for name, value in a.items()}


def stack(vectors: list[Mapping[str, Any]]) -> Gradient:
    """K parameter vectors as one dict of tensors [K, ...]."""
    return {name: torch.stack([vector[name] for vector in vectors]) for name in vectors[0]}
