"""Weights made again from their recipes, and the shell's commands for them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner, Result

from sim import cli, pretrain, weights, world
from sim.errors import WeightsError
from sim.policy import Transformer

TINY = pretrain.Recipe(Transformer(layers=1, width=16), pretrain.BASE, steps=10, seed=5, documents=4)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["weights", *arguments])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder in the shipped one's place, and recipes of a second."""
    monkeypatch.setattr(world, "assets", lambda: tmp_path)
    recipes = {"base": TINY, "over-trained": pretrain.Recipe(TINY.model, TINY.corpus, 10, 6, "base", documents=4)}
    monkeypatch.setattr(pretrain, "RECIPES", recipes)
    return tmp_path


def test_weights_made_twice_are_the_same_bytes(folder: Path) -> None:
    done: list[tuple[int, int]] = []
    _, first = weights.make("base", folder / "a.safetensors", lambda *step: done.append(step))
    _, second = weights.make("base", folder / "b.safetensors", lambda *_: None)
    assert first == second
    assert (folder / "a.safetensors").read_bytes() == (folder / "b.safetensors").read_bytes()
    assert done == [(step, 10) for step in range(1, 11)]
    assert not (folder / "weights.sha256").exists()


def test_shipped_weights_are_replaced_with_their_hash(folder: Path) -> None:
    path, digest = weights.make("base", None, lambda *_: None)
    assert path == folder / "base.safetensors"
    assert world.expected_hashes() == {"base": digest}
    assert world.load_policy("base").model == TINY.model


def test_weights_that_start_from_others_read_the_shipped_ones(folder: Path) -> None:
    with pytest.raises(WeightsError, match="base"):
        weights.make("over-trained", None, lambda *_: None)
    weights.make("base", None, lambda *_: None)
    weights.make("over-trained", None, lambda *_: None)
    base, trained = (world.load_policy(name).params for name in ("base", "over-trained"))
    assert base.keys() == trained.keys()
    assert not torch.equal(base["head.weight"], trained["head.weight"])
    assert set(world.expected_hashes()) == {"base", "over-trained"}
    assert sorted(path.name for path in folder.iterdir()) == [
        "base.safetensors",
        "over-trained.safetensors",
        "weights.sha256",
    ]


def test_a_missing_and_an_altered_file_are_named(folder: Path) -> None:
    weights.make("base", None, lambda *_: None)
    assert weights.problems()["base"] is None
    path = folder / "base.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\x00\x01")
    said = weights.problems()
    assert "SHA-256" in str(said["base"])
    assert "No such file" in str(said["same-family"])
    result = run("verify", "--hashes-only")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: weights base: SHA-256 is ")
    assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("folder")
def test_frames_without_weights_fail_with_one_line() -> None:
    world.World.load.cache_clear()
    result = CliRunner().invoke(cli.app, ["frame", "sft-fan"])
    world.World.load.cache_clear()
    assert result.exit_code == 1
    assert result.stderr.startswith("error: weights base: ")
    assert result.stderr.count("\n") == 1


def test_training_from_the_shell_writes_where_it_is_told(folder: Path) -> None:
    out = folder / "mine.safetensors"
    result = run("train", "base", "--out", str(out))
    assert result.exit_code == 0, result.stderr
    assert out.exists()
    assert result.stdout.startswith(f"base: {out}, SHA-256 ")
    assert "10/10" in result.stderr
    assert not (folder / "base.safetensors").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "bas"], 'no weights are called "bas"; did you mean "base"?'),
        (["train", "zzz"], "allowed: base, same-family, cross-family, over-trained, plane"),
        (["train", "base", "--out", "/no/such/folder/x"], "--out: "),
        (["train", "base", "--out", "-"], '"-" names no file'),
        (["train", "--out", "x"], "--out: got a file for all weights"),
    ],
)
def test_bad_input_is_refused_with_status_2(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert said in result.stderr
