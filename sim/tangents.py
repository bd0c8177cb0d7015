"""Forward mode: derivatives of a policy's logits along K parameter directions, for a whole batch at once.

<g_n, u> = sum_v w_n[v] D_u[n, v] with D_u = d/d(eps) log pi_{theta + eps u}: K directions cost K tangents of
one forward pass, whatever the number of tokens, and no per-token gradient is stored.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import jvp, vmap

from sim.policy import Params, Policy, Transformer


def directional_logits(model: Policy, params: Params, tokens_BT: Tensor, directions: Params) -> tuple[Tensor, Tensor]:
    """Logits and their derivatives along K directions.

    Args:
        model: the policy; a Transformer takes the analytic route, any other the general one.
        params: its parameters.
        tokens_BT: token ids.
        directions: for each parameter its K tangents, stacked in front [K, ...].

    Returns:
        logits_BTV and tangents_KBTV.
    """
    with torch.no_grad():
        if isinstance(model, Transformer):
            return analytic(model, params, tokens_BT, directions)
        return general(model, params, tokens_BT, directions)


def general(model: Policy, params: Params, tokens_BT: Tensor, directions: Params) -> tuple[Tensor, Tensor]:
    """The same for any model whose logits torch can differentiate forward, by vmap over jvp."""
    names = list(params)

    def logits(values: tuple[Tensor, ...]) -> Tensor:
        return model.logits(dict(zip(names, values, strict=True)), tokens_BT)

    values = tuple(params[name] for name in names)
    tangents_KBTV = vmap(lambda tangent: jvp(logits, (values,), (tangent,))[1])(
        tuple(directions[name] for name in names)
    )
    return logits(values), tangents_KBTV


def analytic(model: Transformer, params: Params, tokens_BT: Tensor, directions: Params) -> tuple[Tensor, Tensor]:
    """The same for the transformer, layer by layer: a value [B, T, d] beside its tangents [K, B, T, d].

    Linear: y' = x' W^T + x V^T + b'. LayerNorm: xhat' = (x'c - xhat mean(xhat x'c)) / sigma with x'c centred.
    Attention: S' = Q'K^T + QK'^T, A' = A (S' - rowsum(A S')).
    """
    (B, T), d, h = tokens_BT.shape, model.width, model.heads
    model.check_length(T)
    K = next(iter(directions.values())).shape[0]
    scale = 1 / math.sqrt(d // h)
    mask_TT = torch.ones(T, T, dtype=torch.bool).triu(1)

    def linear(name: str, x: Tensor, dx: Tensor) -> tuple[Tensor, Tensor]:
        W, dW = params[f"{name}.weight"], directions[f"{name}.weight"]
        bias, dbias = params.get(f"{name}.bias"), directions.get(f"{name}.bias")
        dy = F.linear(dx, W)
        dy += torch.matmul(x.reshape(1, B * T, -1), dW.transpose(1, 2)).view(K, B, T, -1)
        if dbias is not None:
            dy += dbias[:, None, None]
        return F.linear(x, W, bias), dy

    def norm(name: str, x: Tensor, dx: Tensor) -> tuple[Tensor, Tensor]:
        gain, dgain = params[f"{name}.weight"], directions[f"{name}.weight"]
        variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
        inverse_sigma = torch.rsqrt(variance + 1e-5)
        xhat = (x - mean) * inverse_sigma
        dxhat = dx - dx.mean(-1, keepdim=True)
        dxhat -= xhat * (xhat * dxhat).mean(-1, keepdim=True)
        dy = dxhat * (inverse_sigma * gain)
        dy += xhat * dgain[:, None, None] + directions[f"{name}.bias"][:, None, None]
        return xhat * gain + params[f"{name}.bias"], dy

    def heads(part: Tensor) -> Tensor:
        return part.unflatten(-1, (h, d // h)).transpose(-3, -2)

    x = F.embedding(tokens_BT, params["embed.tokens"]) + params["embed.positions"][:T]
    dx = directions["embed.tokens"][:, tokens_BT] + directions["embed.positions"][:, None, :T]
    for i in range(model.layers):
        qkv, dqkv = linear(f"{i}.attention.qkv", *norm(f"{i}.attention.norm", x, dx))
        q, k, v = (heads(part) for part in qkv.split(d, -1))
        dq, dk, dv = (heads(part) for part in dqkv.split(d, -1))
        A = (q @ k.transpose(-1, -2) * scale).masked_fill(mask_TT, -torch.inf).softmax(-1)
        dS = (dq @ k.transpose(-1, -2) + q @ dk.transpose(-1, -2)) * scale
        dA = A * dS
        dA -= A * dA.sum(-1, keepdim=True)
        mixed, dmixed = A @ v, dA @ v + A @ dv
        y, dy = linear(f"{i}.attention.out", mixed.transpose(-3, -2).flatten(-2), dmixed.transpose(-3, -2).flatten(-2))
        x, dx = x + y, dx + dy
        up, dup = linear(f"{i}.mlp.up", *norm(f"{i}.mlp.norm", x, dx))
        normal = torch.special.ndtr(up)
        slope = normal + up * torch.exp(-0.5 * up * up) * (1 / math.sqrt(2 * math.pi))
        y, dy = linear(f"{i}.mlp.down", up * normal, dup * slope)
        x, dx = x + y, dx + dy
    return linear("head", *norm("norm", x, dx))
