"""Experiments that claims are judged by: values that say all that determines what they measure. Here, runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sim.batch import draw_batch
from sim.changes import forgetting, retention
from sim.config import Config, Source
from sim.drift import PROMPTS, drift
from sim.errors import NonFinite
from sim.frame import Reading
from sim.implicit import sampled_answers
from sim.moved import moved
from sim.plan import Phase
from sim.policy import Params
from sim.simulator import Cancel, Simulator
from sim.timeline import Path
from sim.train import EVALUATION_SEED, evaluate, train

Result = dict[str, Any]
Progress = Callable[[int], None]


class Experiment(Protocol):
    """Something to measure; equal experiments give equal results."""

    @property
    def work(self) -> int:
        """About how long it takes, in training steps."""
        ...

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        """What is measured, as JSON values."""
        ...


@dataclass(frozen=True)
class Run:
    """Steps really taken: the records of a run and, with `changes`, what its student has become.

    A run whose numbers do not stay finite has collapsed; its records are kept.
    """

    phases: tuple[Phase, ...]
    every: int
    stop: bool = False
    changes: bool = False

    @property
    def work(self) -> int:
        """Steps, and a few for what is measured afterwards."""
        return sum(phase.steps for phase in self.phases) + 10 * self.changes

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        """``records``, ``diverged`` (why numbers were not finite, or None), ``changes`` of a run that ended well."""
        first, *then = self.phases
        records: list[Result] = []
        diverged = None
        try:
            taken = train(
                simulator, first.config, first.steps, self.every, None, cancel,
                then=then, measures=False, stop=self.stop,
            )  # fmt: skip
            records.extend(record.to_json() for record in taken)
        except NonFinite as error:
            diverged = str(error)
        result: Result = {"records": records, "diverged": diverged}
        if self.changes and diverged is None:
            path = Path()
            for phase in self.phases:
                for _ in range(phase.steps):
                    path = path.then(phase.config, 0)
            result["changes"] = student(simulator, simulator.state(path, cancel).params, records)
        return result


def student(simulator: Simulator, params: Params, records: Sequence[Result]) -> Result:
    """How far a student's states and parameters are from the base's, and what it has kept."""
    base = simulator.world.policies["base"]
    start, end = records[0], records[-1]
    far = drift(base.model, params, base.params, PROMPTS, EVALUATION_SEED)
    gone = moved(base.params, params)
    lost = forgetting(start["kept_skills"], end["kept_skills"])
    return {
        "mmd2": far.mmd2,
        "mmd_p": far.mmd_p,
        "sliced_wasserstein": far.sliced_wasserstein,
        "centroid": far.centroid,
        "jaccard": far.jaccard,
        "forgetting": float(np.mean(list(lost.values()))),
        "retention": mean([plain(share) for share in retention(start["kept_skills"], end["kept_skills"]).values()]),
        "changed": {f"{tau:g}": share for tau, share in gone.changed.items()},
        "relative": plain(gone.relative),
        "effective_rank": plain(gone.effective_rank),
        "rank_share": plain(gone.rank_share),
    }


@dataclass(frozen=True)
class Shipped:
    """How a shipped policy of the student's size does."""

    name: str
    work: int = 3

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        """Accuracy, kept skills, KL from the base."""
        del cancel
        policies = simulator.world.policies
        found = evaluate(policies[self.name].model, policies[self.name].params, policies["base"].params)
        return {
            "task_accuracy": found.task_accuracy,
            "kept_skills": found.kept_skills,
            "entropy": found.entropy,
            "kl": found.kl_from_start,
        }


@dataclass(frozen=True)
class DataAccuracy:
    """How many of the data's own answers are right."""

    config: Config
    work: int = 1

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        """The mean reward of 2,048 answers of the data."""
        del cancel
        base = simulator.world.policies["base"]
        source = self.config.source.model_copy(update={"alpha": 0.0, "prompts": 256, "group_size": 1})
        drawn = [draw_batch(base.model, base.params, source, self.config.seed, 2, k).reward_B for k in range(8)]
        return {"accuracy": float(np.concatenate(drawn).mean())}


@dataclass(frozen=True)
class Solved:
    """How often the base solves each prompt of the evaluation."""

    rollouts: int

    @property
    def work(self) -> int:
        """256 prompts, of which few are equal."""
        return self.rollouts

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        """``right``: how many of `rollouts` answers to each prompt are."""
        base = simulator.world.policies["base"]
        source = Source(prompts=256, group_size=1)
        asked = draw_batch(base.model, base.params, source, EVALUATION_SEED, 0, 0).problems
        right = {
            problem: sampled_answers(base.model, base.params, problem, self.rollouts, cancel=cancel)[str(problem.truth)]
            for problem in dict.fromkeys(asked)
            if problem is not None
        }
        return {"rollouts": self.rollouts, "right": [right[problem] for problem in asked if problem is not None]}


def plain(reading: Reading) -> float | None:
    """A reading as a JSON value."""
    return reading if isinstance(reading, float) else None


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of the values that are finite, None where there is none."""
    known = [value for value in values if value is not None and np.isfinite(value)]
    return float(np.mean(known)) if known else None
