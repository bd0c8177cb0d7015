"""Batches: where the prefixes come from, and that one dial moves nothing else."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sim.batch import Batch, Continuing, draw_batch
from sim.config import Source
from sim.language import BOS, EOS, EOS_ID, FOREIGN, KINDS, LETTERS, VALUES, context_words, decode, encode, fact, verify
from sim.policy import Transformer
from sim.rng import generator
from sim.world import World
from tests import reference as slow

MODEL = Transformer(layers=1, width=16, heads=2)
PARAMS = slow.random_params(MODEL, 0)


TEACHER = Transformer(layers=1, width=12, heads=3)
TEACHER_PARAMS = slow.random_params(TEACHER, 1)


def batch(seed: int = 0, step: int = 0, draw: int = 0, continuing: Continuing | None = None, **source: Any) -> Batch:
    return draw_batch(MODEL, PARAMS, Source(**{"prompts": 4, "group_size": 3} | source), seed, step, draw, continuing)


def goes_on(words: int = 8, context: str = "none", other: bool = False) -> Continuing:
    """A teacher that continues; another one where asked."""
    return Continuing(TEACHER, slow.random_params(TEACHER, 2) if other else TEACHER_PARAMS, context, words)


def own_words(found: Batch) -> list[tuple[int, ...]]:
    """What stands between each row's problem and its answer."""
    return [prompt[prompt.index(encode(["?"])[0]) + 1 :] for prompt in found.prompts]


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


@pytest.mark.parametrize(
    ("replay", "alpha", "prompts", "replayed"),
    [(0, 0, 8, 0), (0.25, 0, 8, 2), (0.5, 0.5, 8, 2), (0.3, 0, 10, 3), (1, 0.25, 8, 6), (1, 1, 4, 0)],
)
def test_replay_is_the_exact_share_of_the_datas_prompts(
    replay: float, alpha: float, prompts: int, replayed: int
) -> None:
    found = batch(replay=float(replay), alpha=float(alpha), prompts=prompts)
    other_B = np.array([problem is None for problem in found.problems])
    assert (other_B.reshape(prompts, 3) == other_B.reshape(prompts, 3)[:, :1]).all()
    assert other_B.sum() == 3 * replayed
    assert not (other_B & found.on_policy_B).any()


def test_replayed_documents_are_right_facts_and_right_copies() -> None:
    found = batch(replay=1.0, alpha=0.0, prompts=40)
    verbs = set()
    for prompt, answer in zip(map(decode, found.prompts), map(decode, found.answers), strict=True):
        assert (prompt[0], prompt[-1], answer[-1]) == (BOS, "?", EOS)
        verb, *words = prompt[1:-1]
        verbs.add(verb)
        if verb == "tell":
            attribute, of, kind, letter = words
            assert (attribute in VALUES, of, kind in KINDS, letter in LETTERS) == (True, "of", True, True)
            assert answer[:-1] == [fact(attribute, kind, letter)]
        else:
            assert answer[:-1] == (words if verb == "copy" else words[::-1])
    assert verbs == {"tell", "copy", "reverse"}
    assert (found.reward_B == 1).all()
    assert found.labelled_B.all()


def same_rows(one: Batch, two: Batch, rows: Any) -> None:
    """Prompts, answers and rewards of some rows are the same in two batches; there are some."""
    rows = np.flatnonzero(rows)
    assert len(rows)
    for r in rows:
        assert one.prompts[r] == two.prompts[r]
        assert one.answers[r] == two.answers[r]
        assert one.reward_B[r] == two.reward_B[r]


def test_turning_replay_up_replaces_more_of_the_data_and_moves_nothing_else() -> None:
    whole = [batch(alpha=0.25, replay=replay, prompts=8, data_skill=0.5) for replay in (0.0, 0.34, 0.67, 1.0)]
    for low, high in pairwise(whole):
        before, after = (np.array([problem is None for problem in found.problems]) for found in (low, high))
        assert (after | ~before).all()
        assert after.sum() > before.sum()
        assert (low.on_policy_B == high.on_policy_B).all()
        same_rows(low, high, before == after)


def test_turning_alpha_moves_neither_the_data_nor_the_documents_that_stay() -> None:
    for low, high in pairwise(batch(alpha=alpha, replay=0.5, prompts=8, data_skill=0.5) for alpha in (0.0, 0.25, 0.5)):
        before, after = (np.array([problem is None for problem in found.problems]) for found in (low, high))
        same_rows(low, high, (low.on_policy_B == high.on_policy_B) & (before == after))


