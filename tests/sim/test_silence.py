"""Zeros that must be exact, and what the dials between them mix."""

from typing import Any

import numpy as np
import pytest

from sim.config import Clip, Config, Teacher
from sim.frame import Frame, Undetermined
from sim.timeline import Moment
from tests.shipped import HINTED, RL, SFT, SMALL, changed, frame, graded, shared


def silent(found: Frame) -> None:
    """No arrow, no update, and a reason instead of a number."""
    sites, update = found.sites, found.update
    assert sites.norm is not None
    for values in (sites.x, sites.y, sites.norm, sites.signal, sites.unclipped_x, sites.unclipped_y):
        assert not values.any()
    assert (update.x, update.y, update.norm, update.kl_predicted, update.kl_measured) == (0, 0, 0, 0, 0)
    for reading in (update.ratio, update.safe_radius, update.reward_cosine, found.measures.bias.coherence):
        assert isinstance(reading, Undetermined)
    assert found.verdict.level == "none"
    assert found.measures.density.silent_groups == 1


@pytest.mark.parametrize("divergence", ["sampled-reverse", "reverse", "forward"])
@pytest.mark.parametrize("parameters", ["live", "frozen", "average"])
@pytest.mark.parametrize("on", [False, True])
def test_a_teacher_equal_to_the_student_gives_exactly_zero_arrows(divergence: Any, parameters: Any, on: bool) -> None:
    teacher = Teacher(policy="self", parameters=parameters, divergence=divergence)
    found = frame(Config(source=SMALL, teacher=teacher, clip=Clip(on=on, threshold=0.05)))
    silent(found)
    assert not found.sites.kl.any()
    assert (found.sites.student_p == found.sites.teacher_p).all()


def test_a_frozen_teacher_is_the_student_no_more_after_a_step() -> None:
    frozen = Config(source=SMALL, teacher=Teacher(policy="self", parameters="frozen"))
    moment = Moment(HINTED).next_step().with_config(frozen)
    assert shared().frame(moment, complete=False).sites.x.any()
    live = changed(frozen, teacher={"parameters": "live"})
    silent(shared().frame(moment.with_config(live)))


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("baseline", ["mean", "leave-one-out"])
def test_equal_rewards_give_exactly_zero_arrows(normalise: bool, baseline: Any) -> None:
    """Data answers are all right, so every reward is 1."""
    config = changed(RL, source={"alpha": 0.0, "prompts": 2}, reward={"normalise": normalise, "baseline": baseline})
    silent(frame(config))


def test_equal_rewards_leave_the_teachers_arrows() -> None:
    config = changed(HINTED, source={"alpha": 0.0}, teacher={"weight": 0.5})
    whole = changed(config, teacher={"weight": 1.0})
    np.testing.assert_allclose(frame(config).sites.x, 0.5 * frame(whole).sites.x, rtol=1e-5, atol=1e-7)
    assert frame(config).sites.x.any()


def test_lambda_mixes_the_arrows_of_teacher_and_reward() -> None:
    config = graded(RL)
    teacher, reward, both = (changed(config, teacher={"weight": weight}) for weight in (1.0, 0.0, 0.25))
    expected = 0.25 * frame(teacher).sites.x + 0.75 * frame(reward).sites.x
    np.testing.assert_allclose(frame(both).sites.x, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_a_label_says_nothing_on_the_students_own_prefixes() -> None:
    found = frame(changed(SFT, source={"alpha": 0.5}))
    own = found.sites.on_policy
    assert own.any()
    assert not own.all()
    assert not found.sites.x[own].any()
    assert np.isnan(found.sites.teacher_p[own]).all()
    assert (found.sites.teacher_p[~own] == 1).all()


def test_rewards_normalised_by_the_groups_spread_scale_the_arrows() -> None:
    config = graded(RL)
    plain, divided = frame(config), frame(changed(config, reward={"normalise": True}))
    group = np.array([rollout.group for rollout in plain.rollouts])
    reward = np.array([rollout.reward for rollout in plain.rollouts])
    for number in np.unique(group):
        r = reward[group == number]
        sites = np.isin(plain.sites.sequence, np.flatnonzero(group == number))
        if np.ptp(r) > 0:
            expected = plain.sites.x[sites] / (r.std(ddof=1) + 1e-4)
            np.testing.assert_allclose(divided.sites.x[sites], expected, rtol=1e-4, atol=1e-7)
        else:
            assert not divided.sites.x[sites].any()
