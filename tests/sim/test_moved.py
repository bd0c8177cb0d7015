"""Where parameters went: changes of known size and rank."""

import numpy as np
import pytest
import torch

from sim.frame import Undetermined
from sim.moved import effective_rank, moved


def moved_by(delta: torch.Tensor, start: torch.Tensor | None = None) -> object:
    start = torch.ones_like(delta) if start is None else start
    return moved({"w": start}, {"w": start + delta})


def test_a_rank_one_change_has_effective_rank_one() -> None:
    delta = torch.outer(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, -1.0])).double()
    (matrix,) = moved_by(delta).matrices
    assert matrix.effective_rank == pytest.approx(1, abs=1e-6)
    assert matrix.rank_share == pytest.approx(1 / 2, abs=1e-6)
    assert matrix.norm == pytest.approx((14 * 2) ** 0.5)
    assert matrix.relative == pytest.approx((28 / 6) ** 0.5)


def test_the_identity_has_full_effective_rank() -> None:
    (matrix,) = moved_by(torch.eye(5, dtype=torch.float64)).matrices
    assert matrix.effective_rank == pytest.approx(5)
    assert matrix.rank_share == pytest.approx(1)


def test_the_effective_rank_is_the_exponential_of_the_entropy() -> None:
    """p = 1/2, 1/4, 1/4: entropy 1.5 log 2."""
    assert effective_rank(np.array([2.0, 1.0, 1.0, 0.0])) == pytest.approx(2**1.5)


def test_a_parameter_has_changed_once_it_moves_by_more_than_its_share() -> None:
    start = {"w": torch.tensor([[10.0, 10.0], [-10.0, 0.0]]).double(), "b": torch.tensor([1.0]).double()}
    now = {"w": torch.tensor([[10.05, 10.0], [-10.2, 1e-9]]).double(), "b": torch.tensor([1.0]).double()}
    found = moved(start, now, (1e-5, 1e-2, 1.0))
    assert found.changed == {1e-5: 3 / 5, 1e-2: 2 / 5, 1.0: 1 / 5}
    assert found.norm == pytest.approx((0.05**2 + 0.2**2) ** 0.5)
    assert found.relative == pytest.approx(found.norm / 301**0.5)


def test_means_are_over_the_matrices_that_changed_and_vectors_have_none() -> None:
    start = {"a": torch.zeros(2, 2), "b": torch.ones(3, 3), "c": torch.ones(4)}
    now = {"a": torch.eye(2), "b": torch.ones(3, 3), "c": torch.zeros(4)}
    found = moved(start, now)
    assert [matrix.name for matrix in found.matrices] == ["a", "b"]
    assert found.effective_rank == pytest.approx(2)
    assert found.rank_share == pytest.approx(1)
    assert found.matrices[1].effective_rank == Undetermined("the parameters did not change")
    assert found.matrices[0].relative == Undetermined("the parameters were zero at the start")


def test_what_did_not_move_has_no_rank() -> None:
    found = moved_by(torch.zeros(3, 2))
    assert set(found.changed.values()) == {0.0}
    assert (found.norm, found.relative) == (0, 0)
    assert isinstance(found.effective_rank, Undetermined)
    assert isinstance(found.rank_share, Undetermined)
