"""What the presets are there to show, measured on the shipped weights over many draws."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from sim.batch import draw_batch
from sim.config import Config
from sim.frame import Frame
from sim.gradients import Linearisation, norm
from sim.optimiser import token_weights
from sim.presets import builtin
from sim.teachers import weigh
from sim.timeline import Moment
from sim.train import train
from sim.world import World
from tests.shipped import shared

#: Ten of ten speak as surely for more than seven in ten as 18 of 20 would (one-sided 95 %: 0.74 and 0.72).
DRAWS = 10

pytestmark = pytest.mark.slow


def frames(config: Config) -> list[Frame]:
    return [shared().frame(replace(Moment(config), draw=draw), complete=False) for draw in range(DRAWS)]


def count(frames: list[Frame], *levels: str) -> int:
    return sum(frame.verdict.level in levels for frame in frames)


@cache
def undefended_and_clipped() -> tuple[list[Frame], list[Frame]]:
    """Frames of the collapse's lesson, and with the clip on; draw by draw, since both have the same batch."""
    collapse = builtin("opsd-collapse").config
    pairs = [
        tuple(shared().frame(replace(Moment(config), draw=draw), complete=False) for config in (collapse, clipped()))
        for draw in range(DRAWS)
    ]
    return [free for free, _ in pairs], [held for _, held in pairs]


def clipped() -> Config:
    collapse = builtin("opsd-collapse").config
    return collapse.model_copy(update={"clip": collapse.clip.model_copy(update={"on": True})})


def test_undefended_self_distillation_is_past_the_safe_radius() -> None:
    assert count(undefended_and_clipped()[0], "past") == DRAWS


def test_the_same_draws_are_inside_once_clipped() -> None:
    assert clipped() == builtin("opsd-clipped").config
    assert count(undefended_and_clipped()[1], "inside", "near") == DRAWS


def test_a_large_batch_of_rewards_is_inside() -> None:
    assert count(frames(builtin("rl-noise-cancels").config), "inside") == DRAWS


def test_the_norm_of_the_reward_update_falls_like_the_root_of_the_batch_until_its_signal_remains() -> None:
    """|G|^2 scatters by 1.7 of its mean over draws of 4 prompts and by 0.5 of it over draws of 32: few do there."""
    draws = {4: 16, 8: 16, 16: 16, 32: 8, 64: 4}
    slope, smallest, largest = fitted_slope(builtin("rl-noise-cancels").config, draws)
    assert -0.65 < slope < -0.3
    assert largest < 0.5 * smallest


def test_the_norm_of_the_supervised_update_hardly_falls_with_the_batch() -> None:
    """From about a hundred answers on; a handful of prompts is noise here too."""
    slope, smallest, largest = fitted_slope(builtin("sft-fan").config, {16: 16, 32: 16, 64: 8})
    assert -0.22 < slope <= 0.05
    assert largest > 0.75 * smallest


def test_a_live_teacher_and_its_student_lead_each_other_astray_and_a_frozen_one_holds() -> None:
    ends = {}
    for name in ("opsd-collapse", "opsd-frozen-teacher"):
        *_, ends[name] = train(shared(), builtin(name).config, steps=30, every=30, measures=False)
    assert ends["opsd-collapse"].verdict == "collapsed"
    assert ends["opsd-collapse"].task_accuracy < 0.1
    assert ends["opsd-frozen-teacher"].verdict != "collapsed"
    assert ends["opsd-frozen-teacher"].task_accuracy > 0.8


def fitted_slope(config: Config, draws: dict[int, int]) -> tuple[float, float, float]:
    """The slope of log |G| against log rollouts, and the root mean squares at the smallest and the largest batch.

    `draws` says how many there are of each number of prompts.
    """
    lengths = [root_mean_square(config, *each) for each in draws.items()]
    return float(np.polyfit(np.log(list(draws)), np.log(lengths), 1)[0]), lengths[0], lengths[-1]


def root_mean_square(config: Config, prompts: int, draws: int) -> float:
    base = World.load().policies["base"]
    source = config.source.model_copy(update={"prompts": prompts})
    squares = []
    for draw in range(draws):
        batch = draw_batch(base.model, base.params, source, config.seed, 0, draw)
        point = Linearisation(base.model, base.params, batch)
        # Neither reward nor label needs a teacher's log-probabilities; any stand in.
        log_q_NV = None if config.teacher.policy == "label" else point.log_p_NV
        rows_NV = weigh(batch, point.log_p_NV, log_q_NV, config).rows_NV
        squares.append(norm(point.pull(rows_NV, token_weights(batch, config.update.aggregation))) ** 2)
    return float(np.sqrt(np.mean(squares)))
