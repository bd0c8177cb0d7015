"""The command that serves the page."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app import cli

ROOT = Path(__file__).parents[2]


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


def test_serving_runs_panel_on_the_installed_app(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.setattr(os, "execv", lambda _, command: seen.append(command))
    assert run("serve", "--port", "5123", "--origin", "example.org", "--show").exit_code == 0
    (command,) = seen
    assert command[:5] == [sys.executable, "-P", "-m", "panel", "serve"]
    assert Path(command[5]).name == "app"
    assert {"--port=5123", "--address=localhost", "--show"} <= set(command)
    assert "--allow-websocket-origin=example.org" in command
    assert os.environ["PYTHONPATH"].split(os.pathsep) == ["elsewhere", str(ROOT)]
