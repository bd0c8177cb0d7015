"""Frames of any moment: the same to the byte whatever was asked before, and errors that say where."""

import gc
import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sim import presets
from sim.config import Config, Plane, Safety, Teacher
from sim.errors import Cancelled, NonFinite
from sim.frame import Frame
from sim.gradients import Linearisation
from sim.simulator import Simulator
from sim.state import State
from sim.timeline import Moment, Timeline
from sim.world import Weights, World
from tests import reference as slow
from tests.shipped import (
    HINTED,
    RL,
    SFT,
    SMALL,
    changed,
    frame,
    fresh,
    preset,
)

NAMES = presets.names()


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_gives_a_frame_of_finite_numbers(name: str) -> None:
    config = preset(name)
    found = frame(config, complete=False)
    assert len(found.rollouts) == config.source.rollouts
    assert len(found.sites.text) == sum(len(rollout.answer.split()) for rollout in found.rollouts)
    for values in (found.sites.x, found.sites.y, found.sites.signal, found.sites.student_p):
        assert np.isfinite(values).all()
    assert found.sites.norm is None
    assert not found.complete
    assert json.loads(found.dumps())["config"] == config.model_dump(mode="json")


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_gives_the_same_bytes_from_two_fresh_simulators(name: str) -> None:
    config = changed(preset(name), source={"prompts": 2, "group_size": 3})
    one, two = (fresh().frame(Moment(config, draw=1)) for _ in range(2))
    assert one.complete
    assert one.dumps() == two.dumps()


def test_two_processes_give_the_same_bytes() -> None:
    program = """
import torch
from sim.simulator import Simulator
from sim.timeline import Moment
from sim.world import World
from tests.shipped import HINTED

torch.set_num_threads(1)
moment = Moment(HINTED).next_step().next_draw()
print(Simulator(World.load()).frame(moment).dumps(), end="")
"""
    told = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        told.append(done.stdout)
    assert told[0] == told[1]
    assert len(told[0]) > 1000


def test_a_frame_first_shown_without_norms_is_completed_and_not_changed() -> None:
    simulator = fresh()
    first = json.loads(simulator.frame(Moment(HINTED), complete=False).dumps())
    second = json.loads(simulator.frame(Moment(HINTED)).dumps())
    assert second == json.loads(fresh().frame(Moment(HINTED)).dumps())
    pending = {path for path, reason in first["reasons"].items() if reason == "still being computed"}
    assert pending == {
        "sites.norm",
        "measures.mean_norm",
        "measures.concentration.effective_share",
        "measures.concentration.leave_out_angle",
        "plane.captured_share",
    }
    assert first["update"] == second["update"]
    assert first["verdict"] == second["verdict"]
    for a, b in zip(first["sites"], second["sites"], strict=True):
        assert b["norm"] >= 0
        assert a | {"norm": None} == b | {"norm": None}


def test_rewinding_gives_the_frame_that_was_there() -> None:
    simulator, timeline = fresh(), Timeline(HINTED, "start")
    for _ in range(3):
        timeline.act("step", "step", timeline.current.moment.next_step())
        timeline.act("draw", "draw", timeline.current.moment.next_draw())
    shown = [simulator.frame(event.moment, complete=False).dumps() for event in timeline.events]
    for index in (0, 5, 1, 6, 3):
        assert simulator.frame(timeline.rewind(index).moment, complete=False).dumps() == shown[index]


def test_going_straight_to_a_moment_gives_the_frame_of_playing_up_to_it() -> None:
    simulator, moment = fresh(), Moment(HINTED)
    for _ in range(3):
        simulator.frame(moment)
        moment = moment.next_draw()
        simulator.frame(moment, complete=False)
        moment = moment.next_step()
    assert simulator.frame(moment).dumps() == fresh().frame(moment).dumps()


def test_a_step_takes_the_update_of_the_very_frame() -> None:
    config = changed(HINTED, update={"step_size": 0.1})
    moment, simulator = Moment(config, draw=2), fresh()
    found = simulator.frame(moment, complete=False)
    before, after = (slow.flat(simulator.state(one.path).params) for one in (moment, moment.next_step()))
    assert found.update.norm == pytest.approx(float((after - before).norm()), rel=1e-3)


def test_what_was_forgotten_is_computed_again_to_the_bit() -> None:
    config = changed(HINTED, source={"prompts": 1, "group_size": 2}, update={"step_size": 0.01})
    simulator, moments = fresh(), [Moment(config)]
    for _ in range(45):
        moments.append(moments[-1].next_step())
    early = [simulator.frame(moment, complete=False).dumps() for moment in moments[:4]]
    last = simulator.frame(moments[-1], complete=False).dumps()
    for draw in range(8):
        simulator.frame(Moment(config, draw=draw), complete=False)
    assert [simulator.frame(moment, complete=False).dumps() for moment in moments[:4]] == early
    assert simulator.frame(moments[-1], complete=False).dumps() == last


def alive(kind: type) -> int:
    gc.collect()
    # Asking type() touches nothing: isinstance would ask lazy modules for attributes.
    return sum(type(one) is kind for one in gc.get_objects())


