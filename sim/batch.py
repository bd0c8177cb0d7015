"""A batch: sequences from the student or from data, and their token sites."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sim.config import Source
from sim.errors import InvalidInput
from sim.language import (
    BOS,
    EOS,
    FOREIGN,
    HOUSE,
    VOCABULARY,
    Problem,
    context_words,
    decode,
    draw_copying,
    draw_fact,
    draw_problem,
    encode,
    verify,
    write_solution,
)
from sim.policy import Params, Policy
from sim.rng import generator
from sim.rollout import MAX_NEW_TOKENS, pad, sample

Document = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Batch:
    """B sequences: prompts and answers as token ids, with group, origin and reward.

    Rows of one group answer the same prompt, but for documents of other skills, of which each row has its own and which
    have no problem. `on_policy_B` tells the student's own answers from data, `kept_B` what rejection sampling keeps,
    and `labelled_B` the rows whose tokens are labels: data, what is kept of the student's, what a teacher has written.
    """

    problems: tuple[Problem | None, ...]
    prompts: tuple[tuple[int, ...], ...]
    answers: tuple[tuple[int, ...], ...]
    group_B: NDArray[np.int64]
    on_policy_B: NDArray[np.bool_]
    reward_B: NDArray[np.float64]
    kept_B: NDArray[np.bool_]
    labelled_B: NDArray[np.bool_]

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


@dataclass(frozen=True)
class Continuing:
    """A teacher that goes on, for at most `words` words, from where the student's answer is cut."""

    model: Policy
    params: Params
    context: str
    words: int


def draw_batch(
    model: Policy,
    params: Params,
    source: Source,
    seed: int,
    step: int,
    draw: int,
    continuing: Continuing | None = None,
) -> Batch:
    """The batch of one moment.

    Prompts, the data's words, the choice of which prompts the student answers, its samples and so on come from a stream
    each, so that moving a dial leaves the others' draws as they were. An exact share alpha of the prompts (rounded to
    whole prompts) is answered by the student; the rest are data: answers in `data_style`, of which a share `data_skill`
    knows the key move, and an exact share `replay` of their prompts gives way to documents of the other skills.

    Raises:
        InvalidInput: if a continuing teacher's context does not fit its model, or its vocabulary is not the student's.
    """

    def stream(name: str) -> np.random.Generator:
        return generator(seed, name, step, draw)

    B = source.rollouts
    prompts_rng = stream("prompts")
    drawn = [draw_problem(prompts_rng) for _ in range(source.prompts)]
    order = np.argsort(stream("source").random(source.prompts), kind="stable")
    students = round(source.alpha * source.prompts)
    replayed = set(order[students:][: round(source.replay * (source.prompts - students))].tolist())
    group_B = np.repeat(np.arange(source.prompts), source.group_size)
    problems: list[Problem | None] = [None if group in replayed else drawn[group] for group in group_B]
    on_policy_B = np.isin(group_B, order[:students])
    documents = _documents([drawn[group] for group in group_B], source, stream)
    for row, document in enumerate(replays(stream("replay"), B) if replayed else []):
        if group_B[row] in replayed:
            documents[row] = document
    prompts, answers = [prompt for prompt, _ in documents], [answer for _, answer in documents]
    if students:
        # Every row is sampled, so that alpha leaves the samples of a prompt as they were.
        asked = [encode([BOS, *drawn[group].words]) for group in group_B]
        sampled = sample(model, params, asked, stream("rollouts"), source.temperature)
        answers = [own if student else given for own, given, student in zip(sampled, answers, on_policy_B, strict=True)]
    whole = answers
    if continuing is not None and students:
        shown = shown_contexts(problems, group_B, continuing.context, seed, step, draw)
        cut_B = (stream("cut").random(B) * [len(answer) for answer in answers]).astype(int)
        prompts, answers, whole = _continued(
            continuing, prompts, answers, shown, np.where(on_policy_B, cut_B, -1), stream("continuation"), source
        )
    reward_B = np.array(
        [1.0 if each is None else verify(each, decode(answer)) for each, answer in zip(problems, whole, strict=True)]
    )
    kept_B = ~on_policy_B | (reward_B == 1) if source.keep == "right" else np.ones(B, bool)
    labelled_B = ~on_policy_B if continuing is None else np.ones(B, bool)
    if source.keep == "right":
        labelled_B = labelled_B | kept_B
    return Batch(
        tuple(problems),
        tuple(map(tuple, prompts)),
        tuple(map(tuple, answers)),
        group_B,
        on_policy_B,
        reward_B,
        kept_B,
        labelled_B,
    )


