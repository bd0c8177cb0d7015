"""Frames of any moment: the same to the byte whatever was asked before, and errors that say where."""

import gc
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import BaseModel

from sim import presets
from sim import simulator as module
from sim.config import Clip, Config, Plane, Reference, Safety, Source, Teacher
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
    shared,
)

NAMES = presets.names()


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

    others = alive(Linearisation)
    before = look(0, 34)
    after = look(34, 44)
    assert all(now <= then + 2 for then, now in zip(before, after, strict=True)), (before, after)
    assert before[0] - others < 20


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


def test_the_steps_to_take_again_are_counted_from_the_nearest_known_state() -> None:
    simulator = fresh()
    moment = Moment(HINTED).next_step().next_step()
    assert simulator.distance(moment.path) == 2
    simulator.state(moment.path)
    assert simulator.distance(moment.path) == 0
    assert simulator.distance(moment.next_step().path) == 1
    assert simulator.distance(Moment(HINTED).path) == 0


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


HINT = Teacher(policy="self", context="hint")
LABEL = Teacher(policy="label", divergence="forward")
BASES = {
    "hinted": Config(
        source=Source(prompts=2, group_size=2, alpha=0.5),
        teacher=HINT.model_copy(update={"parameters": "average", "weight": 0.75}),
        clip=Clip(on=True, threshold=0.2),
        reference=Reference(beta=0.1),
    ),
    "jsd": Config(source=SMALL, teacher=HINT.model_copy(update={"divergence": "jsd", "parameters": "frozen"})),
    "data": Config(source=Source(prompts=3, group_size=2, alpha=0.3, data_skill=0.5, replay=0.5), teacher=LABEL),
    "continued": Config(source=SMALL, teacher=HINT.model_copy(update={"divergence": "continuation"})),
    "RL": Config(source=Source(prompts=3, group_size=3), teacher=Teacher(weight=0)),
}
#: Every setting, where it matters, and what else it may be.
CHANGES: list[tuple[str, str, Any]] = [
    *((base, "seed", 7) for base in BASES),
    ("hinted", "source.alpha", 1.0),
    ("data", "source.data_style", "foreign"),
    ("data", "source.data_skill", 0.0),
    ("data", "source.replay", 1.0),
    ("hinted", "source.keep", "right"),
    ("continued", "source.keep", "right"),
    ("data", "source.keep", "right"),
    ("hinted", "source.prompts", 3),
    ("hinted", "source.group_size", 1),
    ("hinted", "source.temperature", 0.7),
    ("continued", "source.temperature", 0.7),
    ("hinted", "teacher.weight", 0.25),
    ("continued", "teacher.weight", 0.0),
    ("jsd", "teacher.policy", "same-family"),
    ("continued", "teacher.policy", "cross-family"),
    ("jsd", "teacher.context", "rule"),
    ("continued", "teacher.context", "none"),
    ("jsd", "teacher.parameters", "live"),
    ("continued", "teacher.parameters", "frozen"),
    ("hinted", "teacher.decay", 0.5),
    *(("jsd", "teacher.divergence", one) for one in ("sampled-reverse", "reverse", "forward", "continuation")),
    ("continued", "teacher.divergence", "sampled-reverse"),
    ("jsd", "teacher.jsd_beta", 0.1),
    ("continued", "teacher.continuation", 1),
    ("data", "teacher.label_weight", "probability"),
    ("hinted", "clip.on", False),
    ("hinted", "clip.kind", "token-scale"),
    ("hinted", "clip.threshold", 0.05),
    ("RL", "reward.baseline", "none"),
    ("RL", "reward.normalise", True),
    ("hinted", "reference.beta", 0.0),
    ("hinted", "reference.divergence", "forward"),
    ("hinted", "update.aggregation", "sequence"),
    ("hinted", "update.optimiser", "adam"),
    ("hinted", "update.step_size", 0.1),
    ("hinted", "safety.delta", 0.1),
    ("hinted", "plane.basis", "components"),
]


