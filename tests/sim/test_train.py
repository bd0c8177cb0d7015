"""Runs: steps that are really taken, and what is said of the policy that they leave."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from sim import train as runs
from sim.config import Config, Source, Teacher, Update
from sim.errors import Cancelled
from sim.language import KINDS, LETTERS, VALUES
from sim.timeline import Moment
from sim.train import Evaluation, Record, collapsed, evaluate, kept_skills, train
from sim.world import Weights, World
from tests import reference as slow
from tests.shipped import HINTED, SFT, changed, fresh


@cache
def base() -> Weights:
    return World.load().policies["base"]


GENTLE = changed(HINTED, update={"step_size": 0.01})
WHOLE = Evaluation(0.5, 0.4, 0.0, {"facts": 1.0, "copying": 1.0}, 17.0)


@pytest.fixture(autouse=True)
def few_rollouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluations of 32 rollouts, so that a run of a few steps is quick."""
    monkeypatch.setattr(runs, "evaluate", lambda model, params, start: evaluate(model, params, start, 32))


def run(config: Config = GENTLE, steps: int = 4, every: int = 1) -> list[Record]:
    return list(train(fresh(), config, steps, every))


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
        found = fresh().frame(moment, complete=False)
        assert record.update_ratio == found.update.ratio
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
    assert record.update_ratio is None
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


def test_a_run_that_wrecks_the_policy_is_called_collapsed() -> None:
    wild = changed(SFT, source={"data_style": "foreign"}, update={"step_size": 100.0})
    assert run(wild, steps=2, every=2)[-1].verdict == "collapsed"


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
