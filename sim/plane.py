"""The plane of the picture: two directions of parameter space, and units in which the safe region is a circle."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim.batch import draw_batch
from sim.config import Clip, Config, Source, Teacher
from sim.gradients import Gradient, Linearisation, dot, fisher, norm, scaled, stack
from sim.optimiser import token_weights
from sim.policy import Params
from sim.rng import generator
from sim.teachers import teacher_log_probs, weigh
from sim.world import CheckpointPlane, Weights


@dataclass(frozen=True)
class Basis:
    """Two orthonormal directions [2, ...] and the map [2, 2] from their coordinates to the picture's units."""

    directions: Params
    to_units_22: NDArray[np.float64]


def to_units(fisher_22: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
    """U [2, 2] with U'U = F / (2 delta), lower triangular.

    In y = U p the safe region p'Fp <= 2 delta is the unit disc, and the first of y is the first of p times a
    number: right of the middle stays right of the middle.
    """
    flipped = np.linalg.cholesky(fisher_22[::-1, ::-1] + 1e-12 * np.trace(fisher_22) * np.eye(2))
    return np.asarray(flipped.T[::-1, ::-1] / math.sqrt(2 * delta))


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
    for c_B in (vectors[:, -1], vectors[:, -2]):
        c_B = c_B * (1.0 if c_B.sum() >= 0 else -1.0)
        axes.append(point.pull(rows_NV, weights_N * torch.from_numpy(c_B).float()[sequence_N]))
    return orthonormal(*axes)


#: The methods whose gradients are pooled for the second axis.
POOL: tuple[Config, ...] = (
    Config(teacher=Teacher(weight=0)),
    Config(teacher=Teacher(policy="same-family")),
    Config(teacher=Teacher(policy="cross-family")),
    Config(teacher=Teacher(policy="self", context="hint")),
    Config(teacher=Teacher(policy="self", context="hint"), clip=Clip(on=True)),
    Config(source=Source(alpha=0), teacher=Teacher(policy="label", divergence="forward")),
    Config(
        source=Source(alpha=0, data_style="foreign"), teacher=Teacher(policy="label", divergence="forward")
    ),
)
REFERENCE_BATCHES = 48
REFERENCE_SEED = 2_000_003


def fit(policies: dict[str, Weights], progress: Callable[[int, int], None] | None = None) -> CheckpointPlane:
    """The checkpoint's plane, from reference batches of 512 rollouts.

    First axis: the reward gradient (leave-one-out baseline, which leaves it unbiased), averaged over
    REFERENCE_BATCHES batches. Second: the leading direction of what remains of the rollouts' gradients, pooled
    over the methods of POOL, each method scaled to the same root mean square. Its sign makes the pooled mean positive.
    """
    base = policies["base"]
    total: Gradient = {name: torch.zeros_like(value) for name, value in base.params.items()}
    fisher_sum = np.zeros((2, 2))
    work = REFERENCE_BATCHES + len(POOL) + 4
    reward_config = Config(teacher=Teacher(weight=0), reward=POOL[0].reward.model_copy(update={"baseline": "leave-one-out"}))
    for i in range(REFERENCE_BATCHES):
        point, rows_NV = _weighed(policies, reward_config, i, prompts=64)
        for name, value in point.pull(rows_NV, token_weights(point.batch, "token")).items():
            total[name] += value
        if progress is not None:
            progress(i + 1, work)
    e1 = scaled(total, 1 / norm(total))
    pooled = []
    for j, config in enumerate(POOL):
        matrix = torch.cat(list(_rollout_gradients(policies, config, j)))
        axis = torch.cat([e1[name].flatten() for name in e1])
        matrix -= (matrix @ axis)[:, None] * axis
        pooled.append(matrix / matrix.square().sum(1).mean().sqrt())
        if progress is not None:
            progress(REFERENCE_BATCHES + j + 1, work)
    rows = torch.cat(pooled)
    values, vectors = np.linalg.eigh((rows @ rows.T).double().numpy())
    leading = torch.from_numpy(vectors[:, -1]).float() @ rows
    if float((rows @ leading).mean()) < 0:
        leading = -leading
    second, start = {}, 0
    for name, value in base.params.items():
        second[name] = leading[start : start + value.numel()].view_as(value)
        start += value.numel()
    directions = orthonormal(e1, second)
    for i in range(4):
        point, _ = _weighed(policies, reward_config, i, prompts=64)
        fisher_sum += fisher(point.push(directions), point.p_NV).numpy()
        if progress is not None:
            progress(REFERENCE_BATCHES + len(POOL) + i + 1, work)
    return CheckpointPlane(directions, fisher_sum / 4)


def _weighed(policies: dict[str, Weights], config: Config, draw: int, prompts: int) -> tuple[Linearisation, Tensor]:
    base, source = policies["base"], config.source.model_copy(update={"prompts": prompts})
    batch = draw_batch(base.model, base.params, source, REFERENCE_SEED, 0, draw)
    point = Linearisation(base.model, base.params, batch)
    teacher = config.teacher
    log_q_NV = None
    if teacher.policy != "label":
        speaker = policies["base" if teacher.policy == "self" else teacher.policy]
        log_q_NV = teacher_log_probs(
            speaker.model, speaker.params, batch, teacher.context, REFERENCE_SEED, 0, draw, source.temperature
        )
    return point, weigh(batch, point.log_p_NV, log_q_NV, config).rows_NV


def _rollout_gradients(policies: dict[str, Weights], config: Config, draw: int) -> Iterator[Tensor]:
    """Flat gradients [1, P] of 64 rollouts, one at a time."""
    point, rows_NV = _weighed(policies, config, draw, prompts=8)
    weights_N = token_weights(point.batch, "token")
    sequence_N = torch.from_numpy(point.batch.sequence_N)
    for r in range(len(point.batch.answers)):
        gradient = point.pull(rows_NV, weights_N * (sequence_N == r))
        yield torch.cat([value.flatten() for value in gradient.values()])[None]