def leaves(model: type[BaseModel], path: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from leaves(kind, f"{path}{name}.")
        else:
            yield path + name


def with_setting(config: Config, dotted: str, value: Any) -> Config:
    body = config.model_dump()
    *groups, name = dotted.split(".")
    inner = body
    for group in groups:
        inner = inner[group]
    assert inner[name] != value
    inner[name] = value
    return Config.model_validate(body)


@cache
def warm(base: str) -> tuple[Simulator, str]:
    """A simulator that has shown a base's frame after a step, and its text."""
    simulator = fresh()
    return simulator, simulator.frame(Moment(BASES[base]).next_step(), complete=False).dumps()


def test_every_setting_is_among_those_that_are_changed() -> None:
    assert {dotted for _, dotted, _ in CHANGES} == set(leaves(Config))


@pytest.mark.parametrize(("base", "dotted", "value"), CHANGES)
def test_a_changed_setting_leaves_nothing_stale(base: str, dotted: str, value: Any) -> None:
    """The frame after the base's step, and the step from there, are those of a simulator that saw nothing before."""
    simulator, shown = warm(base)
    before = Moment(BASES[base]).next_step()
    moment = before.with_config(with_setting(BASES[base], dotted, value))
    cold = fresh()
    found, expected = (each.frame(moment, complete=False).dumps() for each in (simulator, cold))
    assert found == expected
    after = [each.state(moment.next_step().path) for each in (simulator, cold)]
    assert slow.flat(after[0].params).equal(slow.flat(after[1].params))
    assert slow.flat(after[0].average).equal(slow.flat(after[1].average))
    # It is not the base's frame under another name, or at least not its moving average.
    bodies = [json.loads(text) for text in (found, shown)]
    assert bodies[0].pop("config") != bodies[1].pop("config")
    average = slow.flat(simulator.state(before.next_step().path).average)
    assert bodies[0] != bodies[1] or not average.equal(slow.flat(after[0].average))
    assert simulator.frame(before, complete=False).dumps() == shown


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The contexts of the forward passes that teachers make from here on."""
    made: list[str] = []
    plain: Callable[..., torch.Tensor] = module.teacher_log_probs

    def counting(*args: Any) -> torch.Tensor:
        made.append(args[3])
        return plain(*args)

    monkeypatch.setattr(module, "teacher_log_probs", counting)
    return made


@pytest.mark.parametrize("divergence", ["sampled-reverse", "jsd", "continuation"])
def test_with_lambda_zero_no_teacher_is_asked_and_its_columns_say_why(
    divergence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = counted(monkeypatch)
    config = changed(RL, teacher={"policy": "same-family", "context": "hint", "divergence": divergence})
    body = json.loads(fresh().frame(Moment(config)).dumps())
    assert made == []
    for site in body["sites"]:
        assert (site["teacher_p"], site["raised_teacher_p"], site["kl"]) == (None, None, None)
    for column in ("teacher_p", "raised_teacher_p", "kl"):
        assert body["reasons"][f"sites.{column}"] == "lambda is 0: no teacher speaks"
    plain = json.loads(fresh().frame(Moment(RL)).dumps())
    assert {**body, "config": None} == {**plain, "config": None}


def test_a_teacher_and_a_reference_are_asked_once_for_all_clips_and_mixtures(monkeypatch: pytest.MonkeyPatch) -> None:
    made, simulator = counted(monkeypatch), fresh()
    config = changed(HINTED, reference={"beta": 0.1})
    after = Moment(config).next_step()
    simulator.frame(after, complete=False)
    # At the start the reference is the student; after the step it is not.
    assert made == ["hint", "hint", "none"]
    for parts in (
        {"clip": {"on": True}},
        {"teacher": {"weight": 0.5}},
        {"teacher": {"divergence": "jsd"}},
        {"reference": {"divergence": "forward"}},
    ):
        simulator.frame(after.with_config(changed(config, **parts)), complete=False)
    assert made == ["hint", "hint", "none"]


@pytest.mark.parametrize("divergence", ["reverse", "forward"])
def test_the_reference_pulls_nothing_at_the_start_and_something_after_a_step(divergence: str) -> None:
    pulled = changed(RL, reference={"beta": 1.0, "divergence": divergence}, update={"step_size": 1.0})
    start = Moment(changed(HINTED, update={"step_size": 1.0}))
    for moment, moves in ((start, False), (start.next_step(), True)):
        free, held = (shared().cotangents(moment.with_config(config)) for config in (RL, pulled))
        assert free.equal(held) is not moves
    at_start = shared().frame(start.with_config(pulled)).sites
    np.testing.assert_array_equal(
        at_start.x, shared().frame(start.with_config(changed(pulled, reference={"beta": 0.0}))).sites.x
    )


def test_the_gradient_is_that_of_the_frame_and_the_batch_is_the_frames() -> None:
    moment = Moment(changed(HINTED, update={"step_size": 0.5}), draw=1).next_step()
    (G, batch), found = shared().gradient(moment), shared().frame(moment, complete=False)
    assert found.update.norm == pytest.approx(0.5 * float(slow.flat(G).norm()), rel=1e-5)
    assert [len(answer) for answer in batch.answers] == [len(each.answer.split()) for each in found.rollouts]
    again, _ = fresh().gradient(moment)
    assert slow.flat(G).equal(slow.flat(again))


def test_a_gradient_that_is_not_finite_stops_and_one_that_is_cancelled_too() -> None:
    with pytest.raises(NonFinite, match=r"\w+: "):
        broken(math.nan, "same-family").gradient(Moment(Config(source=SMALL)))
    with pytest.raises(Cancelled):
        fresh().gradient(Moment(HINTED).next_step(), cancel=lambda: True)


def test_a_simulator_beside_another_shares_its_states_and_not_its_batches() -> None:
    first = fresh()
    moment = Moment(HINTED).next_step()
    shown = first.frame(moment, complete=False).dumps()
    beside = first.aside()
    assert beside.state(moment.path) is first.state(moment.path)
    assert beside.world is first.world
    first_batch, beside_batch = first.gradient(moment)[1], beside.gradient(moment)[1]
    assert first_batch is not beside_batch
    assert first_batch.answers == beside_batch.answers
    assert beside.frame(moment, complete=False).dumps() == shown
    # And what it takes further is known to the first.
    further = moment.next_step()
    assert first.state(further.path) is beside.state(further.path)


def test_looking_at_many_batches_aside_forgets_none_of_the_first_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    first = fresh()
    first.frame(Moment(HINTED), complete=False)
    beside = first.aside()
    for draw in range(1, 9):
        beside.frame(Moment(HINTED, draw=draw), complete=False)
    drawn: list[Any] = []
    monkeypatch.setattr(module, "draw_batch", lambda *args: drawn.append(args))
    first.frame(Moment(HINTED), complete=False)
    assert drawn == []


def test_a_state_that_was_remembered_is_where_its_path_leads() -> None:
    moment = Moment(HINTED)
    for _ in range(3):
        moment = moment.next_step()
    known, taught = fresh(), fresh()
    taught.remember(moment.path, known.state(moment.path))
    asked: list[bool] = []
    assert taught.state(moment.path, lambda: bool(asked.append(True))) is known.state(moment.path)
    assert asked == []
    further = moment.next_step()
    assert slow.flat(taught.state(further.path).params).equal(slow.flat(known.state(further.path).params))
    # Steps before it are taken as if nothing had been remembered.
    assert moment.path.parent is not None
    early = taught.state(moment.path.parent).params
    assert slow.flat(early).equal(slow.flat(known.state(moment.path.parent).params))


@pytest.mark.parametrize("aggregation", ["token", "sequence", "constant"])
@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_where_no_answer_is_right_rejection_sampling_has_no_signal_and_says_so(
    aggregation: Any, optimiser: Any
) -> None:
    """At the highest temperature no answer of this batch is."""
    config = changed(
        SFT,
        source={"alpha": 1.0, "keep": "right", "temperature": 5.0},
        update={"aggregation": aggregation, "optimiser": optimiser},
    )
    found = shared().frame(Moment(config))
    assert not any(rollout.kept for rollout in found.rollouts)
    assert not any(rollout.reward for rollout in found.rollouts)
    for values in (found.sites.x, found.sites.y, found.sites.norm, found.sites.signal):
        assert not np.asarray(values).any()
    assert found.update.norm == 0
    assert found.verdict.level == "none"
    body = json.loads(found.dumps(), parse_constant=pytest.fail)
    assert body["reasons"]["update.ratio"] == "the update is zero: no token of this batch carries a signal"
    start, after = (slow.flat(shared().state(one.path).params) for one in (Moment(config), Moment(config).next_step()))
    assert start.equal(after)


@pytest.mark.parametrize("aggregation", ["token", "sequence", "constant"])
@pytest.mark.parametrize("teacher", [LABEL, HINT, HINT.model_copy(update={"divergence": "jsd"})])
def test_dropped_answers_have_exactly_no_arrow_and_no_share(teacher: Teacher, aggregation: Any) -> None:
    config = Config(source=Source(prompts=2, group_size=2, keep="right"), teacher=teacher, seed=1)
    config = changed(config, update={"aggregation": aggregation})
    found = shared().frame(Moment(config))
    kept = np.array([rollout.kept for rollout in found.rollouts])[found.sites.sequence]
    assert 0 < kept.sum() < len(kept)
    assert kept.tolist() == [found.rollouts[r].reward == 1 for r in found.sites.sequence]
    assert found.sites.norm is not None
    for values in (found.sites.x, found.sites.y, found.sites.norm, found.sites.signal, found.sites.share):
        assert not values[~kept].any()
        assert values[kept].any()
    assert not found.sites.clipped[~kept].any()
    assert found.sites.share.sum() == pytest.approx(1, abs=1e-4)
