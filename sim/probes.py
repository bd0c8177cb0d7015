"""Experiments at the checkpoint: clouds of several draws, batch sizes, clamped arrows, the slope of the reward."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch

from sim.batch import draw_batch
from sim.batch_law import batch_law, lengths
from sim.config import Clip, Config, Source
from sim.errors import Cancelled
from sim.experiments import Result, mean, plain
from sim.frame import Frame, readings
from sim.gradients import dot, norm
from sim.language import LARGEST_NUMBER, style_words
from sim.simulator import Cancel, Simulator
from sim.timeline import Moment

NUMBERS = frozenset([*map(str, range(LARGEST_NUMBER + 1)), "+", "*", "="])


def asked(numbers: Iterable[int], cancel: Cancel | None) -> Iterator[int]:
    """The numbers, one by one; Cancelled as soon as `cancel` says so."""
    for number in numbers:
        if cancel is not None and cancel():
            raise Cancelled(f"an experiment: stopped before number {number}")
        yield number


@dataclass(frozen=True)
class Cloud:
    """The clouds of several draws at the checkpoint: every reading, and what kinds of words pull."""

    config: Config
    draws: int
    exact: bool = False

    @property
    def work(self) -> int:
        """Draws count a few steps each, more with exact norms."""
        return self.draws * (5 if self.exact else 2)

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        """The means over draws of each reading that is determined, by dotted path; verdicts; words."""
        frames = [
            simulator.frame(replace(Moment(self.config), draw=draw), complete=self.exact, cancel=cancel)
            for draw in asked(range(self.draws), cancel)
        ]
        found: dict[str, list[float]] = {}
        for frame in frames:
            for path, value in readings(frame):
                if isinstance(value, float):
                    found.setdefault(path, []).append(value)
        worded = [words(frame) for frame in frames]
        return {
            "readings": {path: float(np.mean(values)) for path, values in found.items()},
            "levels": [frame.verdict.level for frame in frames],
            "words": {key: mean([each[key] for each in worded]) for key in worded[0]},
        }


def words(frame: Frame) -> dict[str, float | None]:
    """What words of style and of arithmetic (numbers, + * =) pull, by the word that was written.

    ``kl_style``, ``kl_arithmetic``: mean nats a site of the kind; ``share_style``: the style words' part of the signed
    shares; ``most_style``: among the top 1 % of sites by share, those whose step raises a style word most.
    """
    table, style = frame.sites, style_words()
    kinds = np.array([word in style for word in table.text])
    numbers = np.array([word in NUMBERS for word in table.text])
    kl_N, share_N = np.asarray(table.kl), np.asarray(table.share)
    top = np.argsort(share_N)[-max(1, round(0.01 * len(share_N))) :]
    known = np.isfinite(share_N).all()
    return {
        "kl_style": mean(kl_N[kinds].tolist()),
        "kl_arithmetic": mean(kl_N[numbers].tolist()),
        "share_style": float(share_N[kinds].sum()) if known else None,
        "most_style": float(np.mean([table.raised[i] in style for i in top])) if known else None,
        "sites_style": float(kinds.mean()),
    }


@dataclass(frozen=True)
class BatchSizes:
    """How the update's length falls with the batch."""

    config: Config
    draws: int

    @property
    def work(self) -> int:
        """Seven sizes, the largest four times a usual batch."""
        return 8 * self.draws

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        """The fitted law, and the lengths."""
        sizes = list(lengths(simulator, self.config, self.draws, None, cancel))
        law = batch_law(sizes)
        return {
            "slope": plain(law.slope),
            "noise_scale_rollouts": plain(law.noise_scale_rollouts),
            "rollouts": [size.rollouts for size in sizes],
            "lengths": [size.root_mean_square for size in sizes],
            "silent": [size.silent / size.draws for size in sizes],
        }


@dataclass(frozen=True)
class ClampedArrows:
    """Arrows and update with the clip and without, at the same batch."""

    config: Config
    draws: int

    @property
    def work(self) -> int:
        """A few steps a draw."""
        return 3 * self.draws

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        """``turned``: the share of clipped sites whose arrow in logits points against its own; the update's cosine."""
        turned, pivots, cosines = [], [], []
        free = self.config.model_copy(update={"clip": Clip()})
        for draw in asked(range(self.draws), cancel):
            moment = replace(Moment(self.config), draw=draw)
            clipped_NV = simulator.cotangents(moment, cancel)
            free_NV = simulator.cotangents(moment.with_config(free), cancel)
            cosine_N = torch.nn.functional.cosine_similarity(clipped_NV.double(), free_NV.double(), dim=-1).numpy()
            bit_N = (clipped_NV != free_NV).any(-1).numpy() & (clipped_NV != 0).any(-1).numpy()
            largest = int(free_NV.norm(dim=-1).argmax())
            turned.append(float((cosine_N[bit_N] < 0).mean()) if bit_N.any() else 0.0)
            pivots.append(float(cosine_N[largest]))
            one, _ = simulator.gradient(moment, cancel)
            other, _ = simulator.gradient(moment.with_config(free), cancel)
            cosines.append(dot(one, other) / (norm(one) * norm(other)))
        return {"turned": mean(turned), "pivot_cosine": mean(pivots), "update_cosine": mean(cosines)}


@dataclass(frozen=True)
class RewardSlope:
    """The slope of expected reward along a fixed direction: as the policy gradient says, and as rollouts show."""

    config: Config
    draws: int
    rollouts: int
    reach: float

    @property
    def work(self) -> int:
        """Large batches on both sides."""
        return 6 * self.draws + self.rollouts // 20

    def measure(self, simulator: Simulator, cancel: Cancel | None = None) -> Result:
        """``said``: the mean over draws of <grad J, u>, with its standard error; ``seen``: (4 s(h) - s(2 h)) / 3.

        s(h) = (J(h) - J(-h)) / 2 h at h = reach, with the same random numbers; its error of order h^2 cancels.
        """
        base = simulator.world.policies["base"]
        u = {name: value[0] for name, value in simulator.world.plane.directions.items()}
        said = []
        for draw in asked(range(self.draws), cancel):
            gradient, batch = simulator.gradient(replace(Moment(self.config), draw=draw), cancel)
            tokens = sum(len(answer) for answer in batch.answers)
            # The token mean divides by tokens; the gradient of expected reward divides by rollouts.
            said.append(dot(gradient, u) * tokens / len(batch.answers))
        rewards = []
        for distance in (1, -1, 2, -2):
            params = {name: value + distance * self.reach * u[name] for name, value in base.params.items()}
            source = Source(prompts=256, group_size=1)
            drawn = [
                draw_batch(base.model, params, source, self.config.seed, 1, k).reward_B
                for k in asked(range(self.rollouts // 256), cancel)
            ]
            rewards.append(float(np.concatenate(drawn).mean()))
        near, far = ((rewards[i] - rewards[i + 1]) / (2 * h * self.reach) for i, h in ((0, 1), (2, 2)))
        return {
            "said": float(np.mean(said)),
            "error": float(np.std(said, ddof=1) / np.sqrt(len(said))),
            "seen": (4 * near - far) / 3,
            "rewards": rewards,
        }
