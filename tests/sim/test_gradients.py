"""The engine's fast operators against a plain backward pass a token."""

import dataclasses

import numpy as np
import pytest
import torch

from sim.batch import Batch
from sim.gradients import Linearisation, coordinates, dot, fisher, norm, scaled, stack
from sim.optimiser import token_weights
from sim.policy import Transformer
from tests import reference as slow

MODEL, V = slow.TINY, slow.TINY.vocabulary
DTYPES = [torch.float64, torch.float32]
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-4}


def near(found: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype) -> None:
    """Equal to 1e-10 in float64 and 1e-4 in float32 of the largest value."""
    scale = float(expected.abs().max())
    assert scale > 0
    torch.testing.assert_close(found.double(), expected.double(), rtol=0, atol=TOLERANCE[dtype] * scale)


def select(batch: Batch, rows: list[int]) -> Batch:
    """Some rollouts of a batch, in another order."""
    return slow.make_batch([batch.prompts[r] for r in rows], [batch.answers[r] for r in rows])


def sites_of(batch: Batch, rows: list[int]) -> np.ndarray:
    """The sites of those rollouts in the whole batch, in that order."""
    return np.concatenate([np.flatnonzero(batch.sequence_N == r) for r in rows])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("temperature", [1.0, 0.4, 2.5])
def test_log_probabilities_are_those_of_the_policy_that_samples(dtype: torch.dtype, temperature: float) -> None:
    params, batch = slow.random_params(MODEL, 1, dtype), slow.random_batch()
    point = Linearisation(MODEL, params, batch, temperature)
    near(point.log_p_NV, slow.log_probs(MODEL, params, batch, temperature), dtype)
    assert not point.log_p_NV.requires_grad


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("temperature", [1.0, 0.4])
def test_pull_is_the_sum_of_the_weighted_per_token_gradients(dtype: torch.dtype, temperature: float) -> None:
    params, batch = slow.random_params(MODEL, 2, dtype), slow.random_batch()
    rows = slow.random_rows(batch, V, 1, dtype)
    weights = torch.linspace(-1, 2, len(rows), dtype=torch.float64)
    gradients = slow.site_gradients(MODEL, params, batch, rows, temperature)
    point = Linearisation(MODEL, params, batch, temperature)
    near(slow.flat(point.pull(rows)), gradients.sum(0), dtype)
    near(slow.flat(point.pull(rows, weights.to(dtype))), (weights[:, None] * gradients).sum(0), dtype)


@pytest.mark.parametrize("aggregation", ["token", "sequence", "constant"])
def test_the_update_is_the_named_mean_of_the_per_token_gradients(aggregation: str) -> None:
    params, batch = slow.random_params(MODEL, 2), slow.random_batch()
    rows = slow.random_rows(batch, V, 2)
    gradients = slow.site_gradients(MODEL, params, batch, rows)
    expected = slow.mean_gradient(gradients, [len(answer) for answer in batch.answers], aggregation)
    found = Linearisation(MODEL, params, batch).pull(rows, token_weights(batch, aggregation))
    # The weights are float32; everything else here is float64.
    torch.testing.assert_close(slow.flat(found), expected, rtol=0, atol=2e-7 * float(expected.abs().max()))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("temperature", [1.0, 0.4])
def test_coordinates_are_inner_products_with_the_per_token_gradients(dtype: torch.dtype, temperature: float) -> None:
    params, batch = slow.random_params(MODEL, 3, dtype), slow.random_batch()
    rows = slow.random_rows(batch, V, 3, dtype)
    directions = [slow.random_direction(params, seed) for seed in (5, 6, 7)]
    D_KNV = Linearisation(MODEL, params, batch, temperature).push(stack(directions))
    gradients = slow.site_gradients(MODEL, params, batch, rows, temperature)
    expected = gradients @ torch.stack([slow.flat(direction) for direction in directions]).T
    found = coordinates(D_KNV, rows)
    assert found.dtype == torch.float64
    near(found, expected, dtype)


