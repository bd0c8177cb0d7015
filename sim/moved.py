"""Where a run moved the parameters: how many changed, how far, and along how many directions of each matrix."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from sim.frame import Reading, Undetermined
from sim.policy import Params

#: Relative changes: far above float32's rounding of 6e-8, a thousandth, a hundredth.
THRESHOLDS = (1e-5, 1e-3, 1e-2)
UNMOVED = Undetermined("the parameters did not change")


@dataclass(frozen=True)
class MatrixChange:
    """The change delta of one matrix theta: its norm, relative length |delta| / |theta| and effective rank.

    `rank_share` is the effective rank over the full one, the smaller side of the matrix.
    """

    name: str
    norm: float
    relative: Reading
    effective_rank: Reading
    rank_share: Reading


@dataclass(frozen=True)
class Moved:
    """Where parameters went.

    `changed` is the share of all parameters with |delta| > tau |theta|, by tau; `norm` |delta| and `relative`
    |delta| / |theta| over all of them; `matrices` has the change of each matrix; `effective_rank` and `rank_share` are
    means over the matrices that changed.
    """

    changed: dict[float, float]
    norm: float
    relative: Reading
    effective_rank: Reading
    rank_share: Reading
    matrices: tuple[MatrixChange, ...]


def moved(start: Params, now: Params, thresholds: Sequence[float] = THRESHOLDS) -> Moved:
    """Compare parameters with those at the start, in float64; vectors count among the shares, and have no rank."""
    before = torch.cat([value.detach().double().flatten() for value in start.values()])
    delta = torch.cat([now[name].detach().double().flatten() for name in start]) - before
    matrices = tuple(
        _matrix(name, value.detach().double(), now[name].detach().double() - value.detach().double())
        for name, value in start.items()
        if value.ndim == 2
    )
    return Moved(
        changed={tau: float((delta.abs() > tau * before.abs()).double().mean()) for tau in thresholds},
        norm=float(delta.norm()),
        relative=_ratio(float(delta.norm()), float(before.norm())),
        effective_rank=_mean([matrix.effective_rank for matrix in matrices]),
        rank_share=_mean([matrix.rank_share for matrix in matrices]),
        matrices=matrices,
    )


def effective_rank(singular: NDArray[np.float64]) -> Reading:
    """exp(-sum p log p) of the normalised singular values p = s / sum s: 1 to their number.

    Source: Roy and Vetterli 2007, "The effective rank: a measure of effective dimensionality".
    """
    total = float(singular.sum())
    if total == 0:
        return UNMOVED
    p = singular[singular > 0] / total
    return float(np.exp(-(p * np.log(p)).sum()))


def _matrix(name: str, before: torch.Tensor, delta: torch.Tensor) -> MatrixChange:
    singular = torch.linalg.svdvals(delta).numpy()
    rank = effective_rank(singular)
    share = rank if isinstance(rank, Undetermined) else rank / len(singular)
    norm = float(delta.norm())
    return MatrixChange(name, norm, _ratio(norm, float(before.norm())), rank, share)


def _ratio(delta: float, before: float) -> Reading:
    return delta / before if before > 0 else Undetermined("the parameters were zero at the start")


def _mean(values: Sequence[Reading]) -> Reading:
    known = [value for value in values if isinstance(value, float)]
    return float(np.mean(known)) if known else UNMOVED
