"""The shipped weights are what they are said to be."""

import pytest

from sim.resources import assets
from sim.targets import Target, measure
from sim.world import NAMES, World, weights_file


def test_a_target_is_met_within_its_range_only() -> None:
    assert Target("x", 0.5, 0.5, 0.6).met
    assert not Target("x", 0.49, 0.5, 0.6).met
    assert not Target("x", float("nan"), 0.0, 1.0).met


def test_all_weights_together_are_under_ten_megabytes() -> None:
    assert sum(weights_file(name).stat().st_size for name in NAMES) < 10e6


def test_the_notes_on_the_weights_name_every_file() -> None:
    text = (assets() / "README.md").read_text()
    assert all(f"{name}.safetensors" in text for name in NAMES)


@pytest.mark.slow
def test_the_shipped_weights_meet_every_target() -> None:
    missed = [target for target in measure(World.load()) if not target.met]
    assert not missed
