"""Teachers: log-probabilities of another policy, or of the student shown a context, at the student's own sites."""

import torch
from torch import Tensor

from sim.batch import Batch, require_vocabulary, shown_contexts
from sim.config import Clip, Config
from sim.policy import Params, Policy
from sim.rollout import pad
from sim.signals import Signal, advantages, forward, jsd, label, onehot, reverse, sampled_reverse


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
    require_vocabulary(model)
    shown = shown_contexts(batch.problems, batch.group_B, context, seed, step, draw)
    rows = [
        [*prompt[:1], *before, *prompt[1:], *answer]
        for before, prompt, answer in zip(shown, batch.prompts, batch.answers, strict=True)
    ]
    tokens_BT = pad(rows)
    logits_BTV = model.logits(params, tokens_BT[:, :-1])
    columns_N = (
        torch.from_numpy(batch.column_N)
        + torch.tensor([len(before) for before in shown])[torch.from_numpy(batch.sequence_N)]
    )
    logits_NV = logits_BTV[torch.from_numpy(batch.sequence_N), columns_N]
    return (logits_NV / temperature).log_softmax(-1)


def weigh(
    batch: Batch, log_p_NV: Tensor, log_q_NV: Tensor | None, config: Config, log_ref_NV: Tensor | None = None
) -> Signal:
    """The weight rows of a configuration.

    w = lambda * (teacher term, clipped) + (1 - lambda) * advantage * onehot(y) + beta * (pull to the reference), and 0
    on answers that rejection sampling drops.

    Args:
        batch: the sites.
        log_p_NV: the student's log-probabilities, detached.
        log_q_NV: the teacher's; None for a label, and where lambda (`teacher.weight`) is 0.
        config: which divergence, clip, reward, lambda and beta (`reference.beta`).
        log_ref_NV: the reference policy's; None where beta is 0.

    The divergence `kl_N` is the teacher's, NaN where none speaks: on an answer of the student's own, a label is known
    only where rejection sampling has accepted it.
    """
    token_N = torch.from_numpy(batch.token_N)
    mix, beta = config.teacher.weight, config.reference.beta
    A_B = advantages(batch.reward_B, batch.group_B, config.reward)
    A_N = torch.from_numpy(A_B[batch.sequence_N]).to(log_p_NV)
    rows_NV = (1 - mix) * onehot(token_N, A_N, log_p_NV)
    signal_N = (1 - mix) * A_N
    kl_N = torch.full_like(signal_N, torch.nan)
    clipped_N = torch.zeros_like(token_N, dtype=torch.bool)
    if mix > 0:
        term = _teacher_term(batch, log_p_NV, log_q_NV, config)
        rows_NV, signal_N = rows_NV + mix * term.rows_NV, signal_N + mix * term.signal_N
        kl_N, clipped_N = term.kl_N, term.clipped_N
    if log_ref_NV is not None and beta > 0:
        towards = forward if config.reference.divergence == "forward" else reverse
        pull = towards(log_p_NV, log_ref_NV, Clip())
        rows_NV, signal_N = rows_NV + beta * pull.rows_NV, signal_N + beta * pull.signal_N
    kept_N = torch.from_numpy(batch.kept_B[batch.sequence_N])
    return Signal(
        torch.where(kept_N[:, None], rows_NV, 0.0), torch.where(kept_N, signal_N, 0.0), kl_N, clipped_N & kept_N
    )


def _teacher_term(batch: Batch, log_p_NV: Tensor, log_q_NV: Tensor | None, config: Config) -> Signal:
    token_N, teacher, clip = torch.from_numpy(batch.token_N), config.teacher, config.clip
    if teacher.policy == "label" or teacher.divergence == "continuation":
        term = label(log_p_NV, token_N, clip, teacher.label_weight if teacher.policy == "label" else "one")
        known_N = torch.from_numpy(batch.labelled_B[batch.sequence_N])
        return Signal(
            term.rows_NV * known_N[:, None],
            term.signal_N * known_N,
            torch.where(known_N, term.kl_N, torch.nan),
            term.clipped_N & known_N,
        )
    if log_q_NV is None:
        raise ValueError(f"teacher.policy {teacher.policy!r} needs its log-probabilities, and got None")
    if teacher.divergence == "sampled-reverse":
        return sampled_reverse(log_p_NV, log_q_NV, token_N, clip)
    if teacher.divergence == "jsd":
        return jsd(log_p_NV, log_q_NV, teacher.jsd_beta, clip)
    return (reverse if teacher.divergence == "reverse" else forward)(log_p_NV, log_q_NV, clip)
