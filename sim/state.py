"""The state of a run: parameters, their moving average, the optimiser's moments."""

from dataclasses import dataclass

from sim.config import Config
from sim.optimiser import Moments, Step
from sim.policy import Params


@dataclass(frozen=True)
class State:
    """What a step changes. `average` follows the parameters for a teacher that is their moving average."""

    params: Params
    average: Params
    moments: Moments

    @classmethod
    def initial(cls, params: Params) -> "State":
        """The state at the checkpoint."""
        return cls(params, params, Moments.zero(params))

    def advance(self, proposed: Step, config: Config) -> "State":
        """The state after a step: theta + step, and average <- decay * average + (1 - decay) * theta."""
        decay = config.teacher.decay
        params = {name: value + proposed.step[name] for name, value in self.params.items()}
        average = {name: decay * value + (1 - decay) * params[name] for name, value in self.average.items()}
        return State(params, average, proposed.moments)
