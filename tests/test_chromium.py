"""The search for a browser: it takes what starts, installs what it may, and never gives up in silence."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import chromium


def executable(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n", "utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an empty PATH and none of playwright's browsers."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "browsers"))
    return folder


def test_a_browser_on_the_path_is_taken(bare: Path) -> None:
    browser = executable(bare / "chromium-browser", "echo Chromium 1")
    assert chromium.find() == browser


def test_a_stub_that_does_not_start_is_passed_over(bare: Path) -> None:
    executable(bare / "chromium", "exit 1")
    browser = executable(bare / "google-chrome", "echo Chrome 1")
    assert chromium.find() == browser


def test_a_bare_machine_has_none(bare: Path) -> None:
    assert list(bare.iterdir()) == []
    assert chromium.find() is None


def test_a_way_ends_at_its_first_failing_command_and_the_next_one_is_tried(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = bare / "chromium"
    made = f"import pathlib; p = pathlib.Path({str(browser)!r}); p.write_text('#!/bin/sh\\n'); p.chmod(0o755)"
    wrong = f"import pathlib; pathlib.Path({str(tmp_path / 'wrong')!r}).touch()"
    python = [sys.executable, "-c"]
    ways = [[[*python, "raise SystemExit(1)"], [*python, wrong]], [[*python, made]]]
    monkeypatch.setattr(chromium, "_ways", lambda: ways)
    assert chromium.install() == browser
    assert not (tmp_path / "wrong").exists()


def test_with_no_way_left_the_program_says_what_to_install(bare: Path, tmp_path: Path) -> None:
    # A playwright that fails, found before the real one, stands for a machine without a network.
    (tmp_path / "playwright.py").write_text("raise SystemExit('no network')", "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "tests.chromium"],
        env={"PATH": str(bare), "PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[1]}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "install one so that one of chromium" in run.stderr
