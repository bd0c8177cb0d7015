"""A run as it is ordered: phases of steps, and all else that determines what it records."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sim.config import Config
from sim.timeline import Path
from sim.world import World


@dataclass(frozen=True)
class Phase:
    """So many steps under some settings."""

    config: Config
    steps: int


@dataclass(frozen=True)
class Plan:
    """All that determines the records of a run; `weights` is the world's key."""

    phases: tuple[Phase, ...]
    every: int
    measures: bool
    rule: float
    stop: bool
    begin: Path
    weights: str

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The step at which each phase ends."""
        return tuple(sum(phase.steps for phase in self.phases[: i + 1]) for i in range(len(self.phases)))

    @property
    def total(self) -> int:
        """Steps of the whole run."""
        return self.ends[-1]

    def config(self, step: int) -> Config:
        """The settings of the update that follows `step` steps; after the last one, those of the last phase."""
        ahead = [phase.config for phase, end in zip(self.phases, self.ends, strict=True) if step < end]
        return ahead[0] if ahead else self.phases[-1].config

    def path(self, step: int) -> Path:
        """The steps taken, `begin` included, each from the first draw of its moment."""
        path = self.begin
        for done in range(step):
            path = path.then(self.config(done), 0)
        return path

    def recorded(self, step: int) -> bool:
        """Whether there is a record after `step` steps: at the start, every so many, and where a phase ends."""
        return step % self.every == 0 or step in self.ends

    def settings(self) -> dict[str, Any]:
        """The plan as JSON values."""
        return {
            "phases": [{"steps": phase.steps, "config": phase.config.model_dump(mode="json")} for phase in self.phases],
            "every": self.every,
            "measures": self.measures,
            "collapse": self.rule,
            "stop": self.stop,
            "begin": self.begin.key,
            "weights": self.weights,
        }


def world_key(world: World) -> str:
    """A hash of every policy's parameters: equal keys, equal runs."""
    digest = hashlib.sha256()
    for policy, weights in sorted(world.policies.items()):
        for name, value in sorted(weights.params.items()):
            digest.update(f"{policy} {name} {tuple(value.shape)}".encode())
            digest.update(value.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()
