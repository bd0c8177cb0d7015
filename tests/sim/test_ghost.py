"""Norms and inner products without gradients, against the gradients."""

import pytest
import torch

from sim.errors import Cancelled
from sim.ghost import rollout_gram, site_norms
from sim.gradients import Linearisation
from sim.policy import Transformer
from tests import reference as slow

MODEL, V = slow.TINY, slow.TINY.vocabulary
MODELS = [MODEL, Transformer(layers=1, width=12, heads=3, context=16, vocabulary=11)]
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-4}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("temperature", [1.0, 0.4])
def test_norms_are_those_of_the_per_token_gradients(model: Transformer, dtype: torch.dtype, temperature: float) -> None:
    params, batch = slow.random_params(model, 1, dtype), slow.random_batch()
    rows = slow.random_rows(batch, V, 1, dtype)
    expected = slow.site_gradients(model, params, batch, rows, temperature).norm(dim=1)
    found = site_norms(Linearisation(model, params, batch, temperature), rows)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, expected, rtol=TOLERANCE[dtype], atol=0)


def test_norms_count_a_word_that_stands_at_many_places_once_for_each_pair() -> None:
    params = slow.random_params(MODEL, 2)
    batch = slow.make_batch([[4, 4, 4]], [[4, 4, 4, 4]])
    rows = slow.random_rows(batch, V, 2)
    expected = slow.site_gradients(MODEL, params, batch, rows).norm(dim=1)
    torch.testing.assert_close(site_norms(Linearisation(MODEL, params, batch), rows), expected, rtol=1e-10, atol=0)


def test_norms_of_zero_rows_are_exactly_zero() -> None:
    params, batch = slow.random_params(MODEL, 3), slow.random_batch()
    rows = slow.random_rows(batch, V, 3)
    rows[::2] = 0
    found = site_norms(Linearisation(MODEL, params, batch), rows)
    assert not found[::2].any()
    assert (found[1::2] > 0).all()


def test_norms_do_not_depend_on_batch_composition() -> None:
    params, batch = slow.random_params(MODEL, 4), slow.random_batch()
    rows = slow.random_rows(batch, V, 4)
    whole = site_norms(Linearisation(MODEL, params, batch), rows)
    for r in range(4):
        sites = batch.sequence_N == r
        alone = slow.make_batch([batch.prompts[r]], [batch.answers[r]])
        found = site_norms(Linearisation(MODEL, params, alone), rows[sites])
        torch.testing.assert_close(found, whole[sites], rtol=1e-10, atol=0)


def test_norms_can_be_stopped_between_positions() -> None:
    params, batch = slow.random_params(MODEL, 5), slow.random_batch()
    asked = []

    def stop() -> bool:
        asked.append(True)
        return len(asked) == 3

    with pytest.raises(Cancelled):
        site_norms(Linearisation(MODEL, params, batch), slow.random_rows(batch, V), stop)
    assert len(asked) == 3


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("temperature", [1.0, 0.4])
def test_the_gram_matrix_is_that_of_the_rollouts_gradients(
    model: Transformer, dtype: torch.dtype, temperature: float
) -> None:
    params, batch = slow.random_params(model, 6, dtype), slow.random_batch()
    rows = slow.random_rows(batch, V, 6, dtype)
    weights = torch.linspace(-1, 2, len(rows), dtype=torch.float64)
    gradients = weights[:, None] * slow.site_gradients(model, params, batch, rows, temperature)
    rollouts = torch.stack([part.sum(0) for part in gradients.split([len(answer) for answer in batch.answers])])
    expected = rollouts @ rollouts.T
    found = rollout_gram(Linearisation(model, params, batch, temperature), rows, weights.to(dtype))
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, expected, rtol=0, atol=TOLERANCE[dtype] * float(expected.abs().max()))


def test_the_gram_matrix_adds_up_to_the_updates_squared_length() -> None:
    params, batch = slow.random_params(MODEL, 7), slow.random_batch()
    rows = slow.random_rows(batch, V, 7)
    weights = torch.full((len(rows),), 1 / len(rows), dtype=torch.float64)
    point = Linearisation(MODEL, params, batch)
    G = slow.flat(point.pull(rows, weights))
    assert float(rollout_gram(point, rows, weights).sum()) == pytest.approx(float(G @ G), rel=1e-10)


def test_a_rollout_without_answer_tokens_has_a_zero_row_in_the_gram_matrix() -> None:
    params = slow.random_params(MODEL, 8)
    batch = slow.make_batch([[1, 2, 3], [4, 5]], [[4, 5], []])
    rows = slow.random_rows(batch, V, 8)
    gram = rollout_gram(Linearisation(MODEL, params, batch), rows, torch.ones(2, dtype=torch.float64))
    assert float(gram[0, 0]) > 0
    assert not gram[1].any()
    assert not gram[:, 1].any()
