"""The yardsticks for colours, against published values."""

import numpy as np
import pytest

from tests.eyes import EYES, apart, ciede2000, contrast, linear

#: Pairs of L*a*b* with their difference, from the test data of Sharma, Wu and Dalal 2005.
PUBLISHED = [
    ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
    ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0000),
    ((50, 0, 0), (50, -1, 2), 2.3669),
    ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
    ((50, 2.5, 0), (73, 25, -18), 27.1492),
    ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
]


@pytest.mark.parametrize(("one", "other", "difference"), PUBLISHED)
def test_differences_are_the_published_ones(
    one: tuple[float, ...], other: tuple[float, ...], difference: float
) -> None:
    assert ciede2000(one, other) == pytest.approx(difference, abs=5e-5)
    assert ciede2000(other, one) == pytest.approx(difference, abs=5e-5)


def test_contrast_is_1_to_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == 1
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("eyes", EYES)
def test_grey_looks_the_same_to_all_eyes(eyes: str) -> None:
    assert EYES[eyes] @ linear("#888888") == pytest.approx(linear("#888888"), abs=1e-5)


def test_red_and_green_of_one_lightness_are_apart_only_for_eyes_with_all_cones() -> None:
    assert apart("#c8553d", "#6f8b2d", "all cones") > 30
    assert apart("#c8553d", "#6f8b2d", "deuteranopia") < 15
    assert np.argmin([apart("#c8553d", "#6f8b2d", eyes) for eyes in EYES]) in (1, 2)
