"""Sampling: answers of a policy to prompts, each row from random numbers of its own."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from sim.errors import NonFinite
from sim.language import EOS_ID, PAD_ID
from sim.policy import Params, Policy

#: The longest answer that is sampled; a worked answer with a correction has 27 tokens.
MAX_NEW_TOKENS = 36


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    """Token rows [B, T] of int64, padded on the right."""
    tokens_BT = torch.full((len(rows), max((len(row) for row in rows), default=0)), PAD_ID)
    for i, row in enumerate(rows):
        tokens_BT[i, : len(row)] = torch.tensor(row, dtype=torch.int64)
    return tokens_BT


@torch.no_grad()
def sample(
    model: Policy,
    params: Params,
    prompts: Sequence[Sequence[int]],
    rng: np.random.Generator,
    temperature: float = 1.0,
    max_new_tokens: int = MAX_NEW_TOKENS,
    room: Sequence[int] | None = None,
) -> list[list[int]]:
    """Sampled answers, each with its end mark unless it was cut at `max_new_tokens`.

    Token y is drawn from softmax(logits / temperature) by inverting its cumulative distribution in
    float64 at a uniform number of (row, position). A row does not depend on the rows after it.

    Args:
        model: the policy.
        params: its parameters.
        prompts: token ids, begin mark included; they may differ in length.
        rng: gives one uniform number for each row and new position.
        temperature: of the policy that samples.
        max_new_tokens: where an answer is cut.
        room: where each row's answer is cut, if sooner; the random numbers are those without.

    Raises:
        InvalidInput: if a prompt and its answer do not fit the model's context.
        NonFinite: if the policy's logits are not finite.
    """
    u_BS = rng.random((len(prompts), max_new_tokens))
    lengths_B = np.array([len(prompt) for prompt in prompts])
    tokens_BT = np.full((len(prompts), int(lengths_B.max()) + max_new_tokens), PAD_ID)
    for i, prompt in enumerate(prompts):
        tokens_BT[i, : len(prompt)] = prompt
    decoder = model.decoder(params, len(prompts))
    end = int(lengths_B.min())
    logits_BV = decoder.append(torch.from_numpy(tokens_BT[:, :end]))
    ended_B = np.zeros(len(prompts), bool)
    limit_B = np.minimum(max_new_tokens, max_new_tokens if room is None else np.array(room))
    while True:
        logits = logits_BV.double().numpy() / temperature
        if not np.isfinite(logits).all():
            raise NonFinite("rollout: the policy's logits are not finite; go back and take smaller steps")
        p_BV = np.exp(logits - logits.max(-1, keepdims=True))
        cumulative_BV = np.cumsum(p_BV, -1)
        new_B = end - lengths_B
        samples_B = (new_B >= 0) & (new_B < limit_B) & ~ended_B
        u_B = u_BS[np.arange(len(prompts)), np.clip(new_B, 0, max_new_tokens - 1)]
        drawn_B = (cumulative_BV <= (u_B * cumulative_BV[:, -1])[:, None]).sum(-1)
        tokens_BT[samples_B, end] = np.minimum(drawn_B, p_BV.shape[-1] - 1)[samples_B]
        ended_B |= samples_B & ((tokens_BT[:, end] == EOS_ID) | (new_B == limit_B - 1))
        if ended_B.all():
            break
        logits_BV = decoder.append(torch.from_numpy(tokens_BT[:, end : end + 1]))
        end += 1
    answers = []
    for row, prompt, limit in zip(tokens_BT, prompts, np.broadcast_to(limit_B, len(prompts)), strict=True):
        answer = row[len(prompt) : len(prompt) + limit].tolist()
        answers.append(answer[: answer.index(EOS_ID) + 1] if EOS_ID in answer else answer)
    return answers
