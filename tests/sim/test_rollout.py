"""Sampling against the naive sampler, which has no cache, no batch and no padding."""

from typing import Any

import numpy as np
import pytest
import torch

from sim.errors import NonFinite
from sim.language import EOS_ID, PAD_ID
from sim.policy import Transformer
from sim.rollout import pad, sample
from tests import reference as slow

MODEL = Transformer(layers=2, width=16, heads=2, context=24, vocabulary=11)
PROMPTS = [[1, 5, 6], [1, 3, 4, 9, 8, 7], [1], [1, 10, 10, 4], [1, 5, 6]]
STEPS = 12


class Fixed:
    """A generator whose uniform numbers are given."""

    def __init__(self, u: np.ndarray) -> None:
        self.u = u

    def random(self, shape: tuple[int, int]) -> np.ndarray:
        assert shape == self.u.shape
        return self.u


def uniforms(seed: int = 0, rows: int = len(PROMPTS)) -> np.ndarray:
    return np.random.default_rng(seed).random((rows, STEPS))


def sampled(params: Any, prompts: list[list[int]], u: np.ndarray, temperature: float = 1.0) -> list[list[int]]:
    return sample(MODEL, params, prompts, Fixed(u), temperature, STEPS)  # type: ignore[arg-type]


@pytest.mark.parametrize("temperature", [1.0, 0.3, 3.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_samples_are_those_of_the_naive_sampler(temperature: float, seed: int) -> None:
    params, u = slow.random_params(MODEL, seed), uniforms(seed)
    expected = [slow.sample(MODEL, params, prompt, u[i], temperature) for i, prompt in enumerate(PROMPTS)]
    assert sampled(params, PROMPTS, u, temperature) == expected


def test_a_row_does_not_depend_on_the_others_or_their_order() -> None:
    params, u = slow.random_params(MODEL, 3), uniforms(3)
    together = sampled(params, PROMPTS, u)
    order = [3, 0, 4, 2, 1]
    assert sampled(params, [PROMPTS[i] for i in order], u[order]) == [together[i] for i in order]
    for i, prompt in enumerate(PROMPTS):
        assert sampled(params, [prompt], u[i : i + 1]) == [together[i]]


def test_equal_prompts_get_random_numbers_of_their_own() -> None:
    answers = sampled(slow.random_params(MODEL, 4), PROMPTS, uniforms(4), 3.0)
    assert answers[0] != answers[4]


def test_an_answer_ends_with_its_first_end_mark_or_is_cut() -> None:
    params = slow.random_params(MODEL, 5)
    rows = 40
    answers = sampled(params, [[1, 5, 6]] * rows, uniforms(5, rows), 3.0)
    ends = [answer for answer in answers if EOS_ID in answer]
    assert ends
    assert all(answer.index(EOS_ID) == len(answer) - 1 for answer in ends)
    assert all(len(answer) == STEPS for answer in answers if EOS_ID not in answer)
    assert all(answers)


def test_the_first_word_is_drawn_from_the_policy_at_its_temperature() -> None:
    params, rows = slow.random_params(MODEL, 6), 20_000
    u = np.random.default_rng(6).random((rows, 1))
    answers = sample(MODEL, params, [[1, 5, 6]] * rows, Fixed(u), 2.0, 1)  # type: ignore[arg-type]
    found = np.bincount([answer[0] for answer in answers], minlength=11) / rows
    expected = slow.next_word(MODEL, params, [1, 5, 6], 2.0).exp().numpy()
    # Five standard deviations of a share.
    assert (np.abs(found - expected) < 5 * np.sqrt(expected * (1 - expected) / rows) + 1e-9).all()


def test_a_low_temperature_takes_the_likeliest_word() -> None:
    params = slow.random_params(MODEL, 7)
    params["head.weight"] = params["head.weight"] * 50
    answers = sampled(params, PROMPTS, uniforms(7), 0.05)
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        assert answer[0] == int(slow.next_word(MODEL, params, prompt).argmax())


@pytest.mark.parametrize("u", [0.0, 1 - 2**-53])
def test_a_word_without_probability_is_never_drawn(u: float) -> None:
    """At the ends of the unit interval, where most words' probabilities have underflowed to zero."""
    params = slow.random_params(MODEL, 7)
    params["head.weight"] = params["head.weight"] * 1e4
    answers = sampled(params, PROMPTS, np.full((len(PROMPTS), STEPS), u), 0.05)
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        p_V = slow.next_word(MODEL, params, prompt, 0.05).exp()
        assert p_V[0] == 0
        assert p_V[answer[0]] > 0


def test_sampling_takes_no_gradient() -> None:
    params = {name: value.requires_grad_() for name, value in slow.random_params(MODEL, 8).items()}
    sampled(params, PROMPTS, uniforms(8))
    assert all(value.grad is None for value in params.values())


def test_a_prompt_that_leaves_no_room_for_an_answer_is_refused() -> None:
    params = slow.random_params(MODEL, 9)
    params["head.weight"][EOS_ID] = 0
    params["norm.bias"] += 10 * params["head.weight"][4]
    with pytest.raises(ValueError, match="context of 24"):
        sampled(params, [[1] * 20], uniforms(9, 1))


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_logits_that_are_not_finite_stop_the_rollout_and_name_it(value: float) -> None:
    params = slow.random_params(MODEL, 10)
    params["head.weight"][3] = value
    with pytest.raises(NonFinite, match="rollout"):
        sampled(params, PROMPTS, uniforms(10))


def test_rows_are_padded_on_the_right() -> None:
    assert pad([[5, 6, 7], [8], []]).tolist() == [[5, 6, 7], [8, PAD_ID, PAD_ID], [PAD_ID] * 3]
    assert pad([[5]]).dtype == torch.int64