@pytest.mark.parametrize("temperature", [1.0, 0.4, 2.5])
def test_push_is_the_finite_difference_of_log_probabilities(temperature: float) -> None:
    params, batch = slow.random_params(MODEL, 4), slow.random_batch()
    direction = slow.random_direction(params, 8)
    h = 1e-5
    ahead, behind = (
        slow.log_probs(MODEL, {k: v + s * h * direction[k] for k, v in params.items()}, batch, temperature)
        for s in (1, -1)
    )
    D_KNV = Linearisation(MODEL, params, batch, temperature).push(stack([direction]))
    torch.testing.assert_close(D_KNV[0], (ahead - behind) / (2 * h), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_push_is_every_words_gradient_along_the_direction(dtype: torch.dtype) -> None:
    params, batch = slow.random_params(MODEL, 5, dtype), slow.random_batch()
    direction = slow.random_direction(params, 9)
    point = Linearisation(MODEL, params, batch, 0.7)
    D_NV = point.push(stack([direction]))[0]
    near(D_NV, slow.jacobian(MODEL, params, batch, 0.7) @ slow.flat(direction), dtype)
    torch.testing.assert_close((point.p_NV * D_NV).sum(-1), torch.zeros(len(D_NV), dtype=dtype), rtol=0, atol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("temperature", [1.0, 0.4])
def test_fisher_is_the_mean_covariance_of_the_scores(dtype: torch.dtype, temperature: float) -> None:
    params, batch = slow.random_params(MODEL, 6, dtype), slow.random_batch()
    directions = [slow.random_direction(params, seed) for seed in (10, 11)]
    point = Linearisation(MODEL, params, batch, temperature)
    found = fisher(point.push(stack(directions)), point.p_NV)
    expected = slow.fisher(
        slow.jacobian(MODEL, params, batch, temperature),
        slow.log_probs(MODEL, params, batch, temperature),
        torch.stack([slow.flat(direction) for direction in directions]),
    )
    near(found, expected, dtype)
    assert float(torch.linalg.eigvalsh(found).min()) > 0


def test_fisher_predicts_the_kl_of_a_small_step() -> None:
    params, batch = slow.random_params(MODEL, 7), slow.random_batch()
    direction = slow.random_direction(params, 12)
    point = Linearisation(MODEL, params, batch, 1.5)
    half_uFu = 0.5 * float(fisher(point.push(stack([direction])), point.p_NV)[0, 0])
    for size in (1e-4, 1e-3):
        measured = slow.kl_of_step(MODEL, params, scaled(direction, size), batch, 1.5)
        assert measured == pytest.approx(half_uFu * size**2, rel=50 * size)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_policy_after_a_step_is_that_of_the_moved_parameters(dtype: torch.dtype) -> None:
    params, batch = slow.random_params(MODEL, 8, dtype), slow.random_batch()
    step = scaled(slow.random_direction(params, 13), 0.05)
    moved = {name: value + step[name] for name, value in params.items()}
    near(Linearisation(MODEL, params, batch, 0.6).after(step), slow.log_probs(MODEL, moved, batch, 0.6), dtype)


def test_a_multiple_of_the_policy_added_to_a_row_changes_no_gradient() -> None:
    params, batch = slow.random_params(MODEL, 9), slow.random_batch()
    rows = slow.random_rows(batch, V, 4)
    shift = torch.linspace(-3, 3, len(rows), dtype=torch.float64)[:, None] * slow.log_probs(MODEL, params, batch).exp()
    point = Linearisation(MODEL, params, batch)
    torch.testing.assert_close(slow.flat(point.pull(rows + shift)), slow.flat(point.pull(rows)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_do_not_depend_on_row_order(dtype: torch.dtype) -> None:
    params, batch = slow.random_params(MODEL, 10, dtype), slow.random_batch()
    order = [2, 0, 3, 1]
    other, sites = select(batch, order), sites_of(batch, order)
    rows = slow.random_rows(batch, V, 5, dtype)
    direction = stack([slow.random_direction(params, 14)])
    here, there = Linearisation(MODEL, params, batch), Linearisation(MODEL, params, other)
    near(there.log_p_NV, here.log_p_NV[sites], dtype)
    near(there.push(direction), here.push(direction)[:, sites], dtype)
    near(slow.flat(there.pull(rows[sites])), slow.flat(here.pull(rows)), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_do_not_depend_on_what_else_is_in_the_batch(dtype: torch.dtype) -> None:
    params, batch = slow.random_params(MODEL, 11, dtype), slow.random_batch()
    direction = stack([slow.random_direction(params, 15)])
    whole = Linearisation(MODEL, params, batch)
    for r in range(4):
        alone, sites = Linearisation(MODEL, params, select(batch, [r])), sites_of(batch, [r])
        near(alone.log_p_NV, whole.log_p_NV[sites], dtype)
        near(alone.push(direction), whole.push(direction)[:, sites], dtype)


def test_two_micro_batches_of_unequal_length_give_the_gradient_of_the_one_batch() -> None:
    params, batch = slow.random_params(MODEL, 12), slow.random_batch()
    rows = slow.random_rows(batch, V, 6)
    N = len(rows)
    whole = slow.flat(Linearisation(MODEL, params, batch).pull(rows, token_weights(batch, "token")))
    total = torch.zeros_like(whole)
    for part in ([0, 1], [2, 3]):
        sites = sites_of(batch, part)
        micro = select(batch, part)
        gradient = Linearisation(MODEL, params, micro).pull(rows[sites], token_weights(micro, "token"))
        total += slow.flat(gradient) * len(sites) / N
    torch.testing.assert_close(total, whole, rtol=0, atol=2e-7 * float(whole.abs().max()))


def test_padding_is_not_read() -> None:
    params, batch = slow.random_params(MODEL, 13), slow.random_batch()
    other = dataclasses.replace(batch)
    tokens = batch.tokens_BT.clone()
    for r, (prompt, answer) in enumerate(zip(batch.prompts, batch.answers, strict=True)):
        tokens[r, len(prompt) + len(answer) :] = 5
    other.__dict__["tokens_BT"] = tokens
    assert not torch.equal(tokens, batch.tokens_BT)
    rows = slow.random_rows(batch, V, 7)
    here, there = Linearisation(MODEL, params, batch), Linearisation(MODEL, params, other)
    assert torch.equal(here.log_p_NV, there.log_p_NV)
    assert torch.equal(slow.flat(here.pull(rows)), slow.flat(there.pull(rows)))


def test_prompt_and_padding_have_no_site() -> None:
    batch = slow.random_batch()
    assert batch.token_N.tolist() == [token for answer in batch.answers for token in answer]
    tokens = batch.tokens_BT.numpy()
    assert (tokens[batch.sequence_N, batch.column_N + 1] == batch.token_N).all()


def test_an_answer_of_one_token_works() -> None:
    params, batch = slow.random_params(MODEL, 14), slow.make_batch([[1, 2, 3]], [[4]])
    rows = slow.random_rows(batch, V, 8)
    expected = slow.site_gradients(MODEL, params, batch, rows)[0]
    torch.testing.assert_close(slow.flat(Linearisation(MODEL, params, batch).pull(rows)), expected, rtol=0, atol=1e-10)


def test_a_row_without_answer_tokens_adds_nothing_and_no_nan() -> None:
    params = slow.random_params(MODEL, 15)
    full = slow.make_batch([[1, 2, 3], [4, 5, 6, 7, 8]], [[4, 5], []])
    alone = slow.make_batch([[1, 2, 3]], [[4, 5]])
    rows = slow.random_rows(alone, V, 9)
    for aggregation in ("token", "sequence", "constant"):
        assert torch.isfinite(token_weights(full, aggregation)).all()
        assert len(token_weights(full, aggregation)) == 2
    torch.testing.assert_close(
        slow.flat(Linearisation(MODEL, params, full).pull(rows)),
        slow.flat(Linearisation(MODEL, params, alone).pull(rows)),
        rtol=1e-10,
        atol=1e-12,
    )


def test_zero_rows_give_exactly_zero() -> None:
    params, batch = slow.random_params(MODEL, 16), slow.random_batch()
    rows = torch.zeros(len(batch.token_N), V, dtype=torch.float64)
    point = Linearisation(MODEL, params, batch)
    assert not slow.flat(point.pull(rows)).any()
    assert not coordinates(point.push(stack([slow.random_direction(params, 16)])), rows).any()


def test_a_low_temperature_and_extreme_logits_leave_no_nan() -> None:
    params = slow.random_params(MODEL, 17, torch.float32)
    params["head.weight"] = params["head.weight"] * 1e4
    batch = slow.random_batch()
    point = Linearisation(MODEL, params, batch, 0.05)
    rows = slow.random_rows(batch, V, 10, torch.float32)
    direction = stack([slow.random_direction(params, 17)])
    assert torch.isfinite(point.log_p_NV).all()
    assert torch.isfinite(slow.flat(point.pull(rows))).all()
    assert torch.isfinite(point.push(direction)).all()
    assert torch.isfinite(fisher(point.push(direction), point.p_NV)).all()


def test_linearising_leaves_the_parameters_as_they_were() -> None:
    params = slow.random_params(MODEL, 18)
    before = slow.flat(params).clone()
    point = Linearisation(MODEL, params, slow.random_batch())
    point.pull(slow.random_rows(point.batch, V))
    point.after(slow.random_direction(params, 1))
    assert torch.equal(slow.flat(params), before)
    assert not any(value.requires_grad for value in params.values())


def test_a_batch_longer_than_the_context_is_refused() -> None:
    small = Transformer(layers=1, width=16, heads=2, context=5, vocabulary=11)
    with pytest.raises(ValueError, match="context of 5"):
        Linearisation(small, slow.random_params(small), slow.make_batch([[1, 2, 3]], [[4, 5, 6, 7]]))


def test_inner_products_are_summed_in_float64() -> None:
    ones = {"a": torch.full((3, 1000), 0.1), "b": torch.full((7,), 0.1)}
    expected = 3007 * float(np.float32(0.1)) ** 2
    assert dot(ones, ones) == pytest.approx(expected, rel=1e-13)
    assert norm(ones) == pytest.approx(expected**0.5, rel=1e-13)
    assert norm(scaled(ones, -2.0)) == pytest.approx(2 * expected**0.5, rel=1e-7)
