"""The plane of the picture: two directions of parameter space, and the units that lengths on them are drawn in."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim.gradients import Gradient, Linearisation, dot, norm, scaled, stack
from sim.policy import Params
from sim.rng import generator


@dataclass(frozen=True)
class Basis:
    """Two orthonormal directions [2, ...] and the map [2, 2] from their coordinates to the picture's units."""

    name: str
    directions: Params
    to_units_22: NDArray[np.float64]


def to_units(fisher_22: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
    """U [2, 2] with U'U = F / (2 delta), lower triangular.

    In y = U p the safe region p'Fp <= 2 delta is the unit disc, and the first of y is the first of p times a
    number: right of the middle stays right of the middle. A direction that does not change the policy has a vast
    safe radius, not an infinite one.
    """
    floor = 1e-12 * np.trace(fisher_22) + 1e-30
    flipped = np.linalg.cholesky(fisher_22[::-1, ::-1] + floor * np.eye(2))
    return np.asarray(flipped.T[::-1, ::-1] / math.sqrt(2 * delta))


def even_units(fisher_22: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
    """c I [2, 2]: lengths as they are in parameter space, over the mean radius of the safe region p'Fp <= 2 delta.

    Its half-axes are sqrt(2 delta / l) for the eigenvalues l of F; their geometric mean is 1 / c, with
    c = det(F)^(1/4) / sqrt(2 delta). Angles stay angles, and the safe region is the ellipse that it is.
    """
    values = np.linalg.eigvalsh(fisher_22)
    floor = 1e-12 * np.trace(fisher_22) + 1e-30
    return np.asarray(float(np.prod(np.maximum(values, floor))) ** 0.25 / math.sqrt(2 * delta) * np.eye(2))


def orthonormal(first: Params, second: Params) -> Gradient:
    """Gram-Schmidt: two orthonormal directions, stacked."""
    e1 = scaled(first, 1 / norm(first))
    overlap = dot(second, e1)
    rest = {name: value - overlap * e1[name] for name, value in second.items()}
    return stack([e1, scaled(rest, 1 / norm(rest))])


def random_directions(params: Params, seed: int) -> Gradient:
    """Two orthonormal directions from a seeded normal distribution."""
    rng = generator(seed, "random plane")
    pair = [
        {name: torch.from_numpy(rng.standard_normal(tuple(value.shape), np.float32)) for name, value in params.items()}
        for _ in range(2)
    ]
    return orthonormal(*pair)


def component_directions(
    point: Linearisation, rows_NV: Tensor, weights_N: Tensor, gram_BB: NDArray[np.float64]
) -> Gradient | None:
    """The two leading principal directions of the rollouts' gradients, or None where they span less than two.

    With G = sum_r c_r g_r for an eigenvector c of the Gram matrix, each is one weighted pull.
    """
    values, vectors = np.linalg.eigh(gram_BB)
    if len(values) < 2 or values[-2] <= 1e-10 * values[-1]:
        return None
    sequence_N = torch.from_numpy(point.batch.sequence_N)
    axes = []
    for vector_B in (vectors[:, -1], vectors[:, -2]):
        c_B = vector_B if vector_B.sum() >= 0 else -vector_B
        axes.append(point.pull(rows_NV, weights_N * torch.from_numpy(c_B.copy()).float()[sequence_N]))
    return orthonormal(*axes)


def project(vector: Params, directions: Params) -> NDArray[np.float64]:
    """The coordinates <v, e_k> of a parameter vector on two directions."""
    return np.array([dot(vector, {name: value[k] for name, value in directions.items()}) for k in range(2)])
