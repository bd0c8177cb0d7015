"""The command that writes a lesson into one file."""

import signal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from app import cli, cli_export
from sim.opening import parse_file
from sim.simulator import Simulator
from tests.app.conftest import simulator

SMALL = ("--set", "source.prompts=1", "--set", "source.group_size=2")


@pytest.fixture(autouse=True)
def _warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulator that other tests have warmed."""
    monkeypatch.setattr(cli_export, "simulator", simulator)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["export", *arguments])


def test_a_preset_becomes_a_file_that_opens_again_and_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one.html", "other.html"):
        result = run("opsd-collapse", *SMALL, "--frames", "2", "--draw", "4", "-o", str(tmp_path / name))
        assert result.exit_code == 0, result.stderr
        assert "2 frames" in result.stderr
    one, other = ((tmp_path / name).read_bytes() for name in ("one.html", "other.html"))
    assert one == other
    assert parse_file(one, "one.html").moment.draw == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.html", "other.html"]


def test_a_run_of_steps_from_a_link_goes_to_standard_output() -> None:
    link = "http://localhost:5006/app?preset=opsd-collapse&view=1;source.prompts=1;source.group_size=2;theme=dark"
    result = run("--link", link, "--frames", "2", "--along", "steps", "-o", "-")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("<!DOCTYPE html>")
    assert "a recording: 1 step of a run" in result.stdout
    assert 'data-theme="dark"' in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("opsd-collapse", "-o", "{}/missing/lesson.html"), "is in a folder that does not exist"),
        (("opsd-collapse", "-o", "{}"), "is a folder"),
        (("opsd-collapse", "--frames", "0", "-o", "-"), "got 0, allowed a whole number, 1 to 120"),
        (("opsd-collapse", "--along", "lines", "-o", "-"), "lines"),
        (("opsd-colapse", "-o", "-"), 'did you mean "opsd-collapse"'),
        (("-o", "-"), "neither a preset nor --link"),
    ],
)
def test_what_cannot_be_done_is_refused_before_any_work(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_export, "simulator", lambda: pytest.fail("work was done"))
    result = run(*(each.format(tmp_path) for each in arguments))
    assert result.exit_code == 2
    assert said in result.stderr


class Interrupted:
    """A simulator at whose second frame Ctrl-C is pressed."""

    def __init__(self, engine: Simulator) -> None:
        self._engine, self.asked = engine, 0

    def frame(self, moment: Any, **more: Any) -> Any:
        self.asked += 1
        if self.asked == 2:
            signal.raise_signal(signal.SIGINT)
        return self._engine.frame(moment, **more)


def test_ctrl_c_stops_it_and_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, target = Interrupted(simulator()), tmp_path / "lesson.html"
    target.write_text("before")
    monkeypatch.setattr(cli_export, "simulator", lambda: engine)
    result = run("opsd-collapse", *SMALL, "--frames", "9", "-o", str(target))
    assert result.exit_code == 130
    assert "interrupted" in result.stderr
    assert engine.asked == 2
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]
