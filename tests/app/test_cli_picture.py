"""The command that makes a picture, a film or a table of numbers."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

import app.film
from app import cli, cli_picture
from app.film import KINDS as FILMS
from app.still import KINDS as STILLS
from sim.columns import KINDS as NUMBERS
from sim.opening import load_file, parse_file
from sim.presets import builtin
from tests.server import ROOT

#: A batch as small as there is.
SMALL = ("rl-small-batch", "--set", "source.prompts=1", "--set", "source.group_size=2")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["picture", *arguments])


def test_the_endings_are_the_kinds_that_can_be_written() -> None:
    assert (*STILLS, *FILMS, *NUMBERS) == cli_picture.KINDS
    assert (cli_picture.FILMS, cli_picture.NUMBERS) == (FILMS, NUMBERS)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf", "csv", "json", "parquet"])
def test_the_files_ending_says_what_it_is(kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"picture.{kind}"
    done = run(*SMALL, "--draw", "3", "-o", str(file))
    assert done.exit_code == 0, done.stderr
    found = load_file(str(file))
    assert found.moment.draw == 3
    assert found.moment.config.source.prompts == 1
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_a_gif_shows_as_many_frames_as_were_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "film.gif"
    options = ("--frames", "3", "--along", "steps", "--fps", "5", "--plain", "--theme", "dark")
    done = run(*SMALL, *options, "-o", str(file))
    assert done.exit_code == 0, done.stderr
    with Image.open(file) as image:
        assert (image.n_frames, image.size, image.info["duration"]) == (3, (720, 720), 200)
    assert load_file(str(file)).look == {"theme": "dark"}


def test_times_multiplies_the_pixels(tmp_path: Path) -> None:
    file = tmp_path / "picture.PNG"
    assert run(*SMALL, "--times", "2", "-o", str(file)).exit_code == 0
    with Image.open(file) as image:
        assert image.size == (2560, 1440)


def test_a_link_and_a_picture_lead_to_the_same_file(tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{name}.svg" for name in "abc")
    address = (
        "http://localhost:5006/app?preset=rl-small-batch&view=1;source.prompts=1;draw=2;theme=projector;scale=linear"
    )
    assert run("--link", address, "-o", str(first)).exit_code == 0
    assert run(str(first), "-o", str(second)).exit_code == 0
    options = ("--set", "source.prompts=1", "--draw", "2", "--theme", "projector", "--scale", "linear")
    assert run("rl-small-batch", *options, "-o", str(third)).exit_code == 0
    assert first.read_bytes() == second.read_bytes() == third.read_bytes()


def test_a_theme_that_goes_without_saying_replaces_the_links(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    assert run(*SMALL, "-o", str(file)).exit_code == 0
    assert cli_picture.looked(load_file(str(file)), "light", "log").look == {}
    dark = cli_picture.looked(load_file(str(file)), "dark", None)
    assert dark.look == {"theme": "dark"}
    assert cli_picture.looked(dark, "light", None).look == {}


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("a.bmp", [], '--output: "a.bmp" ends in none of .png, .svg'),
        ("-", [], '--output: "-" ends in none of'),
        ("none/a.png", [], "is in a folder that does not exist"),
        ("a.csv", ["--theme", "dark"], '--theme: got "dark" for .csv, allowed with .png, .svg, .pdf, .gif'),
        ("a.svg", ["--times", "2"], "--times: got 2 for .svg, allowed with .png, .gif, .mp4 or .webm"),
        ("a.png", ["--frames", "2"], "--frames: got 2 for .png, allowed with .gif, .mp4 or .webm"),
        ("a.png", ["--times", "5"], "got 5, allowed a whole number, 1 to 4"),
        ("a.gif", ["--frames", "301"], "got 301, allowed a whole number, 1 to 300"),
    ],
)
def test_what_is_not_allowed_is_refused_before_any_work(
    name: str, options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli_picture, "simulator", None)
    done = run(*SMALL, "-o", name, *options)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_kind_that_the_machine_cannot_write_is_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(app.film, "film_kinds", lambda: {"mp4": "mp4 needs ffmpeg"})
    monkeypatch.setattr(cli_picture, "simulator", None)
    done = run(*SMALL, "-o", str(tmp_path / "a.mp4"))
    assert done.exit_code == 2
    assert "error: --output: mp4 needs ffmpeg" in done.stderr


def test_an_interrupt_leaves_the_file_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, make = tmp_path / "film.gif", app.film.film
    file.write_bytes(b"what was there")

    def pressed(*arguments: Any, **options: Any) -> bytes:
        os.kill(os.getpid(), signal.SIGINT)
        return make(*arguments, **options)

    monkeypatch.setattr(app.film, "film", pressed)
    done = run(*SMALL, "--frames", "2", "-o", str(file))
    assert done.exit_code == 130
    assert "interrupted" in done.stderr
    assert file.read_bytes() == b"what was there"
    assert [each.name for each in tmp_path.iterdir()] == ["film.gif"]


def test_a_film_that_is_told_to_end_leaves_nothing_behind(tmp_path: Path) -> None:
    work, film = tmp_path / "work", tmp_path / "film.mp4"
    work.mkdir()
    command = [sys.executable, "-m", "app.cli", "picture", *SMALL, "--frames", "60", "-o", str(film)]
    surroundings = os.environ | {"TMPDIR": str(work)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=surroundings, cwd=ROOT) as process:
        while not list(work.iterdir()):
            assert process.poll() is None
            time.sleep(0.01)
        process.terminate()
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert said.decode().splitlines()[-1] == "interrupted"
    assert [each.name for each in tmp_path.iterdir()] == ["work"]
    assert not list(work.iterdir())


def test_the_record_in_json_stands_beside_the_frame(tmp_path: Path) -> None:
    file = tmp_path / "frame.json"
    assert run("rl-small-batch", "-o", str(file)).exit_code == 0
    found = json.loads(file.read_text("utf-8"))
    assert found["gradcloud"]["link"] == "preset=rl-small-batch"
    assert found["config"] == builtin("rl-small-batch").config.model_dump(mode="json")
    assert parse_file(file.read_bytes(), "frame.json").name == "rl-small-batch"
