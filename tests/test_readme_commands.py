"""Every command in the README is run: to its end, or, where that takes minutes, until it works and is interrupted."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from sim.presets import builtin, dumps_preset
from tests.server import free_port

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = [
    line.partition(" #")[0].strip()
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in re.findall(r"^\$ (.+)$", block, re.MULTILINE)
]
RESUME = " --resume"
RESUMED = tuple(each.removesuffix(RESUME) for each in COMMANDS if each.endswith(RESUME))
#: What takes minutes.
LONG = ("gradcloud claims", "gradcloud batch-law", "gradcloud weights train")
SERVE = ("gradcloud serve", "make serve")
#: What these tests are a part of.
HERE = "make test"
PATIENCE = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands are typed, one after the other; a user's preset lies there."""
    made = tmp_path_factory.mktemp("readme")
    (made / "my-preset.json").write_text(dumps_preset(builtin("opsd-clipped")), "utf-8")
    return made


def started(command: str, folder: Path) -> "subprocess.Popen[bytes]":
    program, *words = shlex.split(command)
    if program == "make":
        # The environment that runs this test is taken for the one that `make` would install.
        ready = f"{sys.prefix}/.to-serve"
        words, program = ["-C", str(ROOT), f"VENV={sys.prefix}", "-o", ready, *words], "make"
    else:
        program = str(Path(sys.executable).with_name(program))
    return subprocess.Popen(
        [program, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1"}, start_new_session=True,
    )  # fmt: skip


def interrupted(process: "subprocess.Popen[bytes]") -> None:
    """Press Ctrl-C and see it end with the status of an interrupt."""
    os.killpg(process.pid, signal.SIGINT)
    _, wrong = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, wrong.decode()


def at_work(process: "subprocess.Popen[bytes]") -> None:
    """Wait until its progress bar is on standard error."""
    assert process.stderr is not None
    said = b""
    while b"%|" not in said:
        more = os.read(process.stderr.fileno(), 4096)
        assert more, f"ended before it was at work: {said.decode()}"
        said += more


def test_the_readme_has_commands_and_none_that_is_not_run() -> None:
    assert len(COMMANDS) > 10
    assert {command.split()[0] for command in COMMANDS} == {"gradcloud", "make"}


@pytest.mark.parametrize("command", [each for each in COMMANDS if not each.startswith((*LONG, *SERVE, *RESUMED, HERE))])
def test_it_runs_to_its_end(command: str, folder: Path) -> None:
    process = started(command, folder)
    said, wrong = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, wrong.decode()
    named = re.search(r"(?:--json|-o|--out) ([\w.-]+)", command)
    assert said.strip() or (named and (folder / named[1]).stat().st_size)


@pytest.mark.parametrize("program", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_its_python_runs(program: str, folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [each for each in COMMANDS if each.startswith(LONG)])
def test_it_works_and_can_be_interrupted(command: str, folder: Path) -> None:
    process = started(command, folder)
    at_work(process)
    interrupted(process)


@pytest.mark.parametrize("command", [each for each in COMMANDS if each.endswith(RESUME)])
def test_it_goes_on_from_an_interrupt(command: str, folder: Path) -> None:
    begun = started(command.removesuffix(RESUME), folder)
    words = shlex.split(command)
    kept = folder / f"{words[words.index('--json') + 1]}.checkpoint"
    while not kept.exists():
        assert begun.poll() is None
        time.sleep(0.1)
    interrupted(begun)
    resumed = started(command, folder)
    _, wrong = resumed.communicate(timeout=PATIENCE)
    assert resumed.returncode == 0, wrong.decode()
    assert not kept.exists()


@pytest.mark.parametrize("command", [each for each in COMMANDS if each.startswith(SERVE)])
def test_it_serves_the_page(command: str, folder: Path) -> None:
    port = free_port()
    given = f"PORT={port}" if command.startswith("make") else f"--port {port}"
    process = started(re.sub(r"--port \d+", "", command) + f" {given}", folder)
    try:
        for _ in range(10 * PATIENCE):
            assert process.poll() is None, process.communicate()[1].decode()
            try:
                with urllib.request.urlopen(f"http://localhost:{port}/app", timeout=60) as page:
                    assert b"gradcloud" in page.read()
                    break
            except OSError:
                time.sleep(0.1)
        else:
            pytest.fail("no answer")
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
