"""The command that serves the page."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlparse

import pytest
from bokeh.server.util import check_allowlist
from typer.testing import CliRunner, Result

from app import cli
from app.visitors import DEFAULT, VARIABLE, limit
from tests.server import free_port

ROOT = Path(__file__).parents[2]
ORIGINS = "BOKEH_ALLOW_WS_ORIGIN"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments))


def test_the_command_line_loads_neither_the_engine_nor_the_interface() -> None:
    program = (
        "import sys; from app import cli\n"
        "try: cli.app(['serve', '--help'])\n"
        "except SystemExit as end: assert not end.code\n"
        "assert not {'torch', 'numpy', 'panel', 'bokeh', 'param', 'matplotlib'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_port_that_there_is_not_is_refused() -> None:
    result = run("serve", "--port", "0")
    assert result.exit_code == 2
    assert "got 0, allowed a whole number, 1 to 65535" in result.stderr


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that took the place of this process, which stays."""
    seen: list[list[str]] = []
    for name in ("PYTHONPATH", VARIABLE, ORIGINS):
        monkeypatch.setenv(name, "elsewhere")
    monkeypatch.setattr(os, "execv", lambda _, command: seen.append(command))
    return seen


def allowed() -> set[str]:
    return set(os.environ[ORIGINS].split(","))


def test_serving_runs_panel_on_the_installed_app(started: list[list[str]]) -> None:
    port = free_port()
    result = run("serve", "--port", str(port), "--sessions", "7", "--lifetime", "90", "--prefix", "/a/b/", "--show")
    assert result.exit_code == 0
    (command,) = started
    assert command[:5] == [sys.executable, "-P", "-m", "panel", "serve"]
    assert Path(command[5]).name == "app"
    assert {f"--port={port}", "--address=localhost", "--prefix=a/b", "--show"} <= set(command)
    assert {"--unused-session-lifetime=90000", "--check-unused-sessions=60000"} <= set(command)
    assert os.environ[VARIABLE] == "7"
    assert limit() == 7
    assert os.environ["PYTHONPATH"].split(os.pathsep) == ["elsewhere", str(ROOT)]
    assert f"http://localhost:{port}/a/b/app, for this machine only; 7 at once" in result.stderr


def test_by_default_only_this_machine_gets_at_it_and_nothing_is_warned_of(started: list[list[str]]) -> None:
    port = free_port()
    result = run("serve", "--port", str(port))
    assert allowed() == {f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"}
    assert os.environ[VARIABLE] == str(DEFAULT)
    assert "warning" not in result.stderr
    assert "--show" not in started[0]


def test_hosts_that_are_named_are_let_in_and_so_is_a_frame_without_an_origin_if_asked_for(
    started: list[list[str]],
) -> None:
    port = free_port()
    result = run("serve", "--port", str(port), "--origin", "Lectures.example.org", "--origin", "x:8080", "--sandboxed")
    assert result.exit_code == 0
    assert len(started) == 1
    assert {"lectures.example.org:80", "x:8080", ":80"} < allowed()
    assert "warning: --sandboxed" in result.stderr
    assert check_allowlist(urlparse("null").netloc.lower(), sorted(allowed()))
    assert check_allowlist("lectures.example.org", sorted(allowed()))
    assert not check_allowlist("example.org", sorted(allowed()))


def test_an_open_address_and_an_open_origin_are_warned_of(started: list[list[str]]) -> None:
    port = free_port()
    result = run("serve", "--port", str(port), "--address", "0.0.0.0", "--origin", "*")
    assert len(started) == 1
    assert "for whoever gets at this machine's network" in result.stderr
    assert "warning: there is no password" in result.stderr
    assert "warning: --origin *" in result.stderr
    assert {"*", f"localhost:{port}"} < allowed()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--origin", "https://x.org/deck", 'got "https://x.org/deck", allowed HOST or HOST:PORT'),
        ("--origin", "x.org/deck", 'did you mean "x.org"?'),
        ("--origin", "x.org:70000", "allowed HOST or HOST:PORT"),
        ("--origin", "*.org", "or * for any"),
        ("--origin", "", "allowed HOST or HOST:PORT"),
        ("--address", "no.such.invalid", "which is no address of this machine"),
        ("--address", "", "which is no address of this machine"),
        ("--prefix", "a//b", "allowed a path"),
        ("--prefix", "../a", "allowed a path"),
        ("--sessions", "0", "allowed a whole number, 1 to 1000"),
        ("--sessions", "1001", "allowed a whole number, 1 to 1000"),
        ("--lifetime", "0", "allowed a whole number, 1 to 86400"),
        ("--lifetime", "soon", "allowed a whole number, 1 to 86400"),
    ],
)
def test_what_cannot_be_is_refused_by_the_options_name(
    started: list[list[str]], option: str, value: str, said: str
) -> None:
    result = run("serve", "--port", str(free_port()), option, value)
    assert result.exit_code == 2
    assert option in result.stderr
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert not started


def test_a_port_that_is_taken_is_told_before_a_server_starts(started: list[list[str]]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = run("serve", "--port", str(port))
    assert result.exit_code == 2
    assert f"--port: {port} is taken on localhost" in result.stderr
    assert not started
