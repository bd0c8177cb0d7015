"""Runs: steps that are really taken, and what is said of the policy that they leave."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from sim import train as runs
from sim.config import Config, Source, Teacher, Update
from sim.errors import Cancelled, NonFinite
from sim.language import KINDS, LETTERS, VALUES
from sim.plan import Phase
from sim.timeline import Moment, Path
from sim.train import (
    Evaluation,
    Record,
    collapse_step,
    collapsed,
    evaluate,
    kept_skills,
    rule_in_words,
    train,
)
from sim.world import Weights, World
from tests import reference as slow
from tests.shipped import HINTED, SFT, changed, fresh


@cache
def base() -> Weights:
    return World.load().policies["base"]


GENTLE = changed(HINTED, update={"step_size": 0.01})
WILD = changed(SFT, source={"data_style": "foreign"}, update={"step_size": 100.0})
ADAM = changed(SFT, update={"step_size": 0.0003, "optimiser": "adam"})
WHOLE = Evaluation(0.5, 0.4, 0.0, {"facts": 1.0, "copying": 1.0}, 17.0)


@pytest.fixture(autouse=True)
def few_rollouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluations of 32 rollouts, so that a run of a few steps is quick."""
    monkeypatch.setattr(runs, "evaluate", lambda model, params, start: evaluate(model, params, start, 32))


def run(config: Config = GENTLE, steps: int = 4, every: int = 1) -> list[Record]:
    return list(train(fresh(), config, steps, every))


def walked(config: Config, steps: int) -> Path:
    path = Path()
    for _ in range(steps):
        path = path.then(config, 0)
    return path


def test_a_run_reports_its_start_every_so_many_steps_and_its_end() -> None:
    assert [record.step for record in run(steps=5, every=2)] == [0, 2, 4, 5]
    assert [record.step for record in run(steps=2, every=10)] == [0, 2]
    assert [record.step for record in run(steps=0)] == [0]


def test_a_run_is_the_same_twice_and_however_often_it_reports() -> None:
    often, seldom = run(steps=3), run(steps=3, every=3)
    assert often == run(steps=3)
    assert seldom == [often[0], often[3]]


def test_a_run_takes_the_steps_that_the_timeline_takes() -> None:
    simulator, moment = fresh(), Moment(GENTLE)
    for record in train(simulator, GENTLE, 2):
        found = fresh().frame(moment)
        assert record.update_ratio == found.update.ratio
        assert record.density == found.measures.density.within_share
        assert record.bias == found.measures.bias.coherence
        assert record.concentration == found.measures.concentration.top1_share
        assert record.verdict == found.verdict.word
        now = evaluate(base().model, fresh().state(moment.path).params, base().params, 32)
        assert record.kl_from_start == now.kl_from_start
        assert record.task_accuracy == now.task_accuracy
        moment = moment.next_step()


def test_a_run_starts_at_no_distance_from_itself_and_moves_away() -> None:
    records = run(steps=2)
    assert records[0].kl_from_start == 0
    assert 0 < records[1].kl_from_start < records[2].kl_from_start * 3


def test_a_tiny_step_has_no_negative_distance() -> None:
    tiny = changed(HINTED, update={"step_size": 1e-6})
    assert all(0 <= record.kl_from_start < 1e-10 for record in run(tiny, steps=3))


def test_a_record_is_plain_json() -> None:
    body = json.loads(json.dumps(run(steps=0)[0].to_json(), allow_nan=False))
    assert set(body) == {
        "step",
        "task_accuracy",
        "entropy",
        "kl_from_start",
        "kept_skills",
        "answer_length",
        "update_ratio",
        "density",
        "bias",
        "concentration",
        "collapsed",
        "verdict",
    }
    assert set(body["kept_skills"]) == {"facts", "copying"}


def test_a_batch_without_a_signal_has_no_ratio() -> None:
    record = run(Config(source=Source(prompts=1, group_size=1), teacher=Teacher(weight=0)), steps=0)[0]
    assert (record.update_ratio, record.concentration) == (None, None)
    assert record.verdict == "no signal"


def test_a_run_tells_how_far_it_is_and_can_be_stopped() -> None:
    done: list[int] = []
    stopping = train(fresh(), GENTLE, 5, 5, progress=done.append, cancel=lambda: len(done) == 2)
    with pytest.raises(Cancelled):
        list(stopping)
    assert done == [1, 2]


