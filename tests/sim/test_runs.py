"""Checkpoints: a run goes on from one to the records that it would have given, and a file of anything else is named."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, save

from sim import train as trained
from sim.config import Config
from sim.errors import InvalidInput
from sim.plan import Phase, Plan, world_key
from sim.policy import Params
from sim.runs import (
    Checkpoint,
    checkpoint_file,
    discard,
    load_checkpoint,
    records_length,
    require_own,
    save_checkpoint,
)
from sim.timeline import Moment
from sim.timeline import Path as Steps
from sim.train import Record, evaluate, train
from sim.world import Weights, World
from tests.shipped import HINTED, SFT, changed, fresh

GENTLE = changed(HINTED, update={"step_size": 0.01})
ADAM = changed(SFT, update={"step_size": 0.0003, "optimiser": "adam"})
AVERAGE = changed(GENTLE, teacher={"parameters": "average", "decay": 0.5})


@pytest.fixture(autouse=True)
def few_rollouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluations of 32 rollouts, so that a run of a few steps is quick."""
    monkeypatch.setattr(trained, "evaluate", lambda model, params, start: evaluate(model, params, start, 32))


def base() -> Params:
    return World.load().policies["base"].params


def run(config: Config = GENTLE, **options: Any) -> tuple[list[Record], list[Checkpoint]]:
    """A run of three steps, with the checkpoints it saved."""
    saved: list[Checkpoint] = []
    return list(train(fresh(), config, 3, save=saved.append, **options)), saved


