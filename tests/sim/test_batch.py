"""Batches: where the prefixes come from, and that one dial moves nothing else."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sim.batch import Batch, draw_batch
from sim.config import Source
from sim.language import BOS, EOS_ID, FOREIGN, decode, encode, verify
from sim.policy import Transformer
from tests import reference as slow

MODEL = Transformer(layers=1, width=16, heads=2)
PARAMS = slow.random_params(MODEL, 0)


def batch(seed: int = 0, step: int = 0, draw: int = 0, **source: Any) -> Batch:
    return draw_batch(MODEL, PARAMS, Source(**{"prompts": 4, "group_size": 3} | source), seed, step, draw)


def test_the_same_moment_gives_the_same_batch() -> None:
    one, two = batch(3, 1, 2), batch(3, 1, 2)
    assert one.prompts == two.prompts
    assert one.answers == two.answers


@pytest.mark.parametrize("other", [(4, 1, 2), (3, 2, 2), (3, 1, 3)])
def test_another_seed_step_or_draw_gives_another_batch(other: tuple[int, int, int]) -> None:
    assert batch(3, 1, 2).prompts != batch(*other).prompts
    assert batch(3, 1, 2).answers != batch(*other).answers


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_larger_batch_begins_with_the_smaller_one(alpha: float) -> None:
    small, large = batch(prompts=3, alpha=alpha), batch(prompts=7, alpha=alpha)
    assert large.prompts[:9] == small.prompts
    assert large.answers[:9] == small.answers
    assert large.reward_B[:9].tolist() == small.reward_B.tolist()


@pytest.mark.parametrize(
    ("alpha", "prompts", "students"), [(0, 8, 0), (0.25, 8, 2), (0.5, 8, 4), (0.3, 10, 3), (1, 8, 8)]
)
def test_alpha_is_the_exact_share_of_prompts_that_the_student_answers(
    alpha: float, prompts: int, students: int
) -> None:
    found = batch(alpha=float(alpha), prompts=prompts)
    by_group = found.on_policy_B.reshape(prompts, 3)
    assert (by_group == by_group[:, :1]).all()
    assert by_group[:, 0].sum() == students


def test_turning_alpha_up_hands_prompts_to_the_student_and_leaves_the_rest_as_it_was() -> None:
    whole = [batch(alpha=alpha, prompts=8) for alpha in (0.0, 0.25, 0.5, 1.0)]
    for low, high in pairwise(whole):
        assert low.prompts == high.prompts
        assert (high.on_policy_B | ~low.on_policy_B).all()
        for r in np.flatnonzero(low.on_policy_B == high.on_policy_B):
            assert low.answers[r] == high.answers[r]


def test_data_are_right_and_end_and_cost_nothing_of_the_student() -> None:
    found = batch(alpha=0.0, prompts=20)
    assert not found.on_policy_B.any()
    assert (found.reward_B == 1).all()
    assert all(answer[-1] == EOS_ID for answer in found.answers)


def test_a_foreign_annotator_writes_foreign_words_about_the_same_problems() -> None:
    own, foreign = (batch(alpha=0.0, data_style=style, prompts=10) for style in ("own", "foreign"))
    assert own.prompts == foreign.prompts
    for a, b in zip(own.answers, foreign.answers, strict=True):
        assert decode(b)[0] in FOREIGN.opener
        assert decode(b)[-3] == "result"
        assert decode(a)[-3] == "answer"


def test_a_dial_that_is_not_the_samplers_leaves_the_prompts_alone() -> None:
    assert batch(temperature=0.5).prompts == batch(temperature=2.0).prompts
    assert batch(temperature=0.5).answers != batch(temperature=2.0).answers


def test_groups_answer_one_prompt_and_rewards_are_the_verifiers() -> None:
    found = batch(alpha=0.5, prompts=6)
    assert found.group_B.tolist() == np.repeat(np.arange(6), 3).tolist()
    for r, problem in enumerate(found.problems):
        assert found.prompts[r] == tuple(encode([BOS, *problem.words]))
        assert found.prompts[r] == found.prompts[3 * found.group_B[r]]
        assert found.reward_B[r] == verify(problem, decode(found.answers[r]))


def test_sites_stand_where_the_answers_tokens_stand() -> None:
    found = slow.random_batch()
    expected = [
        (r, j, len(found.prompts[r]) + j - 1, token)
        for r, answer in enumerate(found.answers)
        for j, token in enumerate(answer)
    ]
    fields = (found.sequence_N, found.position_N, found.column_N, found.token_N)
    assert list(zip(*(field.tolist() for field in fields), strict=True)) == expected


def test_an_answer_that_is_empty_has_no_sites() -> None:
    found = slow.make_batch([[1, 2], [3]], [[], [4, 5]])
    assert found.sequence_N.tolist() == [1, 1]
    assert found.position_N.tolist() == [0, 1]
    assert found.column_N.tolist() == [0, 1]