@pytest.mark.parametrize(
    ("now", "verdict"),
    [
        (WHOLE, False),
        (replace(WHOLE, task_accuracy=0.26), False),
        (replace(WHOLE, task_accuracy=0.24), True),
        (replace(WHOLE, kept_skills={"facts": 0.49, "copying": 1.0}), True),
        (replace(WHOLE, kept_skills={"facts": 1.0, "copying": 0.51}), False),
        (replace(WHOLE, kl_from_start=9.0, entropy=0.0), False),
    ],
)
def test_collapse_is_half_of_what_the_run_started_with(now: Evaluation, verdict: bool) -> None:
    assert collapsed(WHOLE, now) == verdict


@pytest.mark.parametrize(("rule", "verdict"), [(0.0, False), (0.5, False), (0.52, False), (0.53, True), (1.0, True)])
def test_another_rule_is_another_share_of_the_start(rule: float, verdict: bool) -> None:
    assert collapsed(WHOLE, replace(WHOLE, task_accuracy=0.26), rule) == verdict
    assert f"below {rule:g} of" in rule_in_words(rule)


def record(step: int, accuracy: float, facts: float = 1.0) -> Record:
    return Record(step, accuracy, 0.4, 0.0, {"facts": facts}, 17.0, None, None, None, None, False, "")


def test_the_step_of_a_collapse_is_read_off_the_records_under_any_rule() -> None:
    records = [record(0, 0.4), record(10, 0.9), record(20, 0.3), record(30, 0.1), record(40, 0.5, facts=0.0)]
    assert collapse_step(records) == 30
    assert collapse_step(records, 0.8) == 20
    assert collapse_step(records, 0.2) == 40
    assert collapse_step(records[:3]) is None
    assert collapse_step(records, 0) is None
    assert collapse_step([]) is None


def test_collapse_is_judged_on_each_record_by_itself() -> None:
    records = run(WILD, steps=2)
    assert [each.collapsed for each in records] == [collapsed(records[0], each) for each in records]
    assert [each.verdict == "collapsed" for each in records] == [each.collapsed for each in records]
    assert collapse_step(records) == 1


def test_a_run_that_wrecks_the_policy_is_called_collapsed() -> None:
    assert run(WILD, steps=2, every=2)[-1].verdict == "collapsed"


def test_a_run_may_end_at_its_first_collapsed_record() -> None:
    whole = run(WILD, steps=2)
    assert list(train(fresh(), WILD, 2, stop=True)) == whole[:2]
    gentle = run(steps=1)
    assert list(train(fresh(), GENTLE, 1, stop=True)) == gentle


def test_a_second_phase_goes_on_from_where_the_first_one_ended() -> None:
    done: list[int] = []
    two = list(train(fresh(), ADAM, 2, progress=done.append, then=[Phase(GENTLE, 1), Phase(ADAM, 1)]))
    assert [each.step for each in two] == [0, 1, 2, 3, 4]
    assert done == [1, 2, 3, 4]
    assert two[:2] == run(ADAM, steps=2)[:2]
    path = Path()
    for config in (ADAM, ADAM, GENTLE, ADAM):
        path = path.then(config, 0)
    end = fresh().state(path)
    assert end.moments.count == 3
    assert two[4].kl_from_start == evaluate(base().model, end.params, base().params, 32).kl_from_start
    assert two[2].update_ratio == fresh().frame(Moment(GENTLE, walked(ADAM, 2)), complete=False).update.ratio


def test_every_phase_has_a_record_at_its_end() -> None:
    found = train(fresh(), GENTLE, 1, 10, then=[Phase(GENTLE, 1), Phase(GENTLE, 0)], measures=False)
    assert [each.step for each in found] == [0, 1, 2]


def test_a_run_that_begins_later_counts_from_there_and_keeps_its_distance_from_the_checkpoint() -> None:
    whole = run(steps=3)
    later = list(train(fresh(), GENTLE, 1, begin=walked(GENTLE, 2)))
    assert later == [replace(each, step=each.step - 2) for each in whole[2:]]
    assert later[0].kl_from_start > 0


