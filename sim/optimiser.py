"""Optimisers: from the mean gradient to the step that would be taken, without taking it."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim.batch import Batch
from sim.config import Update
from sim.gradients import Gradient
from sim.policy import Params
from sim.rollout import MAX_NEW_TOKENS

#: Adam's constants, those of its paper and of torch.
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class Moments:
    """Adam's running averages of the gradient and of its square, after `count` steps."""

    count: int
    mean: Params
    square: Params

    @classmethod
    def zero(cls, params: Params) -> "Moments":
        """Before the first step."""
        return cls(0, *({name: torch.zeros_like(value) for name, value in params.items()} for _ in range(2)))


@dataclass(frozen=True)
class Step:
    """What an update would add to the parameters (ascent), and the moments that it would leave.

    `preconditioner` is the diagonal by which Adam scales each coordinate of the gradient, None for SGD.
    """

    step: Gradient
    moments: Moments
    preconditioner: Gradient | None


def propose(gradient: Gradient, update: Update, moments: Moments) -> Step:
    """The step of SGD, eta G, or of Adam, eta m^ / (sqrt(v^) + eps), for an ascent gradient G.

    m^ and v^ are the bias-corrected averages, this gradient included. A coordinate whose gradient was always zero does
    not move.
    """
    eta = update.step_size
    if update.optimiser == "sgd":
        return Step({name: eta * value for name, value in gradient.items()}, moments, None)
    count = moments.count + 1
    mean = {name: BETA_1 * moments.mean[name] + (1 - BETA_1) * g for name, g in gradient.items()}
    square = {name: BETA_2 * moments.square[name] + (1 - BETA_2) * g * g for name, g in gradient.items()}
    first, second = 1 - BETA_1**count, 1 - BETA_2**count
    preconditioner = {name: 1 / ((value / second).sqrt() + EPSILON) for name, value in square.items()}
    step = {name: eta * value / first * preconditioner[name] for name, value in mean.items()}
    return Step(step, Moments(count, mean, square), preconditioner)


def token_weights(batch: Batch, aggregation: str) -> Tensor:
    """a_N, by which per-token gradients add up to the mean gradient G = sum_n a_n g_n.

    token: 1 / N; sequence: 1 / (B length of the rollout); constant: 1 / (B longest answer that is allowed). Rollouts
    that rejection sampling drops have weight 0 and count in neither N nor B.
    """
    lengths_B: NDArray[np.int64] = np.array([len(answer) for answer in batch.answers])
    kept_N = batch.kept_B[batch.sequence_N]
    B, N = max(1, int(batch.kept_B.sum())), max(1, int(kept_N.sum()))
    if aggregation == "token":
        weights_N = np.full(len(kept_N), 1 / N)
    elif aggregation == "sequence":
        weights_N = 1 / (B * lengths_B[batch.sequence_N])
    else:
        weights_N = np.full(len(kept_N), 1 / (B * MAX_NEW_TOKENS))
    return torch.from_numpy(weights_N * kept_N).float()
