"""What runs made of the student: differences by hand, and short runs of the shipped one."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from sim import changes as module
from sim.changes import BASE, PUBLISHED, Change, Diverged, changes, forgetting, kl_per_point, retention
from sim.config import Config
from sim.errors import Cancelled, NonFinite
from sim.frame import Undetermined
from sim.moved import moved
from sim.timeline import Moment
from sim.train import EVALUATION_SEED, evaluate, train
from sim.world import World
from tests.shipped import HINTED, SFT, changed, fresh

WILD = changed(SFT, source={"data_style": "foreign"}, update={"step_size": 100.0})
GENTLE = changed(HINTED, update={"step_size": 0.01})


@pytest.fixture(autouse=True)
def few_rollouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer prompts, so that states are compared quickly."""
    monkeypatch.setattr(module, "PROMPTS", 12)


@cache
def rows() -> list[Change]:
    found = list(changes(fresh(), [("gentle", GENTLE), ("wild", WILD)], steps=2))
    return [row for row in found if isinstance(row, Change)]


def test_forgetting_is_base_less_post_and_retention_post_over_base() -> None:
    before, after = {"facts": 0.8, "copying": 0.5, "rare": 0.0}, {"facts": 0.2, "copying": 0.6, "rare": 0.0}
    assert forgetting(before, after) == pytest.approx({"facts": 0.6, "copying": -0.1, "rare": 0.0})
    kept = retention(before, after)
    assert (kept["facts"], kept["copying"]) == pytest.approx((0.25, 1.2))
    assert kept["rare"] == Undetermined("the base has no skill in rare")


def test_the_papers_own_retention_follows_from_its_skills() -> None:
    """The two rows that give both: mean over TruthfulQA and MMLU."""
    rows = {row.name: row for row in PUBLISHED}
    before = {"truthfulqa": rows["base"].truthfulqa, "mmlu": rows["base"].mmlu}
    for name in ("stress SFT", "distillation from the stress teacher"):
        after = {"truthfulqa": rows[name].truthfulqa, "mmlu": rows[name].mmlu}
        assert np.mean(list(retention(before, after).values())) == pytest.approx(rows[name].mean_retention, abs=2e-4)
    after = {"truthfulqa": rows["RL"].truthfulqa, "mmlu": rows["RL"].mmlu}
    assert np.mean(list(forgetting(before, after).values())) == pytest.approx(rows["RL"].mean_forgetting)


def test_divergence_is_spent_on_percentage_points() -> None:
    assert kl_per_point(0.3, 0.4, 0.55) == pytest.approx(0.02)
    assert kl_per_point(0.3, 0.4, 0.4) == Undetermined("accuracy did not rise")


def test_the_base_comes_first_and_has_forgotten_nothing() -> None:
    base = rows()[0]
    assert (base.name, base.steps, base.kl, base.mean_forgetting, base.mean_retention) == (BASE, 0, 0, 0, 1)
    assert base.drift.centroid > 0, "another sample of the base"
    assert base.drift.mmd_p > 0.01
    assert set(base.moved.changed.values()) == {0}
    assert isinstance(base.moved.effective_rank, Undetermined)
    assert isinstance(base.kl_per_point, Undetermined)


def test_a_row_is_that_of_the_student_that_the_steps_lead_to() -> None:
    base, row = World.load().policies["base"], rows()[1]
    params = fresh().state(Moment(GENTLE).next_step().next_step().path).params
    now = evaluate(base.model, params, base.params)
    assert (row.name, row.steps, row.task_accuracy, row.kl) == ("gentle", 2, now.task_accuracy, now.kl_from_start)
    assert row.kept_skills == now.kept_skills
    assert row.moved == moved(base.params, params)
    assert row.drift == module.compare(
        *(module.rollouts_of(base.model, each, 12, EVALUATION_SEED) for each in (base.params, params)), EVALUATION_SEED
    )


def test_a_wrecked_student_has_forgotten_and_moved_far() -> None:
    gentle, wild = rows()[1:]
    assert wild.collapsed
    assert not gentle.collapsed
    assert wild.mean_forgetting > 0.5 > gentle.mean_forgetting
    assert wild.mean_forgetting == pytest.approx(np.mean(list(wild.forgetting.values())))
    assert wild.mean_retention < 0.5 < gentle.mean_retention
    assert wild.kl > gentle.kl > 0
    assert wild.drift.mmd2 > 10 * abs(gentle.drift.mmd2)
    assert wild.moved.relative > gentle.moved.relative > 0


def test_a_row_is_plain_json_and_gives_the_reason_of_what_is_null() -> None:
    base, gentle, _ = (json.loads(json.dumps(row.to_json(), allow_nan=False)) for row in rows())
    assert base["kl_per_point"] is None
    assert base["reasons"]["kl_per_point"] == "accuracy did not rise"
    assert base["moved"]["matrices"][0]["effective_rank"] is None
    assert base["reasons"]["moved.matrices.0.effective_rank"] == "the parameters did not change"
    assert set(gentle["moved"]["changed"]) == {"1e-05", "0.001", "0.01"}
    assert gentle["drift"]["mmd2"] == rows()[1].drift.mmd2


def test_a_run_that_diverges_is_a_row_with_its_reason_between_the_others() -> None:
    _, gentle, wild, again = changes(fresh(), [("gentle", GENTLE), ("wild", WILD), ("again", GENTLE)], steps=4)
    with pytest.raises(NonFinite) as caught:
        list(train(fresh(), WILD, 4, 4, measures=False))
    assert wild == Diverged("wild", 4, str(caught.value))
    assert isinstance(gentle, Change)
    assert again == replace(gentle, name="again")
    body = json.loads(json.dumps(wild.to_json(), allow_nan=False))
    assert set(body) == set(gentle.to_json()) | {"reason"}
    given = {key: value for key, value in body.items() if value is not None}
    assert given.pop("reasons") == {key: wild.reason for key, value in body.items() if value is None}
    assert given == {"name": "wild", "steps": 4, "reason": wild.reason}


def test_a_student_with_a_number_that_is_not_finite_has_diverged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "kl_per_point", lambda kl, *_: float("nan") if kl > 0 else 0.0)
    base, gentle = changes(fresh(), [("gentle", GENTLE)], steps=1)
    assert isinstance(base, Change)
    assert isinstance(gentle, Diverged)
    assert "a number of the student is not finite" in gentle.reason


def test_steps_are_counted_over_all_runs_and_can_be_stopped() -> None:
    done: list[int] = []
    stopping = changes(
        fresh(), [("one", GENTLE), ("two", Config(seed=1))], 2, done.append, cancel=lambda: len(done) == 3
    )
    with pytest.raises(Cancelled):
        list(stopping)
    assert done == [1, 2, 3]
