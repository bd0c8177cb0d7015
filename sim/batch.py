"""A batch: sequences from the student or from data, and their token sites."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim.config import Source
from sim.language import BOS, EOS, FOREIGN, HOUSE, Problem, decode, draw_problem, encode, verify, write_solution
from sim.policy import Params, Policy
from sim.rng import generator
from sim.rollout import pad, sample


@dataclass(frozen=True)
class Batch:
    """B sequences: prompts and answers as token ids, with group, origin and reward.

    Rows of one group answer the same prompt; `on_policy_B` tells the student's own answers from data.
    """

    problems: tuple[Problem, ...]
    prompts: tuple[tuple[int, ...], ...]
    answers: tuple[tuple[int, ...], ...]
    group_B: NDArray[np.int64]
    on_policy_B: NDArray[np.bool_]
    reward_B: NDArray[np.float64]

    @cached_property
    def tokens_BT(self) -> Tensor:
        """Prompt and answer of each row, padded on the right."""
        return pad([p + a for p, a in zip(self.prompts, self.answers, strict=True)])

    @cached_property
    def sequence_N(self) -> NDArray[np.int64]:
        """The row of each site."""
        return np.repeat(np.arange(len(self.answers)), [len(answer) for answer in self.answers])

    @cached_property
    def position_N(self) -> NDArray[np.int64]:
        """The place of each site's token in its answer, from 0."""
        return np.concatenate([np.arange(len(answer)) for answer in self.answers])

    @cached_property
    def column_N(self) -> NDArray[np.int64]:
        """The column of each site's logits: that of the token before it."""
        lengths = np.array([len(prompt) for prompt in self.prompts])
        return lengths[self.sequence_N] + self.position_N - 1

    @cached_property
    def token_N(self) -> NDArray[np.int64]:
        """The token that stands at each site."""
        return np.concatenate([np.array(answer, np.int64) for answer in self.answers])

    def gather(self, values_BTX: Tensor) -> Tensor:
        """The rows [N, X] of the sites."""
        return values_BTX[torch.from_numpy(self.sequence_N), torch.from_numpy(self.column_N)]


def draw_batch(model: Policy, params: Params, source: Source, seed: int, step: int, draw: int) -> Batch:
    """The batch of one moment.

    Prompts, the data's words, the choice of which prompts the student answers and its samples come from
    four streams, so that moving a dial leaves the others' draws as they were. An exact share alpha of the
    prompts (rounded to whole prompts) is answered by the student; data answers are right and in `data_style`.
    """

    def stream(name: str) -> np.random.Generator:
        return generator(seed, name, step, draw)

    prompts_rng, data_rng = stream("prompts"), stream("data")
    problems = [draw_problem(prompts_rng) for _ in range(source.prompts)]
    order = np.argsort(stream("source").random(source.prompts), kind="stable")
    student_groups = set(order[: round(source.alpha * source.prompts)].tolist())
    style = HOUSE if source.data_style == "own" else FOREIGN
    data = [
        encode([*write_solution(data_rng, problem, style, key_move=True), EOS])
        for problem in problems
        for _ in range(source.group_size)
    ]
    group_B = np.repeat(np.arange(source.prompts), source.group_size)
    rows = [problems[group] for group in group_B]
    prompts = [encode([BOS, *problem.words]) for problem in rows]
    on_policy_B = np.array([group in student_groups for group in group_B])
    answers = data
    if student_groups:
        sampled = sample(model, params, prompts, stream("rollouts"), source.temperature)
        answers = [own if student else given for own, given, student in zip(sampled, data, on_policy_B, strict=True)]
    return Batch(
        tuple(rows),
        tuple(map(tuple, prompts)),
        tuple(map(tuple, answers)),
        group_B,
        on_policy_B,
        np.array([verify(problem, decode(answer)) for problem, answer in zip(rows, answers, strict=True)]),
    )