def test_a_run_that_begins_collapsed_is_judged_by_its_own_start() -> None:
    whole = list(train(fresh(), WILD, 1, then=[Phase(GENTLE, 1)], measures=False))
    later = list(train(fresh(), GENTLE, 1, begin=walked(WILD, 1), measures=False))
    assert [each.collapsed for each in whole] == [False, True, True]
    assert not later[0].collapsed
    assert later[0].task_accuracy == whole[1].task_accuracy


def test_without_measures_no_frame_is_made_and_the_policy_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = run(steps=2)
    simulator = fresh()
    monkeypatch.setattr(simulator, "frame", None)
    bare = list(train(simulator, GENTLE, 2, measures=False))
    nothing = {"update_ratio": None, "density": None, "bias": None, "concentration": None, "verdict": ""}
    assert bare == [replace(each, **nothing) for each in measured]  # type: ignore[arg-type]


def test_without_measures_a_collapse_is_still_named() -> None:
    assert [each.verdict for each in train(fresh(), WILD, 1, measures=False)] == ["", "collapsed"]


def test_a_run_that_does_not_stay_finite_keeps_what_it_recorded() -> None:
    found: list[Record] = []
    with pytest.raises(NonFinite, match="not finite"):
        found.extend(train(fresh(), WILD, 10))
    assert found[:2] == run(WILD, steps=1)
    assert len(found) < 10


NO_READINGS: dict[str, None] = {"update_ratio": None, "density": None, "bias": None, "concentration": None}


def test_an_update_that_cannot_be_computed_takes_the_readings_and_not_the_record() -> None:
    measured: list[Record] = []
    bare: list[Record] = []
    for found, measures in ((measured, True), (bare, False)):
        with pytest.raises(NonFinite, match="rollout"):
            found.extend(train(fresh(), WILD, 10, measures=measures))
    with pytest.raises(NonFinite, match="is not finite"):
        fresh().frame(Moment(WILD, walked(WILD, 3)), complete=False)
    assert measured[3] == bare[3]
    assert measured[3].verdict == "collapsed"
    assert [replace(each, verdict="", **NO_READINGS) for each in measured] == [
        replace(each, verdict="") for each in bare
    ]


def test_an_update_that_cannot_be_computed_is_called_not_finite_where_nothing_has_collapsed() -> None:
    last = list(train(fresh(), WILD, 3, rule=0.0))[-1]
    assert (last.step, last.collapsed, last.verdict) == (3, False, "not finite")
    assert replace(last, **NO_READINGS) == last


def test_entropy_and_divergence_are_those_of_the_policys_own_rollouts() -> None:
    rng = torch.Generator().manual_seed(0)
    moved = {name: value + 0.02 * torch.randn(value.shape, generator=rng) for name, value in base().params.items()}
    found = evaluate(base().model, moved, base().params, 3)
    batch = runs.draw_batch(base().model, moved, Source(prompts=3, group_size=1), runs.EVALUATION_SEED, 0, 0)
    log_p, log_start = (slow.log_probs(base().model, params, batch).detach() for params in (moved, base().params))
    entropy = float(-(log_p.exp() * log_p).sum(1).mean())
    distance = np.mean([slow.kl(a, b) for a, b in zip(log_p.tolist(), log_start.tolist(), strict=True)])
    assert found.entropy == pytest.approx(entropy, rel=1e-4)
    assert found.kl_from_start == pytest.approx(float(distance), rel=1e-3)
    assert found.answer_length == pytest.approx(len(batch.token_N) / 3)


def test_every_fact_is_asked_once() -> None:
    facts = runs._skill_tests()["facts"]
    assert len({tuple(prompt) for prompt, _ in facts}) == len(facts) == len(VALUES) * len(KINDS) * len(LETTERS)


def test_a_policy_that_always_says_one_thing_has_no_skill() -> None:
    dull = dict(base().params) | {"head.weight": torch.zeros_like(base().params["head.weight"])}
    assert max(kept_skills(base().model, dull).values()) < 0.1
    assert min(kept_skills(base().model, base().params).values()) > 0.9


def test_training_moves_the_moving_average_behind_the_parameters() -> None:
    config = Config(
        source=Source(prompts=1, group_size=2),
        teacher=Teacher(policy="self", context="hint", parameters="average", decay=0.5),
        update=Update(step_size=0.01),
    )
    state = fresh().state(Moment(config).next_step().next_step().path)
    start, average, now = (slow.flat(params) for params in (base().params, state.average, state.params))
    assert 0 < float((average - start).norm()) < float((now - start).norm())
