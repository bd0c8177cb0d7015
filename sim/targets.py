"""Targets that the shipped weights must meet, and the measurements that show it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from sim.batch import draw_batch
from sim.config import Source
from sim.gradients import Linearisation
from sim.language import BOS, TOKEN, Problem, context_words, draw_problem, encode
from sim.policy import Params, Policy
from sim.rng import generator
from sim.rollout import pad
from sim.train import EVALUATION_SEED, kept_skills
from sim.world import World

ROLLOUTS = 1024
KEY_MOVE_PROMPTS = 200


@dataclass(frozen=True)
class Target:
    """One measured property of the shipped weights, and the range that it must lie in."""

    name: str
    measured: float
    low: float
    high: float

    @property
    def met(self) -> bool:
        """Whether the measurement is in range."""
        return self.low <= self.measured <= self.high


def measure(world: World, progress: Callable[[int, int], None] | None = None) -> list[Target]:
    """Every target with its measurement on the weights of a world."""
    targets: list[Target] = []
    base = world.policies["base"]
    stages = 5

    def done(stage: int) -> None:
        if progress is not None:
            progress(stage, stages)

    source = Source(prompts=ROLLOUTS // 4, group_size=1)
    rewards, entropies = [], []
    for draw in range(4):
        batch = draw_batch(base.model, base.params, source, EVALUATION_SEED, 0, draw)
        rewards.append(batch.reward_B)
        with torch.no_grad():
            log_p_NV = Linearisation(base.model, base.params, batch).log_p_NV.double()
        entropies.append(-(log_p_NV.exp() * log_p_NV).sum(-1).numpy())
    entropy_N = np.concatenate(entropies)
    targets += [
        Target("base: sampled task accuracy", float(np.concatenate(rewards).mean()), 0.35, 0.6),
        Target("base: mean entropy of a site, nats", float(entropy_N.mean()), 0.25, 0.6),
        Target("base: share of sites over 0.3 nats", float((entropy_N > 0.3).mean()), 0.25, 1.0),
    ]
    done(1)
    targets += [
        Target("base: median key-move probability, no hint", key_move(base.model, base.params, "none"), 0.0, 0.03),
        Target("base: median key-move probability, hinted", key_move(base.model, base.params, "hint"), 0.5, 1.0),
    ]
    targets += _skills("base", base.model, base.params, 0.97, 1.0)
    done(2)
    for i, name in enumerate(("same-family", "cross-family")):
        teacher = world.policies[name]
        targets.append(Target(f"{name}: sampled task accuracy", _accuracy(teacher.model, teacher.params), 0.85, 1.0))
        targets += _skills(name, teacher.model, teacher.params, 0.97, 1.0)
        done(3 + i)
    spent = world.policies["over-trained"]
    targets.append(Target("over-trained: sampled task accuracy", _accuracy(spent.model, spent.params), 0.95, 1.0))
    targets += _skills("over-trained", spent.model, spent.params, 0.0, 0.7)
    done(5)
    return targets


def key_move(model: Policy, params: Params, context: str) -> float:
    """The median probability of the key move where an answer names its first operand.

    Over problems ``ask a + b * c ?`` with a != b, after ``well first``: the probability of b.
    """
    rng = generator(EVALUATION_SEED, "key move")
    problems: list[Problem] = []
    while len(problems) < KEY_MOVE_PROMPTS:
        problem = draw_problem(rng, key_share=1.0)
        if problem.a != problem.b:
            problems.append(problem)
    rows = [
        encode([BOS, *context_words(context, problem, rng), *problem.words, "well", "first"]) for problem in problems
    ]
    with torch.no_grad():
        p_BV = model.logits(params, pad(rows))[:, -1].softmax(-1)
    moves = [float(p_BV[i, TOKEN[str(problem.b)]]) for i, problem in enumerate(problems)]
    return float(np.median(moves))


def _accuracy(model: Policy, params: Params) -> float:
    return float(draw_batch(model, params, Source(prompts=256, group_size=1), EVALUATION_SEED, 0, 0).reward_B.mean())


def _skills(name: str, model: Policy, params: Params, low: float, high: float) -> list[Target]:
    return [
        Target(f"{name}: {skill} kept", accuracy, low, high) for skill, accuracy in kept_skills(model, params).items()
    ]
