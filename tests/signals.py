"""The terms of a signal by name, and any log-probabilities to try them on."""

from collections.abc import Callable

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

from sim.config import Clip
from sim.signals import Signal, forward, jsd, label, reverse, sampled_reverse
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
#: Divergences, advantages and clips of two distributions, worked out exactly.
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