@pytest.fixture(scope="module")
def left() -> Checkpoint:
    """A checkpoint after one step of Adam."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trained, "evaluate", lambda model, params, start: evaluate(model, params, start, 2))
        saved: list[Checkpoint] = []
        list(train(fresh(), ADAM, 2, save=saved.append, measures=False))
    return saved[-1]


@pytest.fixture
def file(tmp_path: Path, left: Checkpoint) -> Path:
    found = checkpoint_file(tmp_path / "run.jsonl")
    save_checkpoint(found, left)
    return found


# A run that goes on.


@pytest.mark.parametrize("config", [GENTLE, ADAM, AVERAGE], ids=["sgd", "adam", "average"])
def test_a_run_resumed_from_a_file_has_the_records_of_one_never_interrupted(config: Config, tmp_path: Path) -> None:
    records, saved = run(config)
    assert [checkpoint.step for checkpoint in saved] == [0, 1, 2]
    path = tmp_path / "checkpoint"
    for checkpoint in saved[1:]:
        save_checkpoint(path, checkpoint)
        again, later = run(config, resume=load_checkpoint(path, base()))
        assert [json.dumps(record.to_json()) for record in again] == [
            json.dumps(record.to_json()) for record in records[checkpoint.step + 1 :]
        ]
        assert [(each.step, each.records) for each in later] == [
            (each.step, each.records) for each in saved[checkpoint.step + 1 :]
        ]


def test_a_resumed_run_takes_none_of_the_steps_before_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _, saved = run(measures=False)
    simulator, taken = fresh(), []
    monkeypatch.setattr(simulator, "_advance", _counting(simulator._advance, taken))
    list(train(simulator, GENTLE, 3, measures=False, resume=saved[-1]))
    assert taken == [3]


def _counting(advance: Callable[..., Any], taken: list[int]) -> Callable[..., Any]:
    def counted(state: Any, node: Steps) -> Any:
        taken.append(node.length)
        return advance(state, node)

    return counted


def test_collapse_in_a_resumed_run_is_judged_against_the_runs_own_start() -> None:
    wild = changed(SFT, source={"data_style": "foreign"}, update={"step_size": 100.0})
    records, saved = run(wild, measures=False)
    assert [record.collapsed for record in records] == [False, True, True, True]
    again, _ = run(wild, measures=False, resume=saved[1])
    assert again == records[2:]


def test_a_run_goes_on_within_its_second_phase_and_from_where_it_began() -> None:
    options: dict[str, Any] = {"then": [Phase(AVERAGE, 2)], "begin": Moment(ADAM).next_step().path, "every": 2}
    records, saved = run(**options)
    assert [record.step for record in records] == [0, 2, 3, 4, 5]
    again, _ = run(resume=saved[-1], **options)
    assert again == records[-1:]


def test_a_file_gives_back_exactly_what_was_saved(file: Path, left: Checkpoint) -> None:
    found = load_checkpoint(file, base())
    assert (found.step, found.records, found.key, found.settings) == (left.step, left.records, left.key, left.settings)
    assert found.state.moments.count == left.state.moments.count == 1
    for one, two in (
        (found.state.params, left.state.params),
        (found.state.average, left.state.average),
        (found.state.moments.mean, left.state.moments.mean),
        (found.state.moments.square, left.state.moments.square),
    ):
        assert list(one) == list(base())
        assert all(torch.equal(value, two[name]) for name, value in one.items())


# A checkpoint of something else.


def other(plan: dict[str, Any], left: Checkpoint) -> str:
    """What is said where a checkpoint of ADAM is asked to go on as another run."""
    options: dict[str, Any] = {"measures": False} | plan
    config, steps = options.pop("config", ADAM), options.pop("steps", 2)
    with pytest.raises(InvalidInput) as caught:
        train(fresh(), config, steps, resume=left, **options)
    return "\n".join(caught.value.problems)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"config": changed(ADAM, update={"step_size": 0.5})}, "phases.0.config.update.step_size: .* 0.0003, got 0.5"),
        ({"config": changed(ADAM, safety={"delta": 0.5})}, "phases.0.config.safety.delta: .* 0.001, got 0.5"),
        ({"config": ADAM.model_copy(update={"seed": 7})}, "phases.0.config.seed: .* 0, got 7"),
        ({"steps": 3}, "phases.0.steps: the run was begun with 2, got 3; ask for the same"),
        ({"every": 2}, "every: the run was begun with 1, got 2"),
        ({"measures": True}, "measures: the run was begun with false, got true"),
        ({"rule": 0.25}, "collapse: the run was begun with 0.5, got 0.25"),
        ({"stop": True}, "stop: the run was begun with false, got true"),
        ({"begin": Moment(ADAM).next_step().path}, "begin: "),
        ({"then": [Phase(ADAM, 4)]}, "phases.1.steps: the run was begun with nothing, got 4"),
    ],
    ids=lambda value: "".join(value) if isinstance(value, dict) else "",
)
def test_a_checkpoint_of_another_run_is_refused_with_what_differs(
    plan: dict[str, Any], said: str, left: Checkpoint
) -> None:
    assert re.match(f"checkpoint: {said}", other(plan, left))


def test_a_checkpoint_of_other_weights_is_refused(left: Checkpoint) -> None:
    one = replace(left, settings=left.settings | {"weights": "0" * 64})
    assert other({}, one) == "checkpoint: made with other weights than the shipped ones; begin the run anew"


@pytest.mark.parametrize("change", [{"step": 0}, {"step": 2}, {"step": 10**12}, {"key": ""}])
def test_a_checkpoint_whose_step_does_not_fit_its_settings_is_refused(change: Any, left: Checkpoint) -> None:
    assert "its step does not fit its settings" in other({}, replace(left, **change))


def test_every_parameter_of_every_policy_counts_as_the_weights() -> None:
    world = World.load()
    keys = {world_key(world)}
    for name, weights in world.policies.items():
        params = dict(weights.params)
        last = sorted(params)[-1]
        params[last] = params[last] + 1e-3
        keys.add(world_key(replace(world, policies={**world.policies, name: Weights(weights.model, params)})))
    assert len(keys) == 1 + len(world.policies)
    assert world_key(world) in keys


# Files that are no checkpoint.


def rewritten(file: Path, tensors: dict[str, torch.Tensor] | None = None, **about: Any) -> None:
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    old = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["about"])
    file.write_bytes(save(load(data) | (tensors or {}), {"about": json.dumps(old | about)}))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda file: file.write_bytes(b""), "is not whole"),
        (lambda file: file.write_bytes(file.read_bytes()[:-1]), "is not whole"),
        (lambda file: file.write_bytes(file.read_bytes()[:100]), "is not whole"),
        (lambda file: file.write_bytes(b"\xff" * 1000), "is not whole"),
        (lambda file: file.write_bytes(save({})), "does not say what it is of"),
        (lambda file: file.write_bytes(save({}, {"about": "[" * 10_000})), "does not say what it is of"),
        (lambda file: file.write_bytes(save({}, {"about": "[1]"})), "does not say what it is of"),
        (lambda file: rewritten(file, format=2), "is of another version of gradcloud"),
        (lambda file: rewritten(file, step=-1), "has no step"),
        (lambda file: rewritten(file, step=True), "has no step"),
        (lambda file: rewritten(file, records="9"), "has no records"),
        (lambda file: rewritten(file, count=0.5), "has no count"),
        (lambda file: rewritten(file, settings=[]), "does not say what it is of"),
        (lambda file: rewritten(file, {"params/head.weight": torch.zeros(2)}), "lacks params of head.weight"),
        (lambda file: rewritten(file, {"params/head.weight": base()["head.weight"].double()}), "lacks params of head"),
        (
            lambda file: rewritten(file, {"mean/head.weight": base()["head.weight"] * torch.nan}),
            "has mean of head.weight that are",
        ),
        (lambda file: rewritten(file, {"more": torch.zeros(2)}), "holds tensors that no run has"),
        (lambda file: os.truncate(file, 10**9), "is over 64000000 bytes"),
        (lambda file: (file.unlink(), file.mkdir()), "cannot be read"),
        (lambda file: (file.unlink(), file.symlink_to("/dev/zero")), "is no regular file"),
        (lambda file: (file.unlink(), os.mkfifo(file)), "is no regular file"),
    ],
)
def test_a_file_that_is_no_checkpoint_is_one_line_that_names_it(
    spoil: Callable[[Path], object], said: str, file: Path
) -> None:
    spoil(file)
    with pytest.raises(InvalidInput) as caught:
        load_checkpoint(file, base())
    (line,) = caught.value.problems
    assert line.startswith(f"{file}: {said}")
    assert line.endswith("begin the run anew")
    assert len(line) < 400


def test_where_there_is_no_checkpoint_the_run_is_complete_or_was_never_begun(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not exist: the run is complete, or was never begun"):
        load_checkpoint(tmp_path / "none", base())


# Files beside the checkpoint.


def test_a_checkpoint_that_cannot_be_written_whole_leaves_the_old_one_and_no_draft(
    file: Path, left: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        save_checkpoint(file, replace(left, step=0))
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_a_checkpoint_replaces_one_and_touches_no_file_beside_it(file: Path, left: Checkpoint) -> None:
    beside = file.with_name(f"{file.name}.part")
    beside.write_bytes(b"somebody's")
    save_checkpoint(file, replace(left, step=0))
    assert load_checkpoint(file, base()).step == 0
    discard(file)
    assert list(file.parent.iterdir()) == [beside]
    assert beside.read_bytes() == b"somebody's"
    discard(file)


@pytest.mark.parametrize(
    "put",
    [
        lambda file: file.write_bytes(b"somebody's"),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(save({"x": torch.zeros(2)})),
        lambda file: file.write_bytes(save({"x": torch.zeros(2)}, {"about": "{}"})),
        lambda file: file.write_bytes(save({"x": torch.zeros(2)}, {"format": "pt"})),
        lambda file: file.mkdir(),
        lambda file: file.symlink_to("/dev/zero"),
        lambda file: file.symlink_to("nowhere"),
        os.mkfifo,
    ],
)
def test_what_is_no_checkpoint_is_neither_replaced_nor_removed(
    put: Callable[[Path], object], tmp_path: Path, left: Checkpoint
) -> None:
    file = tmp_path / "run.jsonl.checkpoint"
    put(file)
    before = file.lstat()
    for act in (require_own, discard, lambda file: save_checkpoint(file, left)):
        with pytest.raises(InvalidInput) as caught:
            act(file)
        (line,) = caught.value.problems
        assert line.startswith(f"{file}: is not a checkpoint")
        assert line.endswith("move it away")
    assert list(tmp_path.iterdir()) == [file]
    after = file.lstat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)


LINES = [json.dumps({"step": step}).encode() + b"\n" for step in (0, 1, 2)]


@pytest.mark.parametrize("more", [b"", LINES[2], LINES[2][:5]])
def test_the_records_up_to_a_checkpoint_are_what_it_counts(more: bytes, tmp_path: Path, left: Checkpoint) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(LINES[0] + LINES[1] + more)
    assert left.records == 2
    assert records_length(path, left) == len(LINES[0] + LINES[1])


@pytest.mark.parametrize(
    "text", [b"", LINES[0], LINES[0] + LINES[1][:-1], LINES[1] + LINES[0], b"\xff\n" * 9, b"1\n1\n"]
)
def test_records_that_lack_the_checkpoints_are_refused(text: bytes, tmp_path: Path, left: Checkpoint) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(text)
    with pytest.raises(InvalidInput, match=r"run.jsonl: line 2 is not the record of step 1; begin the run anew"):
        records_length(path, left)
    path.unlink()
    with pytest.raises(InvalidInput, match=r"run.jsonl: cannot be read"):
        records_length(path, left)


# The plan.


def test_a_plan_knows_the_settings_of_each_step_and_where_there_is_a_record() -> None:
    plan = Plan((Phase(SFT, 3), Phase(ADAM, 0), Phase(GENTLE, 2)), 2, True, 0.5, False, Steps(), "")
    assert (plan.ends, plan.total) == ((3, 3, 5), 5)
    assert [plan.config(step) for step in range(6)] == [SFT, SFT, SFT, GENTLE, GENTLE, GENTLE]
    assert [step for step in range(6) if plan.recorded(step)] == [0, 2, 3, 4, 5]
    path = Steps()
    for config in (SFT, SFT, SFT, GENTLE):
        path = path.then(config, 0)
    assert plan.path(4) == path