def shown_contexts(
    problems: Sequence[Problem | None], group_B: NDArray[np.int64], context: str, seed: int, step: int, draw: int
) -> list[list[int]]:
    """What a teacher is shown before each row's prompt, as token ids; what is drawn is drawn once a group."""
    shown: dict[int, list[int]] = {}
    for problem, group in zip(problems, group_B.tolist(), strict=True):
        if group not in shown:
            rng = generator(seed, f"context {group}", step, draw)
            shown[group] = [] if problem is None else encode(context_words(context, problem, rng))
    return [shown[group] for group in group_B.tolist()]


def require_vocabulary(teacher: Policy) -> None:
    """Refuse a teacher whose words are not the student's."""
    if teacher.vocabulary != len(VOCABULARY):
        raise InvalidInput(
            [
                f"the teacher's vocabulary of {teacher.vocabulary} words is not the student's of {len(VOCABULARY)}: "
                "a teacher that splits text otherwise cannot speak of the student's tokens"
            ]
        )


def replays(rng: np.random.Generator, count: int) -> list[Document]:
    """Documents of the skills beside the task, facts and copying in equal shares, as prompt and answer tokens."""
    documents = (draw_fact(rng) if rng.random() < 0.5 else draw_copying(rng) for _ in range(count))
    return [(encode([BOS, *prompt]), encode([*answer, EOS])) for prompt, answer in documents]


def _documents(problems: list[Problem], source: Source, stream: Callable[[str], np.random.Generator]) -> list[Document]:
    """A document of data for each row: right unless its writer lacks the key move."""
    style = HOUSE if source.data_style == "own" else FOREIGN
    rng, skilled_B = stream("data"), stream("skill").random(len(problems)) < source.data_skill
    return [
        (
            encode([BOS, *problem.words]),
            encode([*write_solution(rng, problem, style, key_move=bool(skilled)), EOS]),
        )
        for problem, skilled in zip(problems, skilled_B, strict=True)
    ]


def _continued(
    continuing: Continuing,
    prompts: list[list[int]],
    answers: list[list[int]],
    shown: list[list[int]],
    cut_B: NDArray[np.int64],
    rng: np.random.Generator,
    source: Source,
) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """Rows cut at `cut_B` (-1: left as they are), with the teacher's words as answers; and the whole answers."""
    require_vocabulary(continuing.model)
    read = [
        [*prompt[:1], *before, *prompt[1:], *answer[: max(cut, 0)]]
        for prompt, before, answer, cut in zip(prompts, shown, answers, cut_B.tolist(), strict=True)
    ]
    # No further than an answer may go: a teacher that finds no end would leave its model's context.
    room = (MAX_NEW_TOKENS - np.maximum(cut_B, 0)).tolist()
    written = sample(continuing.model, continuing.params, read, rng, source.temperature, continuing.words, room)
    rows = [
        # A prompt that ends with the student's own words, the teacher's words, and the answer that both make.
        (prompt, answer, answer) if cut < 0 else ([*prompt, *answer[:cut]], words, [*answer[:cut], *words])
        for prompt, answer, words, cut in zip(prompts, answers, written, cut_B.tolist(), strict=True)
    ]
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
