"""The checkpoint's plane: how the plane that ships with the base was measured."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import torch
from torch import Tensor

from sim.batch import draw_batch
from sim.config import Clip, Config, Reward, Source, Teacher
from sim.gradients import Gradient, Linearisation, fisher, norm, scaled
from sim.optimiser import token_weights
from sim.plane import orthonormal
from sim.teachers import teacher_log_probs, weigh
from sim.world import CheckpointPlane, Weights

#: The methods whose gradients are pooled for the second axis.
POOL: tuple[Config, ...] = (
    Config(teacher=Teacher(weight=0)),
    Config(teacher=Teacher(policy="same-family")),
    Config(teacher=Teacher(policy="cross-family")),
    Config(teacher=Teacher(policy="self", context="hint")),
    Config(teacher=Teacher(policy="self", context="hint"), clip=Clip(on=True)),
    Config(source=Source(alpha=0), teacher=Teacher(policy="label", divergence="forward")),
    Config(source=Source(alpha=0, data_style="foreign"), teacher=Teacher(policy="label", divergence="forward")),
)
REFERENCE_BATCHES = 48
REFERENCE_SEED = 2_000_003


def fit(policies: Mapping[str, Weights], progress: Callable[[int, int], None] | None = None) -> CheckpointPlane:
    """The checkpoint's plane, from reference batches of 512 rollouts.

    First axis: the reward gradient (leave-one-out baseline, which leaves it unbiased), averaged over
    REFERENCE_BATCHES batches. Second: the leading direction of what remains of the rollouts' gradients, pooled
    over the methods of POOL, each method scaled to the same root mean square. Its sign makes the pooled mean positive.
    """
    base = policies["base"]
    total: Gradient = {name: torch.zeros_like(value) for name, value in base.params.items()}
    fisher_sum = np.zeros((2, 2))
    work = REFERENCE_BATCHES + len(POOL) + 4
    reward_config = Config(teacher=Teacher(weight=0), reward=Reward(baseline="leave-one-out"))
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
    _, vectors = np.linalg.eigh((rows @ rows.T).double().numpy())
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


def _weighed(policies: Mapping[str, Weights], config: Config, draw: int, prompts: int) -> tuple[Linearisation, Tensor]:
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


def _rollout_gradients(policies: Mapping[str, Weights], config: Config, draw: int) -> Iterator[Tensor]:
    """Flat gradients [1, P] of 64 rollouts, one at a time."""
    point, rows_NV = _weighed(policies, config, draw, prompts=8)
    weights_N = token_weights(point.batch, "token")
    sequence_N = torch.from_numpy(point.batch.sequence_N)
    for r in range(len(point.batch.answers)):
        gradient = point.pull(rows_NV, weights_N * (sequence_N == r))
        yield torch.cat([value.flatten() for value in gradient.values()])[None]
