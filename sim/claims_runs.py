"""The runs that claims share: each named once, so that claims which speak of the same run read the same numbers."""

from collections.abc import Mapping
from typing import Any

from sim.claim import settings
from sim.config import Config
from sim.experiments import Result, Run
from sim.plan import Phase

#: Adam's learning rate wherever a claim compares it with plain SGD at 0.3.
ADAM = ("update.optimiser=adam", "update.step_size=0.0003")
#: The accuracy at which runs are compared.
GOAL = 0.85

#: Preset, replaced settings, steps and steps between records, by the name under which claims know a run.
RUNS: Mapping[str, tuple[str, tuple[str, ...], int, int]] = {
    "rl": ("rl-noise-cancels", ("source.prompts=16",), 100, 5),
    "opd": ("opd-same-family", (), 100, 5),
    "sft": ("sft-fan", (), 100, 5),
    "foreign": ("sft-foreign-style", (), 100, 5),
    "hinted": ("opsd-frozen-teacher", (), 100, 5),
    "rl-adam": ("rl-noise-cancels", ("source.prompts=16", *ADAM), 100, 5),
    "opd-adam": ("opd-same-family", ADAM, 100, 5),
    "hinted-adam": ("opsd-frozen-teacher", ADAM, 100, 5),
    "opd-jsd": ("opd-jsd", (), 100, 10),
    "cross": ("opd-cross-family", (), 60, 5),
    "stress": ("sft-stress", (), 60, 10),
    "replay": ("sft-replay", (), 60, 10),
    "anchored": ("sft-anchored", (), 60, 10),
    "dft": ("sft-anchored", ("reference.beta=0",), 60, 10),
    "one-step": ("opd-one-step", (), 60, 10),
    "one-step-reverse": ("opd-one-step", ("teacher.divergence=reverse",), 60, 10),
    "continuation": ("opd-continuation", (), 60, 10),
    "ceiling": ("sft-ceiling", (), 100, 10),
    "rl-kl": ("rl-kl-regularised", ("source.prompts=16",), 100, 10),
    "rejection": ("sft-rejection", (), 100, 10),
    "example": ("opsd-example", (), 60, 10),
    "rule": ("opsd-rule", (), 60, 10),
    "careful": ("opsd-persona", (), 60, 10),
    "hasty": ("opsd-persona", ("teacher.context=hasty",), 60, 10),
    "wrong-hint": ("opsd-wrong-hint", (), 60, 10),
}


def named(name: str, seed: int) -> Run:
    """A run of the table, with what its student has become."""
    preset, assignments, steps, every = RUNS[name]
    return Run((Phase(settings(preset, seed, *assignments), steps),), every, changes=True)


def config(name: str, seed: int) -> Config:
    """The settings of a run of the table."""
    preset, assignments, _, _ = RUNS[name]
    return settings(preset, seed, *assignments)


def end(result: Result) -> dict[str, Any]:
    """The last record."""
    return dict(result["records"][-1])


def start(result: Result) -> dict[str, Any]:
    """The first record."""
    return dict(result["records"][0])


def collapsed_at(result: Result) -> float | None:
    """The step of the first collapsed record, or after the last finite one; None for a run that holds."""
    for record in result["records"]:
        if record["collapsed"]:
            return float(record["step"])
    return None if result["diverged"] is None else float(result["records"][-1]["step"])


def steps_held(result: Result) -> int:
    """The step of the last record before a run collapsed; of a run that holds, the last of all."""
    steps = [0]
    for record in result["records"]:
        if record["collapsed"]:
            return steps[-1]
        steps.append(record["step"])
    return steps[-1]


def held(result: Result) -> bool:
    """Whether a run went to its end without collapsing."""
    return collapsed_at(result) is None


def forgotten(record: Mapping[str, Any], first: Mapping[str, Any]) -> float:
    """Mean forgetting of the kept skills between two records."""
    lost = [first["kept_skills"][skill] - kept for skill, kept in record["kept_skills"].items()]
    return float(sum(lost) / len(lost))


def kept(record: Mapping[str, Any], first: Mapping[str, Any]) -> float:
    """One less the mean forgetting."""
    return 1 - forgotten(record, first)


def reached(result: Result, accuracy: float) -> dict[str, Any] | None:
    """The first record at least that accurate."""
    return next((dict(each) for each in result["records"] if each["task_accuracy"] >= accuracy), None)
