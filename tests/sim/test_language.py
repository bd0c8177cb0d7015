"""The small world: what its writers write, and what its verifier grades."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.language import (
    EOS,
    FOREIGN,
    HOUSE,
    KINDS,
    LARGEST_NUMBER,
    LETTERS,
    PROMPTED,
    VALUES,
    VOCABULARY,
    Problem,
    Style,
    choose,
    context_words,
    decode,
    draw_copying,
    draw_fact,
    draw_problem,
    encode,
    fact,
    verify,
    write_solution,
)

STYLES = (HOUSE, PROMPTED, FOREIGN)
operands = st.integers(1, 6)
problems = st.builds(
    Problem, operands, st.sampled_from("+*"), operands, st.just("+"), operands
) | st.builds(Problem, operands, st.just("+"), operands, st.just("*"), st.integers(2, 6))  # fmt: skip
seeds = st.integers(0, 2**32 - 1)
styles = st.sampled_from(STYLES)
EXAMPLE = Problem(2, "+", 3, "*", 4)


def spoken(problem: Problem) -> int:
    """The value of a prompt by Python's own precedence."""
    return int(eval("".join(problem.words[1:-1])))


@given(problems)
def test_the_right_answer_multiplies_before_it_adds(problem: Problem) -> None:
    assert problem.truth == spoken(problem)


@given(problems)
def test_the_key_move_is_needed_exactly_where_reading_from_the_left_goes_wrong(problem: Problem) -> None:
    assert problem.needs_key_move == (problem.left_to_right != problem.truth)


@given(problems, styles, seeds, st.booleans())
def test_every_solution_with_the_key_move_verifies(problem: Problem, style: Style, seed: int, correction: bool) -> None:
    rng = np.random.default_rng(seed)
    answer = write_solution(rng, problem, style, key_move=True, correction=correction)
    assert verify(problem, [*answer, EOS]) == 1
    assert ("wait" in answer) == (correction and problem.needs_key_move)


@given(problems, styles, seeds)
def test_a_solution_from_the_left_verifies_only_where_no_key_move_is_needed(
    problem: Problem, style: Style, seed: int
) -> None:
    answer = write_solution(np.random.default_rng(seed), problem, style, key_move=False)
    assert verify(problem, [*answer, EOS]) == float(not problem.needs_key_move)


@given(problems, styles, seeds, st.booleans())
def test_every_equation_of_a_right_solution_without_a_false_start_holds(
    problem: Problem, style: Style, seed: int, key_move: bool
) -> None:
    words = write_solution(np.random.default_rng(seed), problem, style, key_move=key_move)
    equals = [i for i, word in enumerate(words) if word == "="]
    assert len(equals) == 2
    for i in equals:
        a, op, b, result = words[i - 3], words[i - 2], words[i - 1], words[i + 1]
        assert int(result) == (int(a) + int(b) if op == "+" else int(a) * int(b))


@given(problems, styles, seeds, st.booleans(), st.booleans())
def test_every_word_that_is_written_is_in_the_vocabulary(
    problem: Problem, style: Style, seed: int, key_move: bool, correction: bool
) -> None:
    rng = np.random.default_rng(seed)
    words = write_solution(rng, problem, style, key_move=key_move, correction=correction and key_move)
    for kind in ("none", "hint", "wrong-hint", "rule", "example", "careful", "hasty"):
        words += context_words(kind, problem, rng)
    assert decode(encode(words)) == words


@pytest.mark.parametrize(
    ("answer", "reward"),
    [
        ("answer 14 <eos>", 1),
        ("result 14 <eos>", 1),
        ("well first 3 * 4 = 12 then 2 + 12 = 14 so answer 14 <eos>", 1),
        ("answer 20 so answer 14 <eos>", 1),
        ("answer 14 so answer 20 <eos>", 0),
        ("answer 14", 0),
        ("14 <eos>", 0),
        ("answer 14 14 <eos>", 0),
        ("answer 14 fine <eos>", 0),
        ("answer 20 <eos>", 0),
        ("so 14 <eos>", 0),
        ("<eos>", 0),
        ("", 0),
    ],
)
def test_the_verifier_grades_the_closing_statement_alone(answer: str, reward: float) -> None:
    assert verify(EXAMPLE, answer.split()) == reward


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("none", ""),
        ("hint", "hint 14 :"),
        ("wrong-hint", "hint 20 :"),
        ("rule", "rule times before plus :"),
        ("careful", "you are careful :"),
        ("hasty", "you are hasty :"),
    ],
)
def test_contexts_say_what_they_are_called(kind: str, words: str) -> None:
    assert context_words(kind, EXAMPLE) == words.split()


