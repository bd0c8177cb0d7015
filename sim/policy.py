"""The language model: a small pre-LN transformer, as a pure function of a parameter dict."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from sim.errors import InvalidInput
from sim.language import VOCABULARY

Params = Mapping[str, Tensor]
EMBEDDING_STD = 0.4


@dataclass(frozen=True)
class Tap:
    """Where a parameter enters the computation: its layer's input and output.

    `kind` is ``linear``, ``norm`` (`inputs` is then the normalised activation), ``tokens`` (`inputs`
    the token ids) or ``positions``; `output` is [B, T, d]; `biased` says whether a linear layer has a bias.
    """

    kind: str
    inputs: Tensor
    output: Tensor
    biased: bool = True


class Policy(Protocol):
    """What the engine needs of a model: logits, the parameters' places, and a decoder, from a parameter dict."""

    @property
    def context(self) -> int:
        """The longest sequence, in tokens."""
        ...

    @property
    def vocabulary(self) -> int:
        """The number of words."""
        ...

    def logits(self, params: Params, tokens_BT: Tensor, taps: list[Tap] | None = None) -> Tensor:
        """Next-token logits [B, T, V]; `taps`, where given, is filled with the parameters' places."""
        ...

    def decoder(self, params: Params, rows: int) -> "Decoder":
        """A sampler's view: append tokens to `rows` sequences and read the last logits."""
        ...