def test_memory_does_not_grow_with_what_was_looked_at() -> None:
    simulator = fresh()
    config = changed(HINTED, source={"prompts": 1, "group_size": 1}, update={"step_size": 0.01})

    def look(first: int, last: int) -> tuple[int, ...]:
        moment = Moment(config)
        for step in range(last):
            moment = moment.next_step()
            if step >= first:
                simulator.frame(moment, complete=False)
        for number in range(first, last):
            other = changed(config, clip={"on": True, "threshold": 0.01 * (number + 1)})
            simulator.frame(Moment(other), complete=False)
            simulator.frame(Moment(config, draw=number), complete=False)
        return tuple(alive(kind) for kind in (Linearisation, State, Frame))

    before = look(0, 34)
    after = look(34, 44)
    assert all(now <= then + 2 for then, now in zip(before, after, strict=True)), (before, after)
    assert before[0] < 20


def test_a_changed_clip_or_lambda_draws_no_new_batch() -> None:
    free, clipped = frame(HINTED), frame(changed(HINTED, clip={"on": True}, teacher={"weight": 0.5}))
    assert free.rollouts == clipped.rollouts
    assert (free.sites.student_p == clipped.sites.student_p).all()


def test_frames_do_not_depend_on_what_was_asked_before() -> None:
    configs = [HINTED, changed(HINTED, clip={"on": True}), changed(HINTED, teacher={"divergence": "forward"}), RL]
    configs += [changed(HINTED, plane={"basis": basis}) for basis in ("random", "components")]
    configs += [changed(HINTED, teacher=teacher) for teacher in ({"context": "rule"}, {"policy": "same-family"})]
    configs += [changed(HINTED, update={"optimiser": "adam"}), changed(HINTED, source={"temperature": 0.5})]
    alone = [fresh().frame(Moment(config), complete=False).dumps() for config in configs]
    together = fresh()
    assert [together.frame(Moment(config), complete=False).dumps() for config in configs] == alone
    assert [together.frame(Moment(config), complete=False).dumps() for config in reversed(configs)] == alone[::-1]


def test_one_simulator_serves_many_threads() -> None:
    configs = [changed(HINTED, teacher={"weight": weight}) for weight in (1.0, 0.5)]
    moments = [Moment(config, draw=draw) for draw in range(3) for config in configs] * 2
    expected = {moment: fresh().frame(moment, complete=False).dumps() for moment in set(moments)}
    simulator = fresh()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda moment: simulator.frame(moment, complete=False).dumps(), moments))
    assert found == [expected[moment] for moment in moments]


def test_a_computation_can_be_cancelled_while_norms_are_computed() -> None:
    simulator = fresh()
    with pytest.raises(Cancelled):
        simulator.frame(Moment(HINTED), cancel=lambda: True)
    assert simulator.frame(Moment(HINTED)).dumps() == fresh().frame(Moment(HINTED)).dumps()


def test_a_replay_can_be_cancelled_between_steps() -> None:
    moment, asked = Moment(HINTED), []
    for _ in range(5):
        moment = moment.next_step()

    def stop() -> bool:
        asked.append(True)
        return len(asked) == 3

    simulator = fresh()
    with pytest.raises(Cancelled, match="step"):
        simulator.state(moment.path, stop)
    assert len(asked) == 3
    assert slow.flat(simulator.state(moment.path).params).equal(slow.flat(fresh().state(moment.path).params))


def broken(value: float, where: str = "base") -> Simulator:
    world = World.load()
    weights = world.policies[where]
    params = dict(weights.params) | {"head.weight": torch.full_like(weights.params["head.weight"], value)}
    return Simulator(World({**world.policies, where: Weights(weights.model, params)}, world.plane))


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_weights_that_are_not_finite_stop_with_the_name_of_the_stage(value: float) -> None:
    with pytest.raises(NonFinite, match="rollout"):
        broken(value).frame(Moment(HINTED))
    with pytest.raises(NonFinite, match=r"\w+: "):
        broken(value).frame(Moment(SFT))
    with pytest.raises(NonFinite, match=r"\w+: "):
        broken(value, "same-family").frame(Moment(Config(source=SMALL, teacher=Teacher(policy="same-family"))))


@pytest.mark.parametrize("config", [HINTED, SFT])
@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_wild_steps_give_finite_frames_or_say_where_it_went_wrong(config: Config, optimiser: Any) -> None:
    moment = Moment(changed(config, update={"step_size": 100.0, "optimiser": optimiser}))
    simulator = fresh()
    try:
        for _ in range(5):
            body = json.loads(simulator.frame(moment).dumps(), parse_constant=pytest.fail)
            assert body["update"]["kl_measured"] >= 0
            moment = moment.next_step()
    except NonFinite as error:
        assert ":" in str(error)


def test_a_failed_frame_leaves_the_simulator_as_it_was() -> None:
    simulator = fresh()
    good = simulator.frame(Moment(HINTED), complete=False).dumps()
    with pytest.raises(Cancelled):
        simulator.frame(Moment(HINTED).next_step(), cancel=lambda: True)
    assert simulator.frame(Moment(HINTED), complete=False).dumps() == good


def test_a_low_temperature_leaves_no_nan() -> None:
    for divergence in ("sampled-reverse", "reverse", "forward"):
        config = changed(HINTED, source={"temperature": 0.05}, teacher={"divergence": divergence})
        json.loads(frame(config).dumps(), parse_constant=pytest.fail)


def test_settings_that_only_a_gauge_reads_take_the_same_step() -> None:
    looked = Config(source=SMALL, teacher=HINTED.teacher, safety=Safety(delta=0.5), plane=Plane(basis="random"))
    one, two = (fresh().state(Moment(config).next_step().path).params for config in (HINTED, looked))
    assert slow.flat(one).equal(slow.flat(two))
