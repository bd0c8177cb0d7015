"""Runs: steps that are really taken, and what became of the policy."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np
import torch

from sim.batch import draw_batch
from sim.config import Config, Source
from sim.errors import NonFinite
from sim.frame import Frame, Reading
from sim.gradients import Linearisation
from sim.language import BOS, EOS, KINDS, LETTERS, VALUES, decode, draw_copying, encode, fact
from sim.plan import Phase, Plan, world_key
from sim.policy import Params, Policy
from sim.rng import generator
from sim.rollout import sample
from sim.runs import Checkpoint
from sim.signals import mean_kl
from sim.simulator import Cancel, Simulator
from sim.timeline import Moment, Path

EVALUATION_SEED = 1_000_003
COPIED_LINES = 64
#: A run has collapsed where its accuracy or a kept skill is below this share of its start's.
COLLAPSE = 0.5
_CHECKPOINT = Path()


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
    """One line of a run: the policy after `step` steps, and the update it would take next.

    `update_ratio`, `density` (within rollouts), `bias` (coherence) and `concentration` (share of the top 1 %) are that
    update's, None where undetermined or not asked for. `verdict` is the update's word, "not finite" where it cannot be
    computed, unless the run has collapsed.
    """

    step: int
    task_accuracy: float
    entropy: float
    kl_from_start: float
    kept_skills: dict[str, float]
    answer_length: float
    update_ratio: float | None
    density: float | None
    bias: float | None
    concentration: float | None
    collapsed: bool
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
    *,
    then: Sequence[Phase] = (),
    measures: bool = True,
    rule: float = COLLAPSE,
    stop: bool = False,
    begin: Path = _CHECKPOINT,
    resume: Checkpoint | None = None,
    save: Callable[[Checkpoint], None] | None = None,
) -> Iterator[Record]:
    """Take steps, each from the first draw of its moment, and report on the start, every so many, and each phase's end.

    Args:
        simulator: the world, and what is remembered of it.
        config: the settings of the first phase.
        steps: how many it has.
        every: steps between two records.
        progress: called with the steps taken, over all phases, after each.
        cancel: asked now and then.
        then: further phases; each goes on from parameters, moving average and moments of the one before.
        measures: whether a record has the readings of the next update; no frame is made without.
        rule: the share of the start's accuracy, or of a kept skill's, below which the run has collapsed.
        stop: whether the run ends at its first collapsed record.
        begin: steps taken before; the run's start, step 0, is at their end. KL stays that from the checkpoint.
        resume: where an equal run was left; only the records after it come.
        save: called after each record but the last with what resumes the run there.

    Raises:
        InvalidInput: if `resume` is of another run.
        NonFinite: where a step that is taken, or the policy after it, did not stay finite; an update that is only read
            leaves its record without readings.
        Cancelled: if `cancel` says so.
    """
    plan = Plan((Phase(config, steps), *then), every, measures, rule, stop, begin, world_key(simulator.world))
    if resume is not None:
        resume.require(plan)
    return _records(simulator, plan, progress, cancel, resume, save)


def _records(
    simulator: Simulator,
    plan: Plan,
    progress: Callable[[int], None] | None,
    cancel: Cancel | None,
    resume: Checkpoint | None,
    save: Callable[[Checkpoint], None] | None,
) -> Iterator[Record]:
    model, checkpoint = simulator.world.policies["base"].model, simulator.world.policies["base"].params
    first: Evaluation | None = None
    step, path, recorded = 0, plan.begin, 0
    if resume is not None:
        first = evaluate(model, simulator.state(path, cancel).params, checkpoint)
        step, path, recorded = resume.step, plan.path(resume.step), resume.records
        simulator.remember(path, resume.state)
    while True:
        if plan.recorded(step) and (resume is None or step > resume.step):
            now = evaluate(model, simulator.state(path, cancel).params, checkpoint)
            first = first or now
            frame, word = None, ""
            if plan.measures:
                frame = _next_update(simulator, Moment(plan.config(step), path), cancel)
                word = "not finite" if frame is None else frame.verdict.word
            record = _record(step, now, collapsed(first, now, plan.rule), frame, word)
            recorded += 1
            yield record
            if plan.stop and record.collapsed:
                return
            if save is not None and step < plan.total:
                save(Checkpoint(step, recorded, path.key, plan.settings(), simulator.state(path, cancel)))
        if step == plan.total:
            return
        path = path.then(plan.config(step), 0)
        simulator.state(path, cancel)
        step += 1
        if progress is not None:
            progress(step)


def _next_update(simulator: Simulator, moment: Moment, cancel: Cancel | None) -> Frame | None:
    # A run's last update is read and never taken: what it would do is no reason to lose the record.
    try:
        return simulator.frame(moment, complete=False, cancel=cancel)
    except NonFinite:
        return None


def _record(step: int, now: Evaluation, has_collapsed: bool, frame: Frame | None, word: str) -> Record:
    return Record(
        step=step,
        update_ratio=None if frame is None else _determined(frame.update.ratio),
        density=None if frame is None else _determined(frame.measures.density.within_share),
        bias=None if frame is None else _determined(frame.measures.bias.coherence),
        concentration=None if frame is None else _determined(frame.measures.concentration.top1_share),
        collapsed=has_collapsed,
        verdict="collapsed" if has_collapsed else word,
        **asdict(now),
    )


def _determined(reading: Reading) -> float | None:
    return reading if isinstance(reading, float) else None


def collapsed(first: Evaluation | Record, now: Evaluation | Record, rule: float = COLLAPSE) -> bool:
    """Whether accuracy or a kept skill is below `rule` times what it was at first."""
    pairs = [(first.task_accuracy, now.task_accuracy)]
    pairs += [(first.kept_skills[skill], now.kept_skills[skill]) for skill in first.kept_skills]
    return any(after < rule * before for before, after in pairs)


def collapse_step(records: Sequence[Record], rule: float = COLLAPSE) -> int | None:
    """The step of the first record that meets the rule, None if none does; the first of all is the run's start."""
    return next((record.step for record in records if collapsed(records[0], record, rule)), None)


def rule_in_words(rule: float = COLLAPSE) -> str:
    """When a run has collapsed, for a person."""
    return f"collapsed is task accuracy or a kept skill below {rule:g} of what the run began with"
