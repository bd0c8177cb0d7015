"""How long the update's gradient is at each batch size, and at which its signal equals its noise.

The mean gradient G_B over B prompts has E |G_B|^2 = |mu|^2 + tr(Sigma) / B, where mu is the expected gradient and Sigma
the covariance of one prompt's. So |G_B| falls like B^(-1/2) while there is noise alone, and stays at |mu| once there is
signal alone; the two are equal at the noise scale B = tr(Sigma) / |mu|^2. Exact where a rollout or the longest answer
is what is averaged over; the mean over all tokens adds a term in 1 / B^2, as batches differ in length. An alpha or a
replay between 0 and 1 is rounded to whole prompts, so there the smallest batches are of another mix.
Source: McCandlish et al. 2018, "An empirical model of large-batch training".
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sim.config import MAX_ROLLOUTS, Config, Source
from sim.errors import Cancelled
from sim.frame import Reading, Undetermined
from sim.gradients import norm
from sim.simulator import Cancel, Simulator
from sim.timeline import Moment

Floats = NDArray[np.float64]

DRAWS = 16
MOST_PROMPTS = 256
#: Standard errors by which |mu|^2 has to lie above 0.
SIGNIFICANT = 2.0
_ROUNDS = 20


@dataclass(frozen=True)
class Size:
    """|G| at one batch size: the mean of |G|^2 over draws, that mean's standard error, and draws without a signal."""

    prompts: int
    rollouts: int
    draws: int
    squared: float
    error: float
    silent: int

    @property
    def root_mean_square(self) -> float:
        """The root of the mean of |G|^2."""
        return float(np.sqrt(self.squared))


@dataclass(frozen=True)
class BatchLaw:
    """What the lengths at several batch sizes say.

    `slope` is d log |G| / d log B by least squares: -1/2 for noise alone, 0 for signal alone. `signal` is |mu|^2 and
    `signal_error` its standard error, `noise` tr(Sigma) of one prompt. The noise scale, the batch at which the signal
    equals the noise, is in prompts and in rollouts; it is undetermined where |mu|^2 is not two standard errors above 0.
    """

    slope: Reading
    signal: Reading
    signal_error: Reading
    noise: Reading
    noise_scale_prompts: Reading
    noise_scale_rollouts: Reading


def sizes_of(config: Config) -> tuple[int, ...]:
    """The powers of two of prompts, from 1 to as many as a batch may have with the settings' group size."""
    most = min(MOST_PROMPTS, MAX_ROLLOUTS // config.source.group_size)
    return tuple(2**i for i in range(most.bit_length()))


def lengths(
    simulator: Simulator,
    config: Config,
    draws: int = DRAWS,
    progress: Callable[[int], None] | None = None,
    cancel: Cancel | None = None,
) -> Iterator[Size]:
    """|G| of the settings' update at the checkpoint, at each batch size in turn; no two batches share a draw.

    Args:
        simulator: the world, and what is remembered of it.
        config: the settings; their number of prompts is replaced.
        draws: batches a size, 2 or more.
        progress: called with the batches done, over all sizes, after each.
        cancel: asked before each batch.

    Raises:
        NonFinite: where a computation did not stay finite.
        Cancelled: if `cancel` says so.
    """
    for i, prompts in enumerate(sizes_of(config)):
        source = Source.model_validate(config.source.model_dump() | {"prompts": prompts})
        moment = Moment(config.model_copy(update={"source": source}))
        squares = np.zeros(draws)
        for d in range(draws):
            if cancel is not None and cancel():
                raise Cancelled(f"batch sizes: stopped at {prompts} prompts, draw {d} of {draws}")
            gradient, _ = simulator.gradient(replace(moment, draw=i * draws + d))
            squares[d] = norm(gradient) ** 2
            if progress is not None:
                progress(i * draws + d + 1)
        yield Size(
            prompts,
            source.rollouts,
            draws,
            float(squares.mean()),
            float(squares.std(ddof=1) / np.sqrt(draws)),
            int((squares == 0).sum()),
        )


def batch_law(sizes: Sequence[Size]) -> BatchLaw:
    """The slope, and signal and noise by weighted least squares of |G|^2 on 1 and 1 / B.

    A size's weight is one over its variance, whose relative size is the draws' and whose scale is the fit's own, found
    by iteration: weights from the means themselves would favour those that came out small.
    """
    seen = [size for size in sizes if size.squared > 0]
    if len(seen) < 3:
        few = Undetermined(f"{len(seen)} of {len(sizes)} batch sizes carry a signal; the fit needs 3")
        return BatchLaw(few, few, few, few, few, few)
    B, y = np.array([size.prompts for size in seen], float), np.array([size.squared for size in seen])
    slope = float(np.polyfit(np.log(B), np.log(y) / 2, 1)[0])
    # Without a floor a size whose draws happen to agree would decide alone.
    relative = np.array([size.error for size in seen]) / y
    relative = np.maximum(relative, max(float(np.median(relative)) / 3, 1e-9))
    (signal, noise), error = _fit(B, y, relative)
    scale: Reading
    if signal <= SIGNIFICANT * error:
        scale = Undetermined(
            f"the signal is not above the noise up to {int(B[-1])} prompts: |mu|^2 is {signal:.3g} +- {error:.3g}"
        )
        return BatchLaw(slope, signal, error, noise, scale, scale)
    scale = max(noise, 0.0) / signal
    return BatchLaw(slope, signal, error, noise, scale, scale * seen[0].rollouts / seen[0].prompts)


def _fit(B: Floats, y: Floats, relative: Floats) -> tuple[tuple[float, float], float]:
    """(|mu|^2, tr Sigma), and the standard error of the former, from means y of relative standard errors."""
    design = np.stack([np.ones_like(B), 1 / B], 1)
    fitted = y
    for _ in range(_ROUNDS):
        deviation = relative * fitted
        weighted = design / deviation[:, None]
        solution, *_ = np.linalg.lstsq(weighted, y / deviation, rcond=None)
        # A line that dips below zero cannot scale a variance.
        fitted = np.maximum(design @ solution, 0.1 * y)
    covariance = np.linalg.inv(weighted.T @ weighted)
    return (float(solution[0]), float(solution[1])), float(np.sqrt(covariance[0, 0]))