@dataclass(frozen=True)
class Transformer:
    """Pre-LN transformer with learned positions, biased linear layers, GELU and an untied head.

    Attention is written out, since the fused kernels have no forward-mode derivative.
    """

    layers: int = 3
    width: int = 64
    heads: int = 4
    context: int = 80
    vocabulary: int = len(VOCABULARY)

    def initial(self, generator: torch.Generator) -> dict[str, Tensor]:
        """Random parameters, float32.

        Embeddings start at unit size: small ones would be blown up by the first LayerNorm, and with them the
        effect of every step on the policy.
        """
        d = self.width
        scale, residual = 1 / math.sqrt(3 * d), 1 / math.sqrt(6 * d * self.layers)

        def normal(rows: int, columns: int, std: float) -> Tensor:
            return torch.randn(rows, columns, generator=generator) * std

        params = {
            "embed.tokens": normal(self.vocabulary, d, EMBEDDING_STD),
            "embed.positions": normal(self.context, d, EMBEDDING_STD),
        }
        for i in range(self.layers):
            params |= {
                f"{i}.attention.norm.weight": torch.ones(d),
                f"{i}.attention.norm.bias": torch.zeros(d),
                f"{i}.attention.qkv.weight": normal(3 * d, d, scale),
                f"{i}.attention.qkv.bias": torch.zeros(3 * d),
                f"{i}.attention.out.weight": normal(d, d, residual),
                f"{i}.attention.out.bias": torch.zeros(d),
                f"{i}.mlp.norm.weight": torch.ones(d),
                f"{i}.mlp.norm.bias": torch.zeros(d),
                f"{i}.mlp.up.weight": normal(4 * d, d, scale),
                f"{i}.mlp.up.bias": torch.zeros(4 * d),
                f"{i}.mlp.down.weight": normal(d, 4 * d, residual),
                f"{i}.mlp.down.bias": torch.zeros(d),
            }
        params |= {
            "norm.weight": torch.ones(d),
            "norm.bias": torch.zeros(d),
            "head.weight": normal(self.vocabulary, d, scale),
        }
        return params

    def logits(self, params: Params, tokens_BT: Tensor, taps: list[Tap] | None = None) -> Tensor:
        """Next-token logits.

        Args:
            params: the parameter dict that `initial` lays out.
            tokens_BT: token ids, padded on the right.
            taps: filled with every parameter's place, in order, where given.

        Returns:
            logits_BTV, where position t predicts token t + 1.

        Raises:
            InvalidInput: if a row is longer than the model's context.
        """
        B, T = tokens_BT.shape
        self.check_length(T)
        d, h = self.width, self.heads
        mask_TT = torch.ones(T, T, dtype=torch.bool, device=tokens_BT.device).triu(1)

        def tap(kind: str, inputs: Tensor, output: Tensor, biased: bool = True) -> Tensor:
            if taps is not None:
                taps.append(Tap(kind, inputs, output, biased))
            return output

        def linear(name: str, x: Tensor) -> Tensor:
            bias = params.get(f"{name}.bias")
            return tap("linear", x, F.linear(x, params[f"{name}.weight"], bias), bias is not None)

        def norm(name: str, x: Tensor) -> Tensor:
            if taps is None:
                return F.layer_norm(x, (d,), params[f"{name}.weight"], params[f"{name}.bias"])
            xhat = F.layer_norm(x, (d,))
            return tap("norm", xhat, xhat * params[f"{name}.weight"] + params[f"{name}.bias"])

        x = tap("tokens", tokens_BT, F.embedding(tokens_BT, params["embed.tokens"]))
        x = x + tap("positions", tokens_BT, params["embed.positions"][:T].expand(B, T, d))
        for i in range(self.layers):
            qkv = linear(f"{i}.attention.qkv", norm(f"{i}.attention.norm", x))
            q, k, v = (part.view(B, T, h, d // h).transpose(1, 2) for part in qkv.split(d, -1))
            scores = (q @ k.transpose(-1, -2) / math.sqrt(d // h)).masked_fill(mask_TT, -torch.inf)
            mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d)
            x = x + linear(f"{i}.attention.out", mixed)
            up = linear(f"{i}.mlp.up", norm(f"{i}.mlp.norm", x))
            x = x + linear(f"{i}.mlp.down", F.gelu(up))
        return linear("head", norm("norm", x))

    def decoder(self, params: Params, rows: int) -> "Decoder":
        """An empty cache of keys and values for `rows` sequences."""
        return Decoder(self, params, rows)

    def check_length(self, length: int) -> None:
        """Refuse, rather than cut, what does not fit the context."""
        if length > self.context:
            raise InvalidInput(
                [
                    f"a sequence of {length} tokens does not fit the model's context of {self.context}: "
                    "shorten the teacher's context or the rollouts"
                ]
            )


class Decoder:
    """Appends tokens to a batch of sequences, with cached keys and values."""

    def __init__(self, model: Transformer, params: Params, rows: int) -> None:
        self.model, self.params, self.length = model, params, 0
        shape = (model.layers, 2, rows, model.heads, model.context, model.width // model.heads)
        self.cache = torch.empty(shape, dtype=params["embed.tokens"].dtype)

    def append(self, tokens_BS: Tensor) -> Tensor:
        """Logits [B, V] after the S tokens that are appended to every row."""
        model, p = self.model, self.params
        (B, S), d, h = tokens_BS.shape, model.width, model.heads
        start, end = self.length, self.length + S
        model.check_length(end)
        mask_SE = torch.ones(S, end, dtype=torch.bool).triu(1 + start)
        x = F.embedding(tokens_BS, p["embed.tokens"]) + p["embed.positions"][start:end]
        for i in range(model.layers):
            y = F.layer_norm(x, (d,), p[f"{i}.attention.norm.weight"], p[f"{i}.attention.norm.bias"])
            qkv = F.linear(y, p[f"{i}.attention.qkv.weight"], p[f"{i}.attention.qkv.bias"])
            q, k, v = (part.view(B, S, h, d // h).transpose(1, 2) for part in qkv.split(d, -1))
            self.cache[i, 0, :, :, start:end], self.cache[i, 1, :, :, start:end] = k, v
            keys, values = self.cache[i, :, :, :, :end]
            scores = (q @ keys.transpose(-1, -2) / math.sqrt(d // h)).masked_fill(mask_SE, -torch.inf)
            mixed = (scores.softmax(-1) @ values).transpose(1, 2).reshape(B, S, d)
            x = x + F.linear(mixed, p[f"{i}.attention.out.weight"], p[f"{i}.attention.out.bias"])
            y = F.layer_norm(x, (d,), p[f"{i}.mlp.norm.weight"], p[f"{i}.mlp.norm.bias"])
            up = F.linear(y, p[f"{i}.mlp.up.weight"], p[f"{i}.mlp.up.bias"])
            x = x + F.linear(F.gelu(up), p[f"{i}.mlp.down.weight"], p[f"{i}.mlp.down.bias"])
        self.length = end
        last = F.layer_norm(x[:, -1], (d,), p["norm.weight"], p["norm.bias"])
        return F.linear(last, p["head.weight"])
