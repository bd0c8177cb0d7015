"""What several runs made of one student: skills gained and forgotten, KL spent, states and parameters moved."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from sim.config import Config
from sim.drift import PROMPTS, Drift, compare, rollouts_of
from sim.errors import NonFinite
from sim.frame import Reading, Undetermined
from sim.moved import Moved, moved
from sim.simulator import Cancel, Simulator
from sim.timeline import Moment
from sim.train import EVALUATION_SEED, Record, train

BASE = "base"


@dataclass(frozen=True)
class Change:
    """A student after `steps` steps, against the base.

    `forgetting` = base - post and `retention` = post / base of each kept skill, and their means; `kl` is
    KL(student || base) in nats a site of its own rollouts, `kl_per_point` that over the percentage points of accuracy
    gained. The base's own drift is that of another sample of it: what two samples of one policy differ by.
    """

    name: str
    steps: int
    task_accuracy: float
    kept_skills: dict[str, float]
    forgetting: dict[str, float]
    retention: dict[str, Reading]
    mean_forgetting: float
    mean_retention: Reading
    kl: float
    kl_per_point: Reading
    collapsed: bool
    drift: Drift
    moved: Moved

    def to_json(self) -> dict[str, Any]:
        """The row as JSON values; what is null has its path in ``reasons``."""
        reasons: dict[str, str] = {}
        body = {field.name: _plain(getattr(self, field.name), field.name, reasons) for field in fields(self)}
        return body | {"reasons": reasons}


@dataclass(frozen=True)
class Diverged:
    """A run that did not stay finite within `steps` steps: there is no student to measure, and `reason` says why."""

    name: str
    steps: int
    reason: str

    def to_json(self) -> dict[str, Any]:
        """The row as JSON values: those of a `Change`, null, and the reason."""
        known = {"name": self.name, "steps": self.steps}
        missing = [field.name for field in fields(Change) if field.name not in known]
        reasons = dict.fromkeys(missing, self.reason)
        return known | dict.fromkeys(missing) | {"reasons": reasons, "reason": self.reason}


@dataclass(frozen=True)
class Published:
    """A row of a published table; None where the source gives no number."""

    name: str
    gsm8k: float | None
    truthfulqa: float | None
    mmlu: float | None
    mean_forgetting: float | None = None
    mean_retention: float | None = None
    mmd2: float | None = None


PUBLISHED_SOURCE = "Qwen3-0.6B-Base on GSM8K, arXiv 2605.22731, Table 2"
#: What the paper's text says of its Table 2 and of drift. Its MMD has features and prompts of its own.
PUBLISHED = (
    Published("base", 0.448, 0.300, 0.436),
    Published("mild SFT", 0.512, None, None),
    Published("stress SFT", 0.420, 0.245, 0.364, None, 0.8258, 0.01093),
    Published("distillation from the stress teacher", 0.466, 0.275, 0.430, None, 0.9515, 0.01092),
    Published("RL", 0.472, 0.290, 0.442, 0.0020, None, 0.01098),
    Published("one-step distillation", 0.040, None, None),
)


def forgetting(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """F = base - post of each skill: what was lost, below 0 where the skill got better."""
    return {skill: value - after[skill] for skill, value in before.items()}


def retention(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, Reading]:
    """Post / base of each skill."""
    return {
        skill: after[skill] / value if value > 0 else Undetermined(f"the base has no skill in {skill}")
        for skill, value in before.items()
    }


def kl_per_point(kl: float, before: float, after: float) -> Reading:
    """Nats a site for each percentage point of accuracy gained."""
    points = 100 * (after - before)
    return kl / points if points > 0 else Undetermined("accuracy did not rise")


def changes(
    simulator: Simulator,
    runs: Sequence[tuple[str, Config]],
    steps: int,
    progress: Callable[[int], None] | None = None,
    cancel: Cancel | None = None,
) -> Iterator[Change | Diverged]:
    """The base, then each run's student once it has taken its steps, from the checkpoint and without its frames.

    A run that does not stay finite is a row that says so; the runs after it are measured all the same.

    Args:
        simulator: the world, and what is remembered of it.
        runs: a name and the settings for each.
        steps: how many each run takes.
        progress: called with the steps taken, over all runs, after each.
        cancel: asked now and then.

    Raises:
        Cancelled: if `cancel` says so.
    """
    base = simulator.world.policies["base"]
    states = rollouts_of(base.model, base.params, PROMPTS, EVALUATION_SEED)
    again = rollouts_of(base.model, base.params, PROMPTS, EVALUATION_SEED, draw=1)
    (start,) = train(simulator, Config(), 0, measures=False, cancel=cancel)
    yield _change(BASE, start, start, compare(states, again, EVALUATION_SEED), moved(base.params, base.params))
    for i, (name, config) in enumerate(runs):

        def advance(done: int, before: int = i * steps) -> None:
            if progress is not None:
                progress(before + done)

        try:
            *_, end = train(simulator, config, steps, steps, advance, cancel, measures=False)
            moment = Moment(config)
            for _ in range(steps):
                moment = moment.next_step()
            params = simulator.state(moment.path, cancel).params
            visited = rollouts_of(base.model, params, PROMPTS, EVALUATION_SEED)
            drift = compare(states, visited, EVALUATION_SEED)
            row = _finite(_change(name, start, end, drift, moved(base.params, params)))
        except NonFinite as error:
            yield Diverged(name, steps, str(error))
        else:
            yield row


def _change(name: str, start: Record, end: Record, drift: Drift, gone: Moved) -> Change:
    lost, kept = forgetting(start.kept_skills, end.kept_skills), retention(start.kept_skills, end.kept_skills)
    known = [value for value in kept.values() if isinstance(value, float)]
    return Change(
        name=name,
        steps=end.step,
        task_accuracy=end.task_accuracy,
        kept_skills=end.kept_skills,
        forgetting=lost,
        retention=kept,
        mean_forgetting=float(np.mean(list(lost.values()))),
        mean_retention=float(np.mean(known)) if len(known) == len(kept) else Undetermined("the base lacks a skill"),
        kl=end.kl_from_start,
        kl_per_point=kl_per_point(end.kl_from_start, start.task_accuracy, end.task_accuracy),
        collapsed=end.collapsed,
        drift=drift,
        moved=gone,
    )


def _finite(row: Change) -> Change:
    try:
        json.dumps(row.to_json(), allow_nan=False)
    except ValueError:
        raise NonFinite("changes: a number of the student is not finite; take smaller steps, or fewer") from None
    return row


def _plain(value: Any, path: str, reasons: dict[str, str]) -> Any:
    if isinstance(value, Undetermined):
        reasons[path] = value.reason
        return None
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(each, f"{path}.{i}", reasons) for i, each in enumerate(value)]
    if isinstance(value, dict):
        named = {f"{key:g}" if isinstance(key, float) else key: each for key, each in value.items()}
        return {key: _plain(each, f"{path}.{key}", reasons) for key, each in named.items()}
    return value
