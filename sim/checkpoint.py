"""The checkpoint's plane: how the plane that ships with the base was measured."""

from collections.abc import Callable, Mapping

import numpy as np
import torch

from sim.batch import draw_batch
from sim.config import Config, Reward, Source, Teacher
from sim.gradients import Gradient, Linearisation, dot, fisher, norm, scaled
from sim.optimiser import token_weights
from sim.plane import orthonormal
from sim.teachers import teacher_log_probs, weigh
from sim.world import CheckpointPlane, Weights

LARGE = Source(prompts=64, group_size=8)
#: Leave-one-out leaves the reward gradient unbiased.
REWARD = Config(source=LARGE, teacher=Teacher(weight=0), reward=Reward(baseline="leave-one-out"))
#: The methods whose gradients are pooled for the second axis.
POOL: tuple[Config, ...] = (
    Config(source=LARGE.model_copy(update={"alpha": 0.0}), teacher=Teacher(policy="label", divergence="forward")),
    Config(
        source=LARGE.model_copy(update={"alpha": 0.0, "data_style": "foreign"}),
        teacher=Teacher(policy="label", divergence="forward"),
    ),
    Config(source=LARGE, teacher=Teacher(policy="same-family", divergence="reverse")),
    Config(source=LARGE, teacher=Teacher(policy="cross-family", divergence="reverse")),
    Config(source=LARGE, teacher=Teacher(policy="self", context="hint", divergence="reverse")),
    Config(source=LARGE, teacher=Teacher(policy="self", context="hint", divergence="forward")),
)
REWARD_BATCHES, POOL_BATCHES, FISHER_BATCHES = 48, 4, 4
REFERENCE_SEED = 2_000_003


def fit(policies: Mapping[str, Weights], progress: Callable[[int, int], None] | None = None) -> CheckpointPlane:
    """The checkpoint's plane, from reference batches of 512 rollouts.

    First axis: the reward gradient, averaged over REWARD_BATCHES batches. Second: the leading direction of what
    remains of the mean gradients of POOL, each averaged over POOL_BATCHES batches and scaled to unit length. Its
    sign makes the pool's mean positive.
    """
    done, work = 0, REWARD_BATCHES + len(POOL) * POOL_BATCHES + FISHER_BATCHES

    def advance() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, work)

    def mean_gradient(config: Config, batches: int) -> Gradient:
        total: Gradient = {name: torch.zeros_like(value) for name, value in policies["base"].params.items()}
        for draw in range(batches):
            for name, value in _gradient(policies, config, draw).items():
                total[name] += value
            advance()
        return scaled(total, 1 / norm(total))

    reward = mean_gradient(REWARD, REWARD_BATCHES)
    rest = []
    for config in POOL:
        gradient = mean_gradient(config, POOL_BATCHES)
        along = dot(gradient, reward)
        rest.append({name: value - along * reward[name] for name, value in gradient.items()})
    gram = np.array([[dot(one, other) for other in rest] for one in rest])
    leading = np.linalg.eigh(gram)[1][:, -1]
    leading = leading if leading.sum() >= 0 else -leading
    second = {name: sum((c * each[name] for c, each in zip(leading.tolist(), rest, strict=True))) for name in reward}
    directions = orthonormal(reward, second)
    total_22 = np.zeros((2, 2))
    for draw in range(FISHER_BATCHES):
        point = _linearised(policies, REWARD, draw)
        total_22 += fisher(point.push(directions), point.p_NV).numpy()
        advance()
    return CheckpointPlane(directions, total_22 / FISHER_BATCHES)


def _linearised(policies: Mapping[str, Weights], config: Config, draw: int) -> Linearisation:
    base = policies["base"]
    batch = draw_batch(base.model, base.params, config.source, REFERENCE_SEED, 0, draw)
    return Linearisation(base.model, base.params, batch)


def _gradient(policies: Mapping[str, Weights], config: Config, draw: int) -> Gradient:
    point, teacher = _linearised(policies, config, draw), config.teacher
    log_q_NV = None
    if teacher.weight == 0:
        log_q_NV = point.log_p_NV
    elif teacher.policy != "label":
        speaker = policies["base" if teacher.policy == "self" else teacher.policy]
        log_q_NV = teacher_log_probs(
            speaker.model, speaker.params, point.batch, teacher.context, REFERENCE_SEED, 0, draw, 1.0
        )
    rows_NV = weigh(point.batch, point.log_p_NV, log_q_NV, config).rows_NV
    return point.pull(rows_NV, token_weights(point.batch, "token"))
