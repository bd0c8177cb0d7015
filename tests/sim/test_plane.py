"""The plane: its units, and the directions that it may have."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sim.gradients import Gradient, Linearisation
from sim.plane import component_directions, even_units, orthonormal, random_directions, to_units
from sim.safety import safe_ellipse
from sim.world import World
from tests import reference as slow

MODEL, V = slow.TINY, slow.TINY.vocabulary


def axes(directions: Gradient) -> torch.Tensor:
    """Two directions as rows [2, P]."""
    return torch.stack([slow.flat({name: value[k] for name, value in directions.items()}) for k in range(2)])


@given(st.integers(0, 500), st.floats(1e-4, 1))
def test_in_the_pictures_units_the_safe_region_is_the_unit_disc(seed: int, delta: float) -> None:
    a = np.random.default_rng(seed).normal(size=(2, 4))
    fisher = a @ a.T
    U = to_units(fisher, delta)
    np.testing.assert_allclose(U.T @ U, fisher / (2 * delta), rtol=1e-8, atol=1e-8 * np.trace(fisher) / delta)


@given(st.integers(0, 500))
def test_right_of_the_middle_stays_right_of_the_middle(seed: int) -> None:
    a = np.random.default_rng(seed).normal(size=(2, 4))
    U = to_units(a @ a.T, 0.01)
    assert U[0, 1] == 0
    assert U[0, 0] > 0
    assert U[1, 1] > 0


def test_even_units_give_a_rim_worked_by_hand() -> None:
    """2 delta = 1: the half-axes of 16 p^2 + q^2 = 1 are 1/4 and 1, their mean 1/2, so 1 is drawn as 2."""
    fisher = np.diag([16.0, 1.0])
    units = even_units(fisher, 0.5)
    np.testing.assert_allclose(units, 2 * np.eye(2))
    np.testing.assert_allclose(safe_ellipse(fisher, units, 0.5), np.diag([0.5, 2.0]), atol=1e-12)


@given(st.integers(0, 500), st.floats(1e-4, 1))
def test_in_even_units_angles_stay_and_the_rims_mean_radius_is_one(seed: int, delta: float) -> None:
    a = np.random.default_rng(seed).normal(size=(2, 4))
    units = even_units(a @ a.T, delta)
    np.testing.assert_array_equal(units, units[0, 0] * np.eye(2))
    axes = np.linalg.eigvalsh(safe_ellipse(a @ a.T, units, delta))
    assert np.prod(axes) == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_two_directions_are_made_orthonormal_and_the_first_keeps_its_way(dtype: torch.dtype) -> None:
    params = slow.random_params(MODEL, 0, dtype)
    first, second = (slow.random_direction(params, seed) for seed in (1, 2))
    second = {name: value + 3 * first[name] for name, value in second.items()}
    E = axes(orthonormal(first, second))
    torch.testing.assert_close(E @ E.T, torch.eye(2, dtype=torch.float64), rtol=0, atol=1e-6)
    one = slow.flat(first)
    torch.testing.assert_close(E[0], one / one.norm(), rtol=0, atol=1e-6)
    plane = torch.stack([one, slow.flat(second)])
    torch.testing.assert_close(plane @ E.T @ E, plane, rtol=0, atol=1e-5)
    assert float(slow.flat(second) @ E[1]) > 0


def test_a_random_plane_follows_from_its_seed() -> None:
    params = slow.random_params(MODEL, 0, torch.float32)
    one, same, other = (axes(random_directions(params, seed)) for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    torch.testing.assert_close(one @ one.T, torch.eye(2, dtype=torch.float64), rtol=0, atol=1e-6)


def test_components_are_the_principal_directions_of_the_rollouts_gradients() -> None:
    params, batch = slow.random_params(MODEL, 1), slow.random_batch()
    rows = slow.random_rows(batch, V, 1)
    weights = torch.linspace(0.5, 1.5, len(rows), dtype=torch.float64)
    gradients = weights[:, None] * slow.site_gradients(MODEL, params, batch, rows)
    rollouts = torch.stack([part.sum(0) for part in gradients.split([len(answer) for answer in batch.answers])])
    _, _, expected = torch.linalg.svd(rollouts, full_matrices=False)
    found = component_directions(Linearisation(MODEL, params, batch), rows, weights, (rollouts @ rollouts.T).numpy())
    assert found is not None
    overlap = (axes(found) @ expected[:2].T).abs()
    torch.testing.assert_close(overlap, torch.eye(2, dtype=torch.float64), rtol=0, atol=1e-5)


@pytest.mark.parametrize("answers", [[[4, 5]], [[4, 5], [4, 5]]])
def test_gradients_that_span_less_than_a_plane_have_no_components(answers: list[list[int]]) -> None:
    params = slow.random_params(MODEL, 2)
    batch = slow.make_batch([[1, 2]] * len(answers), answers)
    rows = slow.random_rows(batch, V, 2)[:2].repeat(len(answers), 1)
    weights = torch.ones(len(rows), dtype=torch.float64)
    g = slow.site_gradients(MODEL, params, batch, rows)
    rollouts = torch.stack([part.sum(0) for part in g.split(2)])
    gram = (rollouts @ rollouts.T).numpy()
    assert component_directions(Linearisation(MODEL, params, batch), rows, weights, gram) is None
    assert component_directions(Linearisation(MODEL, params, batch), 0 * rows, weights, 0 * gram) is None


def test_directions_that_do_not_change_the_policy_have_units_all_the_same() -> None:
    """As after a collapse, when the policy is certain of every word."""
    for fisher in (np.zeros((2, 2)), np.diag([1.0, 0.0]), np.full((2, 2), 1e-40)):
        for units in (to_units(fisher, 0.001), even_units(fisher, 0.001)):
            assert np.isfinite(units).all()
            assert np.linalg.det(units) > 0
            assert np.isfinite(safe_ellipse(fisher, units, 0.001)).all()


def test_the_shipped_plane_is_orthonormal_and_its_fisher_matrix_positive() -> None:
    plane = World.load().plane
    E = axes(dict(plane.directions))
    torch.testing.assert_close(E @ E.T, torch.eye(2, dtype=torch.float64), rtol=0, atol=1e-5)
    np.testing.assert_allclose(plane.fisher_22, plane.fisher_22.T)
    assert np.linalg.eigvalsh(plane.fisher_22).min() > 0
