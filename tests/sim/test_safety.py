"""The safe radius, the safe region's rim, and the verdict on one step."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.frame import Undetermined
from sim.plane import to_units
from sim.safety import NEAR, judge, safe_ellipse, safe_radius


def test_a_step_to_the_safe_radius_has_a_predicted_kl_of_delta() -> None:
    r = safe_radius(3.7, 0.01)
    assert 0.5 * 3.7 * r**2 == pytest.approx(0.01)


def test_a_direction_that_changes_nothing_is_safe_however_far() -> None:
    assert safe_radius(0.0, 0.01) == math.inf


def random_fisher(seed: int) -> np.ndarray:
    a = np.random.default_rng(seed).normal(size=(2, 3))
    return a @ a.T


@given(st.integers(0, 200), st.floats(1e-4, 1))
def test_the_ellipse_maps_the_unit_circle_to_the_rim(seed: int, delta: float) -> None:
    fisher, units = random_fisher(seed), to_units(random_fisher(seed + 1000), 0.01)
    M = safe_ellipse(fisher, units, delta)
    for angle in np.linspace(0, 2 * math.pi, 7):
        p = np.linalg.solve(units, M @ [math.cos(angle), math.sin(angle)])
        assert p @ fisher @ p == pytest.approx(2 * delta, rel=1e-5)


def test_the_ellipse_is_the_unit_circle_where_the_units_were_taken() -> None:
    fisher = random_fisher(3)
    np.testing.assert_allclose(safe_ellipse(fisher, to_units(fisher, 0.02), 0.02), np.eye(2), atol=1e-6)


@pytest.mark.parametrize(
    ("ratio", "level"),
    [(0.0, "inside"), (NEAR, "inside"), (0.81, "near"), (1.0, "near"), (1.001, "past"), (150.0, "past")],
)
def test_the_verdict_compares_the_step_with_the_safe_radius(ratio: float, level: str) -> None:
    assert judge(ratio, 0.0, 0.01).level == level


def test_a_step_that_could_not_be_had_gets_no_verdict_and_says_why() -> None:
    verdict = judge(Undetermined("nothing pulls"), 0.0, 0.01)
    assert verdict.level == "none"
    assert verdict.rule == "nothing pulls"


def test_no_verdict_on_one_step_says_collapsed() -> None:
    assert not any("collapse" in judge(ratio, 1.0, 0.01).word for ratio in (0.1, 0.9, 2.0, 1e9, Undetermined("")))


def test_a_step_whose_measured_kl_breaks_the_prediction_is_past_the_radius() -> None:
    """As after a collapse, when the quadratic prediction is zero and the step is vast."""
    assert judge(0.0, 6e6, 0.001).level == "past"
    assert judge(0.5, 0.0021, 0.001).level == "past"
    assert judge(0.5, 0.0019, 0.001).level == "inside"
    assert judge(0.5, Undetermined("not measured"), 0.001).level == "inside"