@given(seeds)
def test_a_demonstration_is_solved_right_and_by_the_key_move(seed: int) -> None:
    words = context_words("example", EXAMPLE, np.random.default_rng(seed))
    assert words[0] == "example"
    assert words[-1] == ";"
    a, op, b, times, c = words[1:6]
    shown = Problem(int(a), op, int(b), times, int(c))
    assert shown.needs_key_move
    assert verify(shown, [*words[:-1], EOS]) == 1


def test_a_demonstration_needs_a_generator_and_an_unknown_context_is_refused() -> None:
    with pytest.raises(KeyError, match="generator"):
        context_words("example", EXAMPLE)
    with pytest.raises(KeyError, match="sermon"):
        context_words("sermon", EXAMPLE)


def test_no_problem_leaves_the_numbers_of_the_vocabulary() -> None:
    every = [
        Problem(a, first, b, second, c)
        for a in range(1, 7)
        for b in range(1, 7)
        for c in range(1, 7)
        for first, second in ("++", "+*", "*+")
    ]
    largest = max(max(problem.truth, problem.left_to_right) for problem in every)
    assert largest <= LARGEST_NUMBER


def test_problems_need_the_key_move_as_often_as_they_are_said_to() -> None:
    rng = np.random.default_rng(0)
    drawn = [draw_problem(rng) for _ in range(4000)]
    assert np.mean([problem.needs_key_move for problem in drawn]) == pytest.approx(0.6, abs=0.04)
    assert all(problem.needs_key_move for problem in (draw_problem(rng, 1.0) for _ in range(200)))
    assert {(problem.first_op, problem.second_op) for problem in drawn} == {("+", "*"), ("*", "+"), ("+", "+")}


@pytest.mark.parametrize("style", STYLES)
def test_each_slot_of_a_style_has_probabilities_that_add_up(style: Style) -> None:
    for slot in (style.opener, style.lead, style.filler, style.link, style.close):
        assert sum(slot.values()) == pytest.approx(1, abs=1e-12)
        assert all(p > 0 for p in slot.values())


def test_words_are_chosen_as_often_as_their_probabilities_say() -> None:
    rng = np.random.default_rng(1)
    drawn = [tuple(choose(rng, HOUSE.filler)) for _ in range(4000)]
    for word, p in HOUSE.filler.items():
        assert np.mean([one == ((word,) if word else ()) for one in drawn]) == pytest.approx(p, abs=0.04)


def test_the_house_and_the_foreign_style_share_no_style_word() -> None:
    def words(style: Style) -> set[str]:
        slots = (style.opener, style.lead, style.filler, style.link, style.close)
        return {word for slot in slots for word in slot if word} | {style.verdict}

    assert not words(HOUSE) & words(FOREIGN)


def test_facts_are_fixed_and_no_value_is_a_safe_guess() -> None:
    for attribute, values in VALUES.items():
        known = [fact(attribute, kind, letter) for kind in KINDS for letter in LETTERS]
        assert set(known) <= set(values)
        assert max(known.count(value) for value in values) <= len(known) / 2
    prompt, answer = draw_fact(np.random.default_rng(2))
    assert answer == [fact(prompt[1], prompt[3], prompt[4])]


@given(seeds)
def test_letters_are_copied_or_reversed(seed: int) -> None:
    (verb, *letters, _), answer = draw_copying(np.random.default_rng(seed))
    assert answer == (letters if verb == "copy" else list(reversed(letters)))


def test_each_word_has_one_number_and_an_unknown_word_is_named() -> None:
    assert len(set(VOCABULARY)) == len(VOCABULARY)
    assert decode(range(len(VOCABULARY))) == list(VOCABULARY)
    with pytest.raises(KeyError, match="zebra"):
        encode(["zebra"])
