"""How |G| falls with the batch: known laws, and gradients of the shipped student."""

import math
from dataclasses import replace

import numpy as np
import pytest

from sim.batch_law import BatchLaw, Size, batch_law, lengths, sizes_of
from sim.config import Config, Source
from sim.errors import Cancelled
from sim.frame import Undetermined
from sim.gradients import dot
from sim.timeline import Moment
from tests.shipped import RL, SFT, changed, fresh, shared

FOUR = changed(SFT, source={"group_size": 64})


def size(prompts: int, squared: float, error: float = 0.0, group_size: int = 4) -> Size:
    return Size(prompts, prompts * group_size, 16, squared, error, 0)


def exact(signal: float, noise: float, count: int = 6, relative: float = 0.05) -> list[Size]:
    values = {2**i: signal + noise / 2**i for i in range(count)}
    return [size(B, value, relative * value) for B, value in values.items()]


def sampled(mu: np.ndarray, count: int, draws: int, seed: int) -> list[Size]:
    """Batches of vectors mu + e, e standard normal, so that tr(Sigma) is the dimension."""
    rng, found = np.random.default_rng(seed), []
    for B in (2**i for i in range(count)):
        squares = ((mu + rng.normal(size=(draws, B, len(mu))).mean(1)) ** 2).sum(-1)
        found.append(Size(B, 4 * B, draws, float(squares.mean()), float(squares.std(ddof=1) / math.sqrt(draws)), 0))
    return found


def test_signal_and_noise_are_told_apart_where_the_law_is_exact() -> None:
    """|mu|^2 = 2, tr(Sigma) = 12: they are equal at six prompts, 24 rollouts of groups of four."""
    found = batch_law(exact(2, 12))
    assert found.signal == pytest.approx(2)
    assert found.noise == pytest.approx(12)
    assert found.noise_scale_prompts == pytest.approx(6)
    assert found.noise_scale_rollouts == pytest.approx(24)


def test_the_slope_is_a_half_for_noise_alone_and_nothing_for_signal_alone() -> None:
    noise, signal = batch_law(exact(0, 3)), batch_law(exact(3, 0))
    assert noise.slope == pytest.approx(-0.5)
    assert signal.slope == pytest.approx(0)
    assert signal.noise_scale_prompts == pytest.approx(0, abs=1e-9)


def test_a_signal_that_is_not_above_the_noise_leaves_the_noise_scale_open() -> None:
    found = batch_law(exact(0, 3))
    assert isinstance(found.noise_scale_prompts, Undetermined)
    assert found.noise_scale_prompts.reason.startswith("the signal is not above the noise up to 32 prompts")
    assert found.noise == pytest.approx(3)


def test_batches_without_a_signal_leave_everything_open() -> None:
    few = Undetermined("2 of 5 batch sizes carry a signal; the fit needs 3")
    sizes = [*(size(B, 0) for B in (1, 2, 4)), size(8, 1), size(16, 1)]
    assert batch_law(sizes) == BatchLaw(few, few, few, few, few, few)


def test_a_surer_size_counts_for_more() -> None:
    """Signal 2, noise 12 but for one size that is off by half: the less sure that is, the less it matters."""
    *others, last = exact(2, 12)
    off = [batch_law([*others, replace(last, squared=1.5 * last.squared, error=error)]) for error in (0.05, 10)]
    assert abs(off[1].signal - 2) < 0.01 < 0.2 < abs(off[0].signal - 2)


@pytest.mark.parametrize("length", [0.0, 1.0])
def test_the_fit_is_right_on_average_and_its_error_is_the_scatter(length: float) -> None:
    mu = np.zeros(20)
    mu[0] = length
    found = [batch_law(sampled(mu, 6, 16, seed)) for seed in range(100)]
    signals, noises = np.array([each.signal for each in found]), np.array([each.noise for each in found])
    scatter = signals.std(ddof=1)
    assert abs(signals.mean() - length**2) < 0.5 * scatter
    assert noises.mean() == pytest.approx(20, rel=0.05)
    assert np.mean([each.signal_error for each in found]) == pytest.approx(scatter, rel=0.4)
    open_ = sum(isinstance(each.noise_scale_prompts, Undetermined) for each in found)
    assert open_ > 85 if length == 0 else open_ < 15


def test_sizes_are_powers_of_two_up_to_what_a_batch_may_have() -> None:
    assert sizes_of(FOUR) == (1, 2, 4, 8)
    assert sizes_of(Config(source=Source(prompts=1, group_size=1))) == (1, 2, 4, 8, 16, 32, 64, 128, 256)
    assert sizes_of(Config(source=Source(prompts=1, group_size=48))) == (1, 2, 4, 8)


def test_a_size_is_the_mean_square_of_the_simulators_gradients() -> None:
    found = list(lengths(shared(), FOUR, draws=2))
    assert [(each.prompts, each.rollouts) for each in found] == [(1, 64), (2, 128), (4, 256), (8, 512)]
    wanted = changed(FOUR, source={"prompts": 2})
    squares = []
    for draw in (2, 3):
        gradient, batch = shared().gradient(Moment(wanted, draw=draw))
        assert len(batch.answers) == 128
        squares.append(dot(gradient, gradient))
    assert found[1].squared == pytest.approx(np.mean(squares))
    assert found[1].error == pytest.approx(abs(squares[0] - squares[1]) / 2)
    assert found[1].root_mean_square == pytest.approx(math.sqrt(np.mean(squares)))


def test_batches_without_a_signal_are_counted() -> None:
    """One rollout a prompt has no advantage."""
    found = next(lengths(shared(), changed(RL, source={"group_size": 1}), draws=3))
    assert (found.silent, found.squared) == (3, 0)


def test_the_measurement_tells_how_far_it_is_and_can_be_stopped() -> None:
    done: list[int] = []
    stopping = lengths(fresh(), FOUR, draws=2, progress=done.append, cancel=lambda: len(done) == 3)
    with pytest.raises(Cancelled, match="stopped at 2 prompts, draw 1 of 2"):
        list(stopping)
    assert done == [1, 2, 3]


@pytest.mark.slow
def test_the_fitted_signal_is_that_of_products_of_independent_gradients() -> None:
    """For independent draws E <G, G'> = |mu|^2, whatever the noise."""
    law = batch_law(list(lengths(shared(), FOUR, draws=16)))
    config = changed(FOUR, source={"prompts": 4})
    gradients = [shared().gradient(Moment(config, draw=1000 + draw))[0] for draw in range(12)]
    products = [dot(a, b) for i, a in enumerate(gradients) for b in gradients[:i]]
    error = np.std(products, ddof=1) / math.sqrt(len(gradients))
    assert law.signal == pytest.approx(float(np.mean(products)), abs=3 * math.hypot(error, law.signal_error))
