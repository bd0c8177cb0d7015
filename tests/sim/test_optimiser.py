"""Steps against torch's optimisers, and the weights by which gradients add up."""

import dataclasses

import numpy as np
import pytest
import torch

from sim.config import Config, Teacher, Update
from sim.optimiser import Moments, propose, token_weights
from sim.state import State
from tests import reference as slow

SHAPES = {"a": (3, 4), "b": (5,)}


def gradients(count: int) -> list[dict[str, torch.Tensor]]:
    """Gradients over many decades; one coordinate never moves."""
    rng = torch.Generator().manual_seed(0)
    found = []
    for _ in range(count):
        one = {
            name: torch.randn(shape, generator=rng, dtype=torch.float64)
            * 10 ** (4 * torch.rand(shape, generator=rng, dtype=torch.float64) - 4)
            for name, shape in SHAPES.items()
        }
        one["b"][2] = 0
        found.append(one)
    return found


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_steps_are_those_that_torch_takes(optimiser: str) -> None:
    update = Update.model_validate({"optimiser": optimiser, "step_size": 0.3})
    start = {name: torch.zeros(shape, dtype=torch.float64) for name, shape in SHAPES.items()}
    theirs = {name: value.clone().requires_grad_() for name, value in start.items()}
    kind = torch.optim.Adam if optimiser == "adam" else torch.optim.SGD
    torch_optimiser = kind(theirs.values(), lr=0.3, maximize=True)
    state = State.initial(start)
    for gradient in gradients(6):
        for name, value in theirs.items():
            value.grad = gradient[name].clone()
        torch_optimiser.step()
        state = state.advance(propose(gradient, update, state.moments), Config(update=update))
        for name, value in theirs.items():
            torch.testing.assert_close(state.params[name], value.detach(), rtol=1e-12, atol=1e-12)


def test_a_proposal_changes_nothing_that_it_was_given() -> None:
    gradient = gradients(1)[0]
    moments = Moments.zero(gradient)
    propose(gradient, Update(optimiser="adam"), moments)
    assert moments.count == 0
    assert not any(value.any() for part in (moments.mean, moments.square) for value in part.values())


def test_a_coordinate_that_no_gradient_ever_touched_does_not_move() -> None:
    moments = Moments.zero(gradients(1)[0])
    for gradient in gradients(4):
        proposed = propose(gradient, Update(optimiser="adam", step_size=100.0), moments)
        moments = proposed.moments
        assert proposed.step["b"][2] == 0
        assert all(torch.isfinite(value).all() for value in proposed.step.values())


def test_the_first_step_of_adam_is_its_preconditioner_times_the_gradient() -> None:
    gradient = gradients(1)[0]
    proposed = propose(gradient, Update(optimiser="adam", step_size=0.5), Moments.zero(gradient))
    assert proposed.preconditioner is not None
    for name, g in gradient.items():
        torch.testing.assert_close(proposed.step[name], 0.5 * proposed.preconditioner[name] * g)


def test_plain_sgd_is_the_step_size_times_the_gradient() -> None:
    gradient = gradients(1)[0]
    proposed = propose(gradient, Update(step_size=2.0), Moments.zero(gradient))
    assert proposed.preconditioner is None
    assert all(torch.equal(proposed.step[name], 2 * g) for name, g in gradient.items())


def test_the_moving_average_follows_the_parameters() -> None:
    one = {"a": torch.zeros(1, dtype=torch.float64)}
    teacher = Teacher(policy="self", parameters="average", decay=0.9)
    state, config = State.initial(one), Config(teacher=teacher, update=Update(step_size=1.0))
    average, theta = 0.0, 0.0
    for _ in range(3):
        state = state.advance(propose({"a": torch.ones(1, dtype=torch.float64)}, config.update, state.moments), config)
        theta += 1
        average = 0.9 * average + 0.1 * theta
        assert float(state.params["a"]) == theta
        assert float(state.average["a"]) == pytest.approx(average, rel=1e-12)


@pytest.mark.parametrize(
    ("aggregation", "short", "long"),
    [("sequence", 0.25, 1 / 12), ("token", 0.125, 0.125), ("constant", 1 / 72, 1 / 72)],
)
def test_the_three_means_weigh_a_token_as_their_names_say(aggregation: str, short: float, long: float) -> None:
    """Two rollouts, of 2 and 6 tokens."""
    batch = slow.make_batch([[1], [2]], [[3] * 2, [4] * 6])
    found = token_weights(batch, aggregation).tolist()
    assert found == pytest.approx([short] * 2 + [long] * 6, rel=1e-6)


@pytest.mark.parametrize(
    ("aggregation", "short", "long"),
    [("sequence", 0.25, 1 / 12), ("token", 0.125, 0.125), ("constant", 1 / 72, 1 / 72)],
)
def test_what_rejection_drops_has_no_weight_and_counts_in_no_mean(aggregation: str, short: float, long: float) -> None:
    """Two rollouts of 2 and 6 tokens are kept; one of 5 before them and one of 3 between them are not."""
    batch = slow.make_batch([[1], [2], [3], [4]], [[5] * 5, [3] * 2, [6] * 3, [4] * 6])
    batch = dataclasses.replace(batch, kept_B=np.array([False, True, False, True]))
    found = token_weights(batch, aggregation).tolist()
    assert found == pytest.approx([0] * 5 + [short] * 2 + [0] * 3 + [long] * 6, rel=1e-6)
    assert found[:5] == [0] * 5


@pytest.mark.parametrize("aggregation", ["sequence", "token", "constant"])
def test_a_batch_of_which_nothing_is_kept_has_zero_weights_and_no_nan(aggregation: str) -> None:
    batch = dataclasses.replace(slow.random_batch(), kept_B=np.zeros(4, bool))
    assert token_weights(batch, aggregation).tolist() == [0] * 17


@pytest.mark.parametrize("aggregation", ["sequence", "token", "constant"])
def test_weights_after_rejection_are_those_of_the_batch_that_is_left(aggregation: str) -> None:
    whole = slow.random_batch()
    kept = np.array([True, False, True, True])
    left = slow.make_batch(
        *([each for each, stays in zip(part, kept, strict=True) if stays] for part in (whole.prompts, whole.answers))
    )
    found = token_weights(dataclasses.replace(whole, kept_B=kept), aggregation)
    assert torch.equal(found[torch.from_numpy(kept[whole.sequence_N])], token_weights(left, aggregation))