def test_an_annotator_without_the_key_move_is_wrong_exactly_where_it_is_needed() -> None:
    found, right = (batch(alpha=0.0, prompts=30, data_skill=skill) for skill in (0.0, 1.0))
    needs_B = np.array([problem is not None and problem.needs_key_move for problem in found.problems])
    assert found.reward_B.tolist() == (~needs_B).astype(float).tolist()
    assert 0 < needs_B.sum() < len(needs_B)
    same_rows(found, right, ~needs_B)
    # The numbers differ, the style words do not.
    for r in np.flatnonzero(needs_B):
        one, two = (
            [word for word in decode(each.answers[r]) if not word.isdigit() and word not in "+*"]
            for each in (found, right)
        )
        assert one == two


def test_the_annotators_skill_is_the_share_of_key_moves_and_turning_it_up_only_adds_some() -> None:
    whole = {skill: batch(alpha=0.0, prompts=20, data_skill=skill) for skill in (0.0, 0.25, 0.5, 0.9, 1.0)}
    needs_B = np.array([problem is not None and problem.needs_key_move for problem in whole[0.0].problems])
    u_B = generator(0, "skill").random(60)
    for skill, found in whole.items():
        assert found.reward_B.tolist() == (~needs_B | (u_B < skill)).astype(float).tolist()
        assert found.prompts == whole[0.0].prompts
    for (_, low), (_, high) in pairwise(whole.items()):
        assert (high.reward_B >= low.reward_B).all()
        same_rows(low, high, low.reward_B == high.reward_B)


def test_wrong_data_are_kept_and_are_labels() -> None:
    """Rejection looks at the student's own answers alone."""
    found = batch(alpha=0.0, data_skill=0.0, keep="right", prompts=8)
    assert (found.reward_B == 0).any()
    assert found.kept_B.all()
    assert found.labelled_B.all()


def test_rejection_keeps_the_right_answers_and_changes_no_sequence() -> None:
    base, source = World.load().policies["base"], {"prompts": 6, "group_size": 4, "alpha": 0.5, "data_skill": 0.5}
    whole, right = (
        draw_batch(base.model, base.params, Source.model_validate(source | {"keep": keep}), 0, 0, 0)
        for keep in ("all", "right")
    )
    assert (whole.prompts, whole.answers) == (right.prompts, right.answers)
    assert whole.kept_B.all()
    assert whole.labelled_B.tolist() == (~whole.on_policy_B).tolist()
    own = right.on_policy_B
    assert right.kept_B[own].tolist() == [
        verify(problem, decode(answer)) == 1
        for problem, answer, mine in zip(right.problems, right.answers, own, strict=True)
        if mine and problem is not None
    ]
    assert right.kept_B[~own].all()
    assert right.labelled_B.tolist() == right.kept_B.tolist()
    assert 0 < right.kept_B[own].sum() < own.sum()


@pytest.mark.parametrize("context", ["none", "hint", "example"])
@pytest.mark.parametrize("words", [1, 8, 36])
def test_a_continuation_is_the_naive_samplers_from_the_place_where_the_student_was_cut(
    context: str, words: int
) -> None:
    """Row by row, from the keyed random numbers: the cut, what the teacher reads, and each word that it writes."""
    source = {"prompts": 2, "group_size": 2, "temperature": 1.3}
    alone, found = batch(5, 1, 2, **source), batch(5, 1, 2, goes_on(words, context), **source)
    cuts, draws = (generator(5, stream, 1, 2) for stream in ("cut", "continuation"))
    u_B, u_BS = cuts.random(4), draws.random((4, words))
    for r, answer in enumerate(alone.answers):
        cut, problem = int(np.floor(u_B[r] * len(answer))), found.problems[r]
        assert problem is not None
        shown = encode(context_words(context, problem, generator(5, f"context {found.group_B[r]}", 1, 2)))
        read = [*alone.prompts[r][:1], *shown, *alone.prompts[r][1:], *answer[:cut]]
        expected = slow.sample(TEACHER, TEACHER_PARAMS, read, u_BS[r][: 36 - cut], 1.3)
        assert found.prompts[r] == (*alone.prompts[r], *answer[:cut])
        assert found.answers[r] == tuple(expected)
        assert found.reward_B[r] == verify(problem, decode([*answer[:cut], *expected]))
    assert found.labelled_B.all()
    assert found.kept_B.all()
    assert found.on_policy_B.all()


