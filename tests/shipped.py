"""Frames of the shipped weights, and what their arrows should be by the definitions, in float64."""

import math
from functools import cache
from typing import Any

import numpy as np
import torch

from sim import presets
from sim.batch import draw_batch
from sim.config import Config, Source, Teacher
from sim.frame import Frame, Rollout
from sim.implicit import Outcomes, compared, sampled_answers
from sim.language import Problem, encode
from sim.policy import Params
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
    return presets.builtin(name).config


def log_probs_of(weights: Weights, found: Frame, shown: dict[int, list[str]], temperature: float) -> torch.Tensor:
    """log pi_NV in float64 from the frame's own texts, a context before the prompt of each rollout."""
    params = slow.double(weights.params)
    rows = []
    for n, prefix in enumerate(found.sites.prefix):
        context = shown.get(int(found.sites.sequence[n]), [])
        tokens = encode(["<bos>", *context, *prefix.split()])
        rows.append(slow.next_word(weights.model, params, tokens, temperature).detach())
    return torch.stack(rows)


def truth(rollout: Rollout) -> str:
    """The right answer of a rollout's problem, by Python's own arithmetic."""
    words = rollout.prompt.split()
    return str(eval("".join(words[1 : words.index("?")])))


def hints(found: Frame) -> dict[int, list[str]]:
    """`hint answer :` for each rollout that has a problem."""
    asked = {r: rollout for r, rollout in enumerate(found.rollouts) if rollout.prompt.startswith("ask")}
    return {r: ["hint", truth(rollout), ":"] for r, rollout in asked.items()}


def right(rollout: Rollout) -> bool:
    """Whether a rollout closes with the right answer; a document of another skill is."""
    said = [*rollout.prompt.split(), *rollout.answer.split()]
    return said[0] != "ask" or (said[-3] in ("answer", "result") and said[-2:] == [truth(rollout), "<eos>"])


def rows_of(config: Config, found: Frame, params: Params | None = None) -> torch.Tensor:
    """Weight rows in float64, from the methods' definitions; `params` are the student's after steps."""
    policies, T, teacher = World.load().policies, config.source.temperature, config.teacher
    student = Weights(policies["base"].model, policies["base"].params if params is None else params)
    log_p = log_probs_of(student, found, {}, T)
    one = torch.nn.functional.one_hot(torch.tensor(encode(found.sites.text)), log_p.shape[1]).double()
    sequence, mix, beta = found.sites.sequence, teacher.weight, config.reference.beta
    reward_B = np.array([float(right(rollout)) for rollout in found.rollouts])
    by_group = reward_B.reshape(-1, config.source.group_size)
    A_B = reward_B if config.reward.baseline == "none" else (by_group - by_group.mean(1, keepdims=True)).flatten()
    rows = (1 - mix) * one * torch.from_numpy(A_B[sequence])[:, None]
    if mix > 0:
        rows += mix * _teacher_rows(config, found, student, log_p, one)
    if beta > 0:
        log_ref = log_probs_of(policies["base"], found, {}, T)
        back = log_ref.exp() if config.reference.divergence == "forward" else log_p.exp() * (log_ref - log_p)
        rows += beta * back
    kept_B = np.array([config.source.keep == "all" or not one.on_policy or right(one) for one in found.rollouts])
    return rows * torch.from_numpy(kept_B[sequence])[:, None]


def _teacher_rows(
    config: Config, found: Frame, student: Weights, log_p: torch.Tensor, one: torch.Tensor
) -> torch.Tensor:
    policies, T, teacher, clip = World.load().policies, config.source.temperature, config.teacher, config.clip
    if teacher.divergence == "continuation":
        return one
    if teacher.policy == "label":
        accepted = config.source.keep == "right"
        known_B = np.array([not each.on_policy or (accepted and right(each)) for each in found.rollouts])
        pull = one * log_p.exp() if teacher.label_weight == "probability" else one
        return pull * torch.from_numpy(known_B[found.sites.sequence])[:, None]
    own = student if teacher.parameters == "live" else policies["base"]
    speaker = own if teacher.policy == "self" else policies[teacher.policy]
    log_q = log_probs_of(speaker, found, hints(found) if teacher.context == "hint" else {}, T)
    if teacher.divergence == "forward":
        return log_q.exp()
    if teacher.divergence == "reverse":
        return log_p.exp() * (log_q - log_p)
    if teacher.divergence == "jsd":
        b = teacher.jsd_beta
        return (1 - b) * log_p.exp() * ((b * log_q.exp() + (1 - b) * log_p.exp()).log() - log_p)
    A_N = ((log_q - log_p) * one).sum(1)
    if clip.on:
        A_N = A_N.clamp(-clip.threshold, clip.threshold)
    return one * A_N[:, None]


def outcomes(params: Params, reference: Params, problem: Problem, beta: float, rollouts: int = 64) -> Outcomes:
    """The final answers of two policies of the student's size to a prompt, and the implicit target."""
    model = World.load().policies["base"].model
    before, after = (sampled_answers(model, each, problem, rollouts) for each in (reference, params))
    return compared(before, after, problem, beta)


def batch_of(config: Config) -> Any:
    base = World.load().policies["base"]
    return draw_batch(base.model, base.params, config.source, config.seed, 0, 0)


def units(config: Config) -> np.ndarray:
    """U [2, 2], lower triangular, with U'U = F / (2 delta), entry by entry."""
    A = World.load().plane.fisher_22 / (2 * config.safety.delta)
    c = math.sqrt(A[1, 1])
    b = A[0, 1] / c
    return np.array([[math.sqrt(A[0, 0] - b * b), 0], [b, c]])
