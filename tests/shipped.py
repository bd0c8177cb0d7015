"""Frames of the shipped weights, and what their arrows should be by the definitions, in float64."""

import math
from functools import cache
from typing import Any

import numpy as np
import torch

from sim import presets
from sim.batch import draw_batch
from sim.config import Config, Source, Teacher
from sim.frame import Frame
from sim.language import encode
from sim.simulator import Simulator
from sim.timeline import Moment
from sim.world import Weights, World
from tests import reference as slow

SMALL = Source(prompts=2, group_size=2)
HINTED = Config(source=SMALL, teacher=Teacher(policy="self", context="hint"))
RL = Config(source=Source(prompts=4, group_size=4), teacher=Teacher(weight=0))
SFT = Config(source=Source(prompts=2, group_size=2, alpha=0), teacher=Teacher(policy="label", divergence="forward"))


def fresh() -> Simulator:
    return Simulator(World.load())


@cache
def shared() -> Simulator:
    return fresh()


def frame(config: Config, draw: int = 0, complete: bool = True) -> Frame:
    return shared().frame(Moment(config, draw=draw), complete)


def changed(config: Config, **parts: dict[str, Any]) -> Config:
    """A configuration with some settings changed: changed(c, update={"step_size": 2})."""
    return config.model_copy(
        update={part: getattr(config, part).model_copy(update=values) for part, values in parts.items()}
    )


@cache
def graded(config: Config) -> Config:
    """With the first seed for which rewards differ in two groups, if rewards are all that pulls."""
    base = World.load().policies["base"]
    for seed in range(200):
        found = config.model_copy(update={"seed": seed})
        batch = draw_batch(base.model, base.params, config.source, seed, 0, 0)
        if config.teacher.weight > 0 or (np.ptp(batch.reward_B.reshape(config.source.prompts, -1), 1) > 0).sum() > 1:
            return found
    raise AssertionError("rewards never differ within a group")


@cache
def preset(name: str) -> Config:
    return presets.load_preset(name).config


def log_probs_of(weights: Weights, found: Frame, shown: dict[int, list[str]], temperature: float) -> torch.Tensor:
    """log pi_NV in float64 from the frame's own texts, a context before the prompt of each rollout."""
    params = slow.double(weights.params)
    rows = []
    for n, prefix in enumerate(found.sites.prefix):
        context = shown.get(int(found.sites.sequence[n]), [])
        tokens = encode(["<bos>", *context, *prefix.split()])
        rows.append(slow.next_word(weights.model, params, tokens, temperature).detach())
    return torch.stack(rows)


def hints(found: Frame) -> dict[int, list[str]]:
    """`hint answer :` for each rollout, by Python's own arithmetic."""
    return {
        r: ["hint", str(eval("".join(rollout.prompt.split()[1:-1]))), ":"] for r, rollout in enumerate(found.rollouts)
    }


def rows_of(config: Config, found: Frame) -> torch.Tensor:
    """Weight rows in float64, from the methods' definitions."""
    policies, T = World.load().policies, config.source.temperature
    log_p = log_probs_of(policies["base"], found, {}, T)
    y = torch.tensor(encode(found.sites.text))
    one = torch.nn.functional.one_hot(y, log_p.shape[1]).double()
    if config.teacher.policy == "label":
        return one
    if config.teacher.weight == 0:
        rewards = np.array([rollout.reward for rollout in found.rollouts]).reshape(-1, config.source.group_size)
        A_B = (rewards - rewards.mean(1, keepdims=True)).flatten()
        return one * torch.from_numpy(A_B[found.sites.sequence])[:, None]
    speaker = policies["base" if config.teacher.policy == "self" else config.teacher.policy]
    log_q = log_probs_of(speaker, found, hints(found) if config.teacher.context == "hint" else {}, T)
    if config.teacher.divergence == "forward":
        return log_q.exp()
    if config.teacher.divergence == "reverse":
        return log_p.exp() * (log_q - log_p)
    A_N = ((log_q - log_p) * one).sum(1)
    if config.clip.on:
        A_N = A_N.clamp(-config.clip.threshold, config.clip.threshold)
    return one * A_N[:, None]


def batch_of(config: Config) -> Any:
    base = World.load().policies["base"]
    return draw_batch(base.model, base.params, config.source, config.seed, 0, 0)


def units(config: Config) -> np.ndarray:
    """U [2, 2], lower triangular, with U'U = F / (2 delta), entry by entry."""
    A = World.load().plane.fisher_22 / (2 * config.safety.delta)
    c = math.sqrt(A[1, 1])
    b = A[0, 1] / c
    return np.array([[math.sqrt(A[0, 0] - b * b), 0], [b, c]])