def test_only_the_teachers_words_have_a_site_and_the_students_stand_before_it() -> None:
    alone, found = batch(prompts=8), batch(prompts=8, continuing=goes_on())
    assert any(own_words(found))
    for r, own in enumerate(own_words(found)):
        assert own == alone.answers[r][: len(own)]
        assert len(own) < len(alone.answers[r])
        assert EOS_ID not in own
        mine = found.sequence_N == r
        assert found.token_N[mine].tolist() == list(found.answers[r])
        assert found.column_N[mine].min() == len(found.prompts[r]) - 1
    assert len(found.token_N) == sum(map(len, found.answers))


def test_the_students_words_are_the_same_whichever_teacher_goes_on_and_however_far() -> None:
    first = batch(continuing=goes_on())
    for other in (goes_on(other=True), goes_on(1), goes_on(36), goes_on(context="hint"), goes_on(context="example")):
        found = batch(continuing=other)
        assert found.prompts == first.prompts
        assert found.answers != first.answers
    shorter, longer = batch(continuing=goes_on(1)), batch(continuing=goes_on(1, other=True))
    assert all(len(answer) == 1 for answer in (*shorter.answers, *longer.answers))


@pytest.mark.parametrize("context", ["none", "hint", "wrong-hint", "rule", "example", "careful", "hasty"])
def test_what_the_teacher_is_shown_is_not_in_the_students_input(context: str) -> None:
    alone, found = batch(prompts=3), batch(prompts=3, continuing=goes_on(context=context))
    for r, own in enumerate(own_words(found)):
        assert found.prompts[r] == (*alone.prompts[r], *own)
        row = [int(token) for token in found.tokens_BT[r] if token]
        assert row == [token for token in (*found.prompts[r], *found.answers[r]) if token]


@pytest.mark.parametrize("words", [1, 5, 36])
def test_a_cut_answer_is_never_longer_than_an_answer_may_be(words: int) -> None:
    found = batch(prompts=40, continuing=goes_on(words))
    lengths = [len(own) + len(answer) for own, answer in zip(own_words(found), found.answers, strict=True)]
    assert max(lengths) == 36
    assert all(1 <= len(answer) <= words for answer in found.answers)


def test_a_teacher_that_finds_no_end_fits_its_context_as_long_as_the_answer_does() -> None:
    """Of what a demonstration, the student's words and as many again would take, an answer has the room of its own."""
    found = batch(prompts=40, continuing=goes_on(36, "example"))
    assert any(EOS_ID not in answer for answer in found.answers)
    longest = max(len(own) + len(answer) for own, answer in zip(own_words(found), found.answers, strict=True))
    assert longest == 36


def test_a_teacher_continues_the_students_answers_and_leaves_the_data_as_they_are() -> None:
    alone, found = (
        batch(prompts=8, alpha=0.5, replay=0.5, continuing=each) for each in (None, goes_on(context="hint"))
    )
    same_rows(alone, found, ~found.on_policy_B)
    assert (found.on_policy_B == alone.on_policy_B).all()
    assert found.labelled_B.all()
    own = np.array([bool(own) for own in own_words(found)])
    assert own[found.on_policy_B].any()
    assert not own[~found.on_policy_B].any()


def test_turning_alpha_up_leaves_the_teachers_words_of_a_prompt_as_they_were() -> None:
    for low, high in pairwise(batch(prompts=8, alpha=alpha, continuing=goes_on()) for alpha in (0.25, 0.5, 1.0)):
        same_rows(low, high, low.on_policy_B == high.on_policy_B)


def test_a_batch_of_data_alone_asks_no_teacher_to_go_on() -> None:
    alone, found = (batch(alpha=0.0, continuing=each) for each in (None, goes_on()))
    assert (alone.prompts, alone.answers) == (found.prompts, found.answers)


def test_rejection_of_a_continued_answer_looks_at_the_whole_of_it() -> None:
    """The hinted student finishes what it began: the reward is that of both parts together."""
    base = World.load().policies["base"]
    source = Source(prompts=8, group_size=2, keep="right")
    found = draw_batch(base.model, base.params, source, 0, 0, 0, Continuing(base.model, base.params, "hint", 36))
    whole = [decode([*own, *answer]) for own, answer in zip(own_words(found), found.answers, strict=True)]
    rewards = [verify(problem, words) for problem, words in zip(found.problems, whole, strict=True) if problem]
    assert found.reward_B.tolist() == rewards
    assert found.kept_B.tolist() == [reward == 1 for reward in rewards]
    assert 0 < sum(rewards) < len(rewards)
    assert any(own and reward == 1 for own, reward in zip(own_words(found), rewards, strict=True))
