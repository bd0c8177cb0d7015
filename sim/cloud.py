"""The cloud as a table: a row for each token site, and the sequences that they stand in."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim.batch import Batch
from sim.config import Config
from sim.frame import Rollout, Sites
from sim.language import VOCABULARY, decode
from sim.signals import Signal, advantages

Floats = NDArray[np.float64]


def sites(
    batch: Batch,
    p_NV: Tensor,
    signal: Signal,
    log_q_NV: Tensor | None,
    xy_N2: Floats,
    unclipped_N2: Floats,
    share_N: Floats,
) -> Sites:
    """The sites of a batch, their norms still to come.

    Args:
        batch: the sequences.
        p_NV: the student's probabilities.
        signal: the weight rows.
        log_q_NV: the teacher's log-probabilities, None for a label or where no teacher speaks.
        xy_N2: coordinates in the picture's units.
        unclipped_N2: the same without the clip.
        share_N: signed shares of the update.
    """
    token_N = torch.from_numpy(batch.token_N)
    on_policy_N = batch.on_policy_B[batch.sequence_N]
    silent_N = (signal.rows_NV == 0).all(-1)
    most_N = (signal.rows_NV - p_NV * signal.rows_NV.sum(-1, keepdim=True)).argmax(-1)
    raised_N = torch.where(silent_N, token_N, most_N)

    def student(word_N: Tensor) -> Floats:
        return np.asarray(p_NV.gather(-1, word_N[:, None])[:, 0].double().numpy())

    def teacher(word_N: Tensor) -> Floats:
        if log_q_NV is None:
            return np.asarray(torch.where(signal.kl_N.isnan(), torch.nan, (word_N == token_N).double()).numpy())
        return np.asarray(log_q_NV.gather(-1, word_N[:, None])[:, 0].exp().double().numpy())

    spoken = [decode(prompt[1:]) + decode(answer) for prompt, answer in zip(batch.prompts, batch.answers, strict=True)]
    return Sites(
        text=tuple(VOCABULARY[token] for token in batch.token_N),
        raised=tuple("" if silent else VOCABULARY[v] for v, silent in zip(raised_N, silent_N, strict=True)),
        raised_student_p=student(raised_N),
        raised_teacher_p=teacher(raised_N),
        prefix=tuple(" ".join(spoken[r][:end]) for r, end in zip(batch.sequence_N, batch.column_N, strict=True)),
        sequence=batch.sequence_N,
        position=batch.position_N,
        x=xy_N2[:, 0],
        y=xy_N2[:, 1],
        norm=None,
        signal=signal.signal_N.double().numpy(),
        share=share_N,
        student_p=student(token_N),
        teacher_p=teacher(token_N),
        kl=signal.kl_N.double().numpy(),
        clipped=signal.clipped_N.numpy(),
        on_policy=on_policy_N,
        unclipped_x=unclipped_N2[:, 0],
        unclipped_y=unclipped_N2[:, 1],
    )


def rollouts(batch: Batch, config: Config) -> tuple[Rollout, ...]:
    """The sequences of a batch as text, with reward and advantage."""
    A_B = advantages(batch.reward_B, batch.group_B, config.reward)
    return tuple(
        Rollout(
            prompt=" ".join(decode(batch.prompts[r][1:])),
            answer=" ".join(decode(batch.answers[r])),
            reward=float(batch.reward_B[r]),
            advantage=float(A_B[r]),
            group=int(batch.group_B[r]),
            on_policy=bool(batch.on_policy_B[r]),
            kept=bool(batch.kept_B[r]),
        )
        for r in range(len(batch.answers))
    )
