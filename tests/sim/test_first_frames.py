"""The first frame of every preset that ships: whole, and with the ratio that the README says."""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sim.frame import Frame
from sim.presets import builtin, names
from tests.shipped import frame

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


@cache
def first(name: str) -> Frame:
    return frame(builtin(name).config, complete=False)


@pytest.mark.parametrize("name", names())
def test_every_preset_gives_a_frame_of_finite_numbers(name: str) -> None:
    found = first(name)
    config = builtin(name).config
    assert len(found.rollouts) == config.source.rollouts
    assert len(found.sites.text) == sum(len(rollout.answer.split()) for rollout in found.rollouts)
    for values in (found.sites.x, found.sites.y, found.sites.signal, found.sites.student_p):
        assert np.isfinite(values).all()
    assert found.sites.norm is None
    assert not found.complete
    assert json.loads(found.dumps())["config"] == config.model_dump(mode="json")


def test_the_readme_lists_every_preset_with_the_ratio_that_its_first_frame_has() -> None:
    listed = dict(re.findall(r"^\| ([a-z-]+) \| ([0-9.]+|no signal) \|", README, re.MULTILINE))
    assert sorted(listed) == sorted(names())
    for name, said in listed.items():
        ratio = first(name).update.ratio
        # Another processor rounds otherwise, and may sample another word.
        assert float(said) == pytest.approx(ratio, rel=0.05) if isinstance(ratio, float) else said == "no signal", name
