"""``gradcloud claims``: which it knows, what it refuses, and that it measures what ships."""

import json
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from sim.cli import app
from sim.experiments import Experiment
from sim.experiments import Result as Found
from sim.ledger import CLAIMS
from sim.ledger_file import Claim, load_ledger, parse_ledger
from tests.shipped import shared

QUICK = [claim.name for claim in CLAIMS if claim.quick]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["claims", *arguments])


def test_the_claims_are_listed_with_their_sentences() -> None:
    lines = run("--list").stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [claim.name for claim in CLAIMS]
    assert [line.split(":")[0] for line in run("--list", "--quick").stdout.splitlines()] == QUICK


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rl-sparce",), 'no claim is called "rl-sparce"; did you mean "rl-sparse"?'),
        (("zzz",), "gradcloud claims --list names them"),
        (("--seeds", "2"), "allowed a whole number, 3 to 100"),
        (("--jobs", "0"), "allowed a whole number, 1 to 64"),
        (("rl-sparse", "--quick"), "allowed is one of the two"),
        (("--list", "--json", "-"), "--list: got --json as well"),
        (("rl-sparse", "--work", ""), "is no folder"),
        (("rl-sparse", "--json", "/nowhere/x.json"), "does not exist"),
    ],
)
def test_what_is_not_allowed_is_said_before_anything_is_measured(arguments: tuple[str, ...], said: str) -> None:
    found = run(*arguments)
    assert found.exit_code == 2
    assert said in " ".join(found.stderr.split())


def test_a_file_is_no_folder_to_work_in(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "is no folder" in run("rl-sparse", "--work", str(tmp_path / "file")).stderr


def test_a_folder_that_cannot_be_made_is_said_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("sim.lab.Lab.measure", lambda *_: pytest.fail("measured"))
    found = run("rl-sparse", "--work", str(tmp_path / "file" / "inner"))
    assert found.exit_code == 2
    assert "--work: " in found.stderr
    assert "cannot be written to (Not a directory)" in found.stderr
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    found = run("rl-sparse")
    assert found.exit_code == 2
    assert "name another folder with --work" in found.stderr


def compare(measured: tuple[float | None, ...], written: tuple[float | None, ...]) -> None:
    """On another processor the last digits may differ, so numbers are compared to 5 %."""
    assert measured == pytest.approx(written, rel=0.05, abs=0.01)


@pytest.mark.slow
def test_a_claim_comes_out_as_in_the_ledger_that_ships_and_is_not_measured_twice(tmp_path: Path) -> None:
    name, work = QUICK[-1], str(tmp_path / "work")
    found = run(name, "--jobs", "1", "--work", work, "--json", str(tmp_path / "found.json"))
    assert found.exit_code == 0, found.stderr
    (claim,) = parse_ledger((tmp_path / "found.json").read_bytes()).claims
    shipped = written()[name]
    assert (claim.name, claim.verdict) == (name, shipped.verdict)
    for mine, theirs in zip(claim.measurements, shipped.measurements, strict=True):
        compare(mine.values, theirs.values)
    assert name in found.stdout
    again = run(name, "--work", work, "--json", "-")
    assert json.loads(again.stdout)["claims"] == json.loads((tmp_path / "found.json").read_text())["claims"]


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK[:-1])
def test_the_first_seed_of_a_quick_claim_has_the_numbers_of_the_ledger_that_ships(name: str) -> None:
    """That each verdict follows from its numbers is tested beside the ledger."""
    (claim,) = (each for each in CLAIMS if each.name == name)
    numbers = claim.numbers({key: measured(experiment) for key, experiment in claim.experiments(0).items()})
    firsts = tuple(each.values[0] for each in written()[name].measurements)
    compare(tuple(numbers[key] for key in claim.units), firsts)


@cache
def measured(experiment: Experiment) -> Found:
    """Claims that need the same share it."""
    return experiment.measure(shared())


@cache
def written() -> dict[str, Claim]:
    ledger = load_ledger()
    assert ledger is not None
    return {claim.name: claim for claim in ledger.claims}
