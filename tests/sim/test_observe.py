"""How far a step may go: the safe radius, the KL that it predicts, and the plane that it is drawn in."""

from typing import Any

import numpy as np
import pytest
import torch

from sim.batch import draw_batch
from sim.config import Config, Plane, Reward, Source, Teacher
from sim.gradients import Linearisation
from sim.signals import advantages, onehot
from sim.timeline import Moment
from sim.world import World
from tests import reference as slow
from tests.shipped import HINTED, RL, SFT, SMALL, batch_of, changed, frame, graded, shared

STEPS = {
    "hinted": changed(HINTED, source={"prompts": 8}),
    "reverse": changed(HINTED, source={"prompts": 8}, teacher={"divergence": "reverse"}),
    "forward": changed(HINTED, source={"prompts": 8}, teacher={"divergence": "forward"}),
    "same family": Config(source=Source(prompts=8, group_size=2), teacher=Teacher(policy="same-family")),
    "over-trained": Config(source=Source(prompts=8, group_size=2), teacher=Teacher(policy="over-trained")),
    "RL": RL,
    "SFT": changed(SFT, source={"prompts": 8}),
    "foreign": changed(SFT, source={"prompts": 8, "data_style": "foreign"}),
    "clipped": changed(HINTED, source={"prompts": 8}, clip={"on": True}),
    "cold": changed(HINTED, source={"prompts": 8, "temperature": 0.7}),
    "adam": changed(HINTED, source={"prompts": 8}, update={"optimiser": "adam"}),
}


@pytest.mark.parametrize("name", list(STEPS))
def test_measured_kl_is_the_predicted_one_at_a_tenth_of_the_safe_radius(name: str) -> None:
    config = graded(STEPS[name])
    ratio = frame(config, complete=False).update.ratio
    assert isinstance(ratio, float)
    found = frame(changed(config, update={"step_size": 0.1 * config.update.step_size / ratio}), complete=False).update
    assert found.ratio == pytest.approx(0.1, rel=1e-3)
    # ratio^2 delta by the definition of the safe radius.
    assert found.kl_predicted == pytest.approx(0.1**2 * STEPS[name].safety.delta, rel=1e-3)
    assert found.kl_measured == pytest.approx(found.kl_predicted, rel=0.3)


def test_measured_kl_is_the_float64_one() -> None:
    config = changed(HINTED, update={"step_size": 0.2})
    found, base = frame(config), World.load().policies["base"]
    moved = shared().state(Moment(config).next_step().path).params
    step = {name: moved[name].double() - value.double() for name, value in base.params.items()}
    expected = slow.kl_of_step(base.model, base.params, step, batch_of(config))
    assert found.update.kl_measured == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("step_size", [1e-2, 1e-4, 1e-6])
def test_a_tiny_step_has_a_tiny_measured_kl_and_never_a_negative_one(step_size: float) -> None:
    found = frame(changed(HINTED, update={"step_size": step_size}), complete=False).update
    assert isinstance(found.kl_measured, float)
    assert isinstance(found.kl_predicted, float)
    assert found.kl_measured >= 0
    # Rounding in float32 moves a log-probability by about 1e-6, and a KL by its square.
    assert found.kl_measured == pytest.approx(found.kl_predicted, rel=0.3, abs=1e-11)


def test_a_step_size_scales_arrows_and_update_and_nothing_else() -> None:
    one, two = frame(HINTED), frame(changed(HINTED, update={"step_size": 2 * HINTED.update.step_size}))
    np.testing.assert_allclose(two.sites.x, 2 * one.sites.x, rtol=1e-6)
    assert two.update.norm == pytest.approx(2 * one.update.norm, rel=1e-6)
    assert two.update.ratio == pytest.approx(2 * one.update.ratio, rel=1e-5)
    assert two.update.safe_radius == pytest.approx(one.update.safe_radius, rel=1e-5)
    np.testing.assert_array_equal(two.sites.norm, one.sites.norm)
    np.testing.assert_allclose(two.sites.share, one.sites.share, rtol=1e-3, atol=1e-6)


def test_delta_scales_the_safe_radius_like_its_root() -> None:
    one, four = frame(HINTED), frame(changed(HINTED, safety={"delta": 4 * HINTED.safety.delta}))
    assert four.update.safe_radius == pytest.approx(2 * one.update.safe_radius, rel=1e-9)
    assert four.update.ratio == pytest.approx(0.5 * one.update.ratio, rel=1e-9)
    np.testing.assert_allclose(four.sites.x, 0.5 * one.sites.x, rtol=1e-9)


@pytest.mark.parametrize("basis", ["checkpoint", "components", "random"])
def test_the_plane_says_which_it_is_and_what_it_catches(basis: Any) -> None:
    found = frame(changed(STEPS["hinted"], plane={"basis": basis}))
    assert found.plane.basis == basis
    for share in (found.plane.captured_share, found.plane.update_share):
        assert isinstance(share, float)
        assert 0 <= share <= 1


def test_principal_components_catch_more_of_the_update_than_a_random_plane() -> None:
    shares = {
        basis: frame(changed(STEPS["hinted"], plane={"basis": basis}), complete=False).plane.update_share
        for basis in ("components", "checkpoint", "random")
    }
    assert shares["components"] > shares["checkpoint"] > shares["random"]


def test_a_plane_of_components_that_do_not_exist_is_not_called_one() -> None:
    equal = Config(source=SMALL, teacher=Teacher(policy="self"), plane=Plane(basis="components"))
    assert frame(equal).plane.basis == "checkpoint"


def test_after_a_step_the_rim_is_drawn_from_the_fisher_matrix_there() -> None:
    assert (frame(HINTED).plane.safe_ellipse == np.eye(2)).all()
    moment = Moment(HINTED).next_step()
    found = shared().frame(moment, complete=False)
    ellipse = found.plane.safe_ellipse
    assert not np.allclose(ellipse, np.eye(2))
    np.testing.assert_allclose(ellipse, ellipse.T)
    assert np.linalg.eigvalsh(ellipse).min() > 0


def test_a_right_arrow_points_where_the_reward_grows() -> None:
    """On fresh rollouts the reward's gradient has a positive first coordinate."""
    base, source = World.load().policies["base"], Source(prompts=64, group_size=8)
    batch = draw_batch(base.model, base.params, source, 77, 0, 0)
    A_B = advantages(batch.reward_B, batch.group_B, Reward(baseline="leave-one-out"))
    point = Linearisation(base.model, base.params, batch)
    token_N = torch.from_numpy(batch.token_N)
    pull = point.pull(onehot(token_N, torch.from_numpy(A_B[batch.sequence_N]), point.log_p_NV))
    first = slow.flat({name: value[0] for name, value in World.load().plane.directions.items()})
    assert float(slow.flat(pull) @ first) > 0
