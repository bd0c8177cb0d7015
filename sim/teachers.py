"""Teachers: log-probabilities of another policy, or of the student shown a context, at the student's own sites."""

import torch
from torch import Tensor

from sim.batch import Batch
from sim.config import Config
from sim.errors import InvalidInput
from sim.language import VOCABULARY, context_words, encode
from sim.policy import Params, Policy
from sim.rng import generator
from sim.rollout import pad
from sim.signals import Signal, advantages, forward, label, onehot, reverse, sampled_reverse


@torch.no_grad()
def teacher_log_probs(
    model: Policy, params: Params, batch: Batch, context: str, seed: int, step: int, draw: int, temperature: float
) -> Tensor:
    """log q_NV: what a teacher gives each word at each site of the batch.

    The context is put before the student's prompt, in the teacher's input only; the answer's tokens are the
    same ones, one row each, so that the teacher speaks of the student's own prefixes. The teacher is
    read at the student's temperature. Contexts that are drawn are drawn once a group.

    Raises:
        InvalidInput: if a context makes a row too long for the teacher (it is never cut), or if its vocabulary
            is not the student's.
    """
    if model.vocabulary != len(VOCABULARY):
        raise InvalidInput(
            [
                f"the teacher's vocabulary of {model.vocabulary} words is not the student's of {len(VOCABULARY)}: "
                "a teacher that splits text otherwise cannot speak of the student's tokens"
            ]
        )
    rows, starts = [], []
    shown: dict[int, list[int]] = {}
    for i, (problem, prompt, answer) in enumerate(zip(batch.problems, batch.prompts, batch.answers, strict=True)):
        group = int(batch.group_B[i])
        if group not in shown:
            rng = generator(seed, f"context {group}", step, draw)
            shown[group] = encode(context_words(context, problem, rng))
        begin, rest = prompt[:1], prompt[1:]
        rows.append([*begin, *shown[group], *rest, *answer])
        starts.append(len(shown[group]))
    tokens_BT = pad(rows)
    logits_BTV = model.logits(params, tokens_BT[:, :-1])
    columns_N = torch.from_numpy(batch.column_N) + torch.tensor(starts)[torch.from_numpy(batch.sequence_N)]
    logits_NV = logits_BTV[torch.from_numpy(batch.sequence_N), columns_N]
    return (logits_NV / temperature).log_softmax(-1)


def weigh(batch: Batch, log_p_NV: Tensor, log_q_NV: Tensor | None, config: Config) -> Signal:
    """The weight rows of a configuration: lambda * (teacher term, clipped) + (1 - lambda) * advantage * onehot(y).

    Args:
        batch: the sites.
        log_p_NV: the student's log-probabilities, detached.
        log_q_NV: the teacher's; None for a label.
        config: which divergence, clip, reward and lambda (`teacher.weight`).

    A label is known on the data's own prefixes only: on the student's, the teacher term is zero.
    """
    token_N = torch.from_numpy(batch.token_N)
    teacher = config.teacher
    if log_q_NV is None:
        term = label(log_p_NV, token_N, config.clip)
        known_N = torch.from_numpy(~batch.on_policy_B[batch.sequence_N])
        term = Signal(
            term.rows_NV * known_N[:, None],
            term.signal_N * known_N,
            torch.where(known_N, term.kl_N, torch.nan),
            term.clipped_N & known_N,
        )
    elif teacher.divergence == "sampled-reverse":
        term = sampled_reverse(log_p_NV, log_q_NV, token_N, config.clip)
    else:
        term = (reverse if teacher.divergence == "reverse" else forward)(log_p_NV, log_q_NV, config.clip)
    A_B = advantages(batch.reward_B, batch.group_B, config.reward)
    A_N = torch.from_numpy(A_B[batch.sequence_N]).to(log_p_NV)
    mix = teacher.weight
    rows_NV = mix * term.rows_NV + (1 - mix) * onehot(token_N, A_N, log_p_NV)
    signal_N = mix * term.signal_N + (1 - mix) * A_N
    return Signal(rows_NV, signal_N, term.kl_N, term.clipped_N & torch.tensor(mix > 0))
