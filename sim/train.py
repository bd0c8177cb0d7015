"""Runs: steps that are really taken, and what became of the policy."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np
import torch

from sim.batch import draw_batch
from sim.config import Config, Source
from sim.gradients import Linearisation
from sim.language import BOS, EOS, KINDS, LETTERS, VALUES, decode, draw_copying, encode, fact
from sim.policy import Params, Policy
from sim.rng import generator
from sim.rollout import sample
from sim.signals import mean_kl
from sim.simulator import Cancel, Simulator
from sim.timeline import Moment

EVALUATION_SEED = 1_000_003
COPIED_LINES = 64
#: A run has collapsed once its accuracy or a kept skill is below this share of the start's.
COLLAPSE = 0.5


@dataclass(frozen=True)
class Evaluation:
    """How a policy does, on prompts and random numbers that are the same for every policy.

    `task_accuracy` is sampled; `entropy` nats a site; `kl_from_start` the mean KL(policy || start) a site of its own
    rollouts; `kept_skills` sampled accuracy of facts and copying; `answer_length` tokens.
    """

    task_accuracy: float
    entropy: float
    kl_from_start: float
    kept_skills: dict[str, float]
    answer_length: float


@dataclass(frozen=True)
class Record:
    """One line of a run: the policy after `step` steps, and the update it would take next."""

    step: int
    task_accuracy: float
    entropy: float
    kl_from_start: float
    kept_skills: dict[str, float]
    answer_length: float
    update_ratio: float | None
    verdict: str

    def to_json(self) -> dict[str, Any]:
        """The record as JSON values."""
        return asdict(self)


def evaluate(model: Policy, params: Params, start: Params, rollouts: int = 256) -> Evaluation:
    """Evaluate a policy on fixed prompts at temperature 1."""
    batch = draw_batch(model, params, Source(prompts=rollouts, group_size=1), EVALUATION_SEED, 0, 0)
    with torch.no_grad():
        log_p_NV = Linearisation(model, params, batch).log_p_NV.double()
        log_start_NV = Linearisation(model, start, batch).log_p_NV.double()
    entropy_N = -(log_p_NV.exp() * log_p_NV).sum(-1)
    return Evaluation(
        float(batch.reward_B.mean()),
        float(entropy_N.mean()),
        mean_kl(log_p_NV, log_start_NV),
        kept_skills(model, params),
        float(np.mean([len(answer) for answer in batch.answers])),
    )


@cache
def _skill_tests() -> dict[str, list[tuple[list[str], list[str]]]]:
    facts = [
        (["tell", attribute, "of", kind, letter, "?"], [fact(attribute, kind, letter)])
        for attribute in VALUES
        for kind in KINDS
        for letter in LETTERS
    ]
    rng = generator(EVALUATION_SEED, "copying")
    return {"facts": facts, "copying": [draw_copying(rng) for _ in range(COPIED_LINES)]}


def kept_skills(model: Policy, params: Params) -> dict[str, float]:
    """Sampled accuracy of each skill that pretraining gave beside the task: all facts, and lines of letters."""
    result = {}
    for skill, tests in _skill_tests().items():
        prompts = [encode([BOS, *prompt]) for prompt, _ in tests]
        answers = sample(model, params, prompts, generator(EVALUATION_SEED, skill), max_new_tokens=8)
        right = [decode(answer) == [*wanted, EOS] for answer, (_, wanted) in zip(answers, tests, strict=True)]
        result[skill] = float(np.mean(right))
    return result


def train(
    simulator: Simulator,
    config: Config,
    steps: int,
    every: int = 1,
    progress: Callable[[int], None] | None = None,
    cancel: Cancel | None = None,
) -> Iterator[Record]:
    """Take steps, each from the first draw of its moment, and report every so many, the start and the end included.

    The verdict is the step's, unless the run has collapsed: task accuracy or a kept skill below half the start's.

    Raises:
        NonFinite: where a computation did not stay finite.
        Cancelled: if `cancel` says so.
    """
    model, start = simulator.world.policies["base"].model, simulator.world.policies["base"].params
    moment = Moment(config)
    first: Evaluation | None = None
    for step in range(steps + 1):
        if step % every == 0 or step == steps:
            frame = simulator.frame(moment, complete=False, cancel=cancel)
            now = evaluate(model, simulator.state(moment.path, cancel).params, start)
            first = first or now
            ratio = frame.update.ratio
            yield Record(
                step=step,
                update_ratio=ratio if isinstance(ratio, float) else None,
                verdict="collapsed" if collapsed(first, now) else frame.verdict.word,
                **asdict(now),
            )
        if step < steps:
            moment = moment.next_step()
            simulator.state(moment.path, cancel)
            if progress is not None:
                progress(step + 1)


def collapsed(first: Evaluation, now: Evaluation) -> bool:
    """Whether accuracy or a kept skill has fallen below half of the start's."""
    pairs = [(first.task_accuracy, now.task_accuracy)]
    pairs += [(first.kept_skills[skill], now.kept_skills[skill]) for skill in first.kept_skills]
    return any(after < COLLAPSE * before for before, after in pairs)
