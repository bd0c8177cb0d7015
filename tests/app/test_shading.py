"""What tokens are shaded by, on frames whose columns are set by hand."""

from dataclasses import replace

import numpy as np
import pytest

from app import shading
from app.palette import THEMES
from tests.app.conftest import sample
from tests.app.test_lens import with_shares


def test_a_shade_is_the_signed_root_of_the_value_over_a_round_end_of_the_scale() -> None:
    frame = with_shares({0: 0.31, 1: -0.125, 2: 0.00002})
    column = shading.column(frame, "share", [0, 1, 2, 3])
    assert column.shades == pytest.approx((np.sqrt(0.62), -0.5, 0.006, 0), abs=1e-3)
    assert column.said == (
        "pulls with the update, 31 %",
        "pulls against the update, 12 %",
        "pulls with the update, under 0.01 %",
        "does not pull on the update, 0 %",
    )
    assert column.ticks == ((-1.0, "−50 %"), (-0.5, "−12 %"), (0.0, "0 %"), (0.5, "12 %"), (1.0, "50 %"))
    assert column.missing == ""


def test_the_scale_is_that_of_the_batch_whatever_part_of_it_is_shown() -> None:
    frame = with_shares({0: 0.5, 9: 0.005})
    assert shading.column(frame, "share", [9]).shades == pytest.approx((0.1,))


@pytest.mark.parametrize(
    ("value", "end"), [(0.0, 0.0), (0.31, 0.5), (1.0, 1.0), (1.01, 2.0), (0.05, 0.05), (7.0, 10.0), (0.0021, 0.005)]
)
def test_a_scale_ends_at_one_two_or_five(value: float, end: float) -> None:
    assert shading.ceiling(value) == pytest.approx(end)


def test_a_batch_without_a_signal_has_a_scale_of_zero() -> None:
    zero = replace(sample().sites, signal=np.zeros(len(sample().sites.text)))
    column = shading.column(replace(sample(), sites=zero), "signal", [0])
    assert column.shades == (0.0,)
    assert column.ticks == ((0.0, "0 nats"),)


def test_a_quantity_that_is_known_in_places_says_where_it_is_not_and_why() -> None:
    kl = sample().sites.kl.copy()
    kl[[0, 3]] = np.nan
    frame = replace(sample(), sites=replace(sample().sites, kl=kl))
    column = shading.column(frame, "kl", [0, 1])
    assert column.shades[0] is None
    assert column.shades[1] is not None
    assert column.said[0] == "KL to the teacher undetermined"
    assert column.missing.startswith(f"undetermined for 2 of {len(kl)} tokens: ")


def test_norms_that_are_still_computed_say_so() -> None:
    column = shading.column(replace(sample(), sites=replace(sample().sites, norm=None)), "norm", [0, 1])
    assert column.shades == (None, None)
    assert column.missing == "still being computed"


def test_probability_is_shaded_on_the_same_scale_in_every_batch() -> None:
    ends = shading.column(sample(), "student_p", [0]).ticks
    assert ends == ((0.0, "0"), (0.5, "0.250"), (1.0, "1.00"))


def test_the_deepest_shade_leaves_ink_a_contrast_of_four_and_a_half_in_every_theme() -> None:
    def light(color: list[float]) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def rgb(text: str) -> list[float]:
        return [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]

    for palette in THEMES.values():
        for color in (palette.with_update, palette.against_update, palette.aim):
            mixed = [(a + b) / 2 for a, b in zip(rgb(color), rgb(palette.paper), strict=True)]
            darker, lighter = sorted([light(mixed), light(rgb(palette.ink))])
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5
