"""Experiments: what they measure, against the program's own commands and cases worked by hand."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from sim import experiments
from sim import train as runs
from sim.claim import settings
from sim.claims_runs import collapsed_at, end, forgotten, held, reached, start
from sim.errors import Cancelled
from sim.experiments import DataAccuracy, Experiment, Result, Run, Shipped, Solved, mean
from sim.language import style_words
from sim.plan import Phase
from sim.probes import NUMBERS, BatchSizes, ClampedArrows, Cloud, RewardSlope, words
from sim.timeline import Moment
from sim.train import evaluate, train
from sim.world import World
from tests.shipped import SFT, fresh, shared

SMALL = ("source.prompts=2", "source.group_size=4")


def record(step: int, accuracy: float, facts: float = 1.0, collapsed: bool = False) -> dict[str, object]:
    kept = {"facts": facts, "copying": 1.0}
    return {"step": step, "task_accuracy": accuracy, "kept_skills": kept, "collapsed": collapsed}


RUN: Result = {"records": [record(0, 0.4), record(10, 0.8), record(20, 0.9, 0.5)], "diverged": None}


def test_a_run_is_read_by_its_first_last_and_first_good_record() -> None:
    assert (start(RUN)["step"], end(RUN)["step"]) == (0, 20)
    assert reached(RUN, 0.75) == record(10, 0.8)
    assert reached(RUN, 0.95) is None
    assert forgotten(end(RUN), start(RUN)) == 0.25


def test_a_run_has_collapsed_at_its_first_collapsed_record_or_where_numbers_were_not_finite() -> None:
    assert collapsed_at(RUN) is None
    assert held(RUN)
    gone = {"records": [record(0, 0.4), record(10, 0.1, collapsed=True), record(20, 0.0, collapsed=True)]}
    assert collapsed_at(gone | {"diverged": None}) == 10
    assert collapsed_at(RUN | {"diverged": "a number is not finite"}) == 20
    assert not held(RUN | {"diverged": "a number is not finite"})


@pytest.fixture
def few_rollouts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "evaluate", lambda model, params, start: evaluate(model, params, start, 16))


@pytest.mark.usefixtures("few_rollouts")
def test_a_run_has_the_records_of_train_and_what_its_student_has_become() -> None:
    config = settings("sft-fan", 0, *SMALL)
    found = Run((Phase(config, 2), Phase(config, 1)), every=2, changes=True).measure(fresh())
    expected = train(fresh(), config, 2, 2, then=[Phase(config, 1)], measures=False)
    assert found["records"] == [each.to_json() for each in expected]
    assert found["diverged"] is None
    assert 0 < found["changes"]["changed"]["0.01"] <= found["changes"]["changed"]["1e-05"] <= 1
    assert found["changes"]["relative"] > 0
    json.dumps(found, allow_nan=False)


@pytest.mark.usefixtures("few_rollouts")
def test_a_run_whose_numbers_are_not_finite_keeps_its_records_and_says_why() -> None:
    wild = settings("sft-foreign-style", 0, *SMALL, "update.step_size=100")
    found = Run((Phase(wild, 30),), every=1, changes=True).measure(fresh())
    assert "not finite" in found["diverged"]
    assert found["records"][0]["step"] == 0
    assert "changes" not in found
    assert not held(found)


def test_a_cloud_has_the_means_of_its_draws_readings() -> None:
    config = settings("opd-same-family", 0, *SMALL)
    found = Cloud(config, 2).measure(fresh())
    frames = [shared().frame(replace(Moment(config), draw=draw), complete=False) for draw in (0, 1)]
    ratios = [frame.update.ratio for frame in frames]
    assert found["readings"]["update.ratio"] == pytest.approx(np.mean(ratios))  # type: ignore[arg-type]
    assert found["levels"] == [frame.verdict.level for frame in frames]
    assert "measures.mean_norm" not in found["readings"]
    assert "measures.mean_norm" in Cloud(config, 1, exact=True).measure(fresh())["readings"]


def test_words_are_sorted_into_style_and_arithmetic_by_what_was_written() -> None:
    frame = shared().frame(Moment(settings("opsd-collapse", 0, *SMALL)), complete=False)
    found, table = words(frame), frame.sites
    kl = {text: [] for text in ("style", "number")}  # type: dict[str, list[float]]
    for text, value in zip(table.text, table.kl, strict=True):
        if text in ("well", "first", "then", "so", "answer", "ok", "wait") or text in style_words():
            kl["style"].append(float(value))
        elif text in NUMBERS:
            kl["number"].append(float(value))
    assert found["kl_style"] == pytest.approx(np.mean(kl["style"]))
    assert found["kl_arithmetic"] == pytest.approx(np.mean(kl["number"]))
    assert found["sites_style"] == len(kl["style"]) / len(table.text)
    assert not NUMBERS & style_words()


def test_a_clip_that_bites_nowhere_turns_no_arrow_and_leaves_the_update() -> None:
    config = settings("opsd-entry-clamp", 0, *SMALL, "clip.threshold=100")
    found = ClampedArrows(config, 1).measure(fresh())
    assert found["turned"] == 0
    assert found["pivot_cosine"] == pytest.approx(1)
    assert found["update_cosine"] == pytest.approx(1)


def test_the_slope_of_the_reward_is_read_from_rewards_on_both_sides() -> None:
    config = settings("rl-noise-cancels", 0, "source.prompts=8")
    found = RewardSlope(config, 2, 256, 0.2).measure(fresh())
    direction = {name: value[0] for name, value in World.load().plane.directions.items()}
    slopes = []
    for draw in (0, 1):
        gradient, batch = fresh().gradient(Moment(config, draw=draw))
        along = sum(float((gradient[name].double() * direction[name].double()).sum()) for name in gradient)
        slopes.append(along * len(batch.token_N) / len(batch.answers))
    assert found["said"] == pytest.approx(np.mean(slopes), rel=1e-4, abs=1e-9)
    up, down, far_up, far_down = found["rewards"]
    assert found["seen"] == pytest.approx((4 * (up - down) / 0.4 - (far_up - far_down) / 0.8) / 3)
    assert found["error"] >= 0


def test_the_over_trained_policy_has_the_task_and_has_lost_the_rest() -> None:
    found, base = Shipped("over-trained").measure(fresh()), Shipped("base").measure(fresh())
    assert found["task_accuracy"] > 0.95 > base["task_accuracy"]
    assert found["kept_skills"]["facts"] < 0.7 < base["kept_skills"]["facts"]
    assert base["kl"] == 0


def test_a_writer_without_the_key_move_is_right_where_it_is_not_needed() -> None:
    right = DataAccuracy(settings("sft-fan", 0)).measure(fresh())["accuracy"]
    half = DataAccuracy(settings("sft-ceiling", 0)).measure(fresh())["accuracy"]
    none = DataAccuracy(settings("sft-ceiling", 0, "source.data_skill=0")).measure(fresh())["accuracy"]
    assert right == 1
    assert none == pytest.approx(0.4, abs=0.06)
    assert half == pytest.approx((right + none) / 2, abs=0.03)


def test_a_prompt_is_solved_as_often_as_its_answers_are_right() -> None:
    found = Solved(8).measure(fresh())
    assert found["rollouts"] == 8
    assert len(found["right"]) == 256
    assert all(0 <= right <= 8 for right in found["right"])
    assert sum(found["right"]) / (8 * 256) == pytest.approx(0.44, abs=0.05)


@pytest.mark.parametrize(
    "experiment", [Cloud(SFT, 3), ClampedArrows(SFT, 3), RewardSlope(SFT, 3, 512, 0.1), BatchSizes(SFT, 3)]
)
def test_an_experiment_stops_between_two_draws(experiment: Experiment) -> None:
    asks = itertools.count()
    with pytest.raises(Cancelled):
        experiment.measure(fresh(), lambda: next(asks) >= 1)


def test_a_mean_is_of_finite_values_alone() -> None:
    assert mean([1.0, None, 3.0, float("nan")]) == 2
    assert mean([None]) is None
    assert experiments.plain(2.0) == 2.0
