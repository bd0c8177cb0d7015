"""The commands that compare runs and batch sizes: what they print, and what they refuse."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from sim.batch_law import batch_law, lengths
from sim.changes import PUBLISHED, PUBLISHED_SOURCE
from sim.cli_study import register
from sim.presets import builtin, dumps_preset, override
from sim.shell import Guarded
from tests.shipped import fresh

ROOT = Path(__file__).parents[2]
SMALL = ("--set", "source.prompts=2", "--set", "source.group_size=4")
FEW = ("--set", "source.prompts=1", "--set", "source.group_size=64", "--draws", "2")

app = typer.Typer(cls=Guarded, rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
register(app)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def cells(line: str) -> list[str]:
    return re.split(r" {2,}", line.strip())


def test_changes_are_a_row_a_preset_and_the_base_in_two_tables_with_the_papers_below() -> None:
    result = run("changes", "sft-fan", "rl-small-batch", "--steps", "1", *SMALL)
    assert result.exit_code == 0, result.stderr
    _, became, _, went, heading, published = result.stdout.rstrip("\n").split("\n\n")
    assert cells(became.splitlines()[0])[:4] == ["accuracy", "facts", "copying", "forgotten"]
    for part in (became, went):
        assert [cells(line)[0] for line in part.splitlines()[1:]] == ["base", "sft-fan", "rl-small-batch"]
    for line in went.splitlines():
        assert len(cells(line)) == 11 - (line == went.splitlines()[0])
    assert heading.startswith(f"ANOTHER model, not measured here: {PUBLISHED_SOURCE}")
    lines = published.splitlines()[1:]
    assert [cells(line)[0] for line in lines] == [row.name for row in PUBLISHED]
    assert cells(lines[1])[1:] == ["0.512", "-", "-", "-", "-", "-"]
    assert cells(lines[3])[-1] == "0.01092"


def test_changes_are_written_as_json(tmp_path: Path) -> None:
    target = tmp_path / "changes.json"
    result = run("changes", "sft-fan", "--steps", "1", *SMALL, "--json", str(target))
    assert (result.exit_code, result.stdout) == (0, "")
    body = json.loads(target.read_text())
    assert [row["name"] for row in body["rows"]] == ["base", "sft-fan"]
    assert body["rows"][0]["moved"]["norm"] == 0 < body["rows"][1]["moved"]["norm"]
    assert body["another_model"]["model"] == PUBLISHED_SOURCE
    assert len(body["another_model"]["rows"]) == len(PUBLISHED)


def test_a_preset_that_diverges_is_named_beside_the_others_with_status_1(tmp_path: Path) -> None:
    target = tmp_path / "changes.json"
    wild = tmp_path / "wild.json"
    preset = builtin("sft-foreign-style")
    config = override(preset.config, ["update.step_size=100"])
    wild.write_text(dumps_preset(preset.model_copy(update={"config": config})))
    arguments = ("changes", "sft-fan", str(wild), "--steps", "4")
    result = run(*arguments)
    assert result.exit_code == 1
    error = result.stderr.splitlines()[-1]
    assert error.startswith(f"error: {wild}: rollout: ")
    reason = error.removeprefix(f"error: {wild}: ")
    _, became, _, went, *_ = result.stdout.rstrip("\n").split("\n\n")
    assert cells(became.splitlines()[-1]) == [str(wild), *["-"] * 7, f"not finite: {reason}"]
    assert cells(went.splitlines()[-1]) == [str(wild), *["-"] * 10]
    written = run(*arguments, "--json", str(target))
    assert (written.exit_code, written.stdout) == (1, "")
    assert written.stderr.splitlines()[-1] == error
    rows = json.loads(target.read_text())["rows"]
    assert [row["name"] for row in rows] == ["base", "sft-fan", str(wild)]
    assert rows[1]["task_accuracy"] is not None
    assert (rows[2]["task_accuracy"], rows[2]["reason"]) == (None, reason)


def test_the_batch_law_is_a_row_a_size_and_what_is_fitted(tmp_path: Path) -> None:
    config = override(builtin("sft-fan").config, ["source.prompts=1", "source.group_size=64"])
    sizes = list(lengths(fresh(), config, draws=2))
    law = batch_law(sizes)
    result = run("batch-law", "sft-fan", *FEW)
    assert result.exit_code == 0, result.stderr
    title, table, fitted = result.stdout.rstrip("\n").split("\n\n")
    assert title == builtin("sft-fan").title
    assert [cells(line)[0] for line in table.splitlines()[1:]] == ["1", "2", "4", "8"]
    assert [cells(line)[2] for line in table.splitlines()[1:]] == [f"{size.root_mean_square:.3g}" for size in sizes]
    assert cells(fitted.splitlines()[0])[1] == f"{law.slope:.3g}"
    target = tmp_path / "law.json"
    assert run("batch-law", "sft-fan", *FEW, "--json", str(target)).exit_code == 0
    body = json.loads(target.read_text())
    assert body["slope"] == law.slope
    assert body["sizes"][3]["squared"] == sizes[3].squared


def test_what_is_undetermined_says_why(tmp_path: Path) -> None:
    alone = ("--set", "source.prompts=1", "--set", "source.group_size=1", "--draws", "2")
    result = run("batch-law", "rl-small-batch", *alone)
    assert result.stdout.count("0 of 9 batch sizes carry a signal; the fit needs 3") == 6
    target = tmp_path / "law.json"
    run("batch-law", "rl-small-batch", *alone, "--json", str(target))
    body = json.loads(target.read_text())
    assert body["noise_scale_prompts"] is None
    assert body["reasons"]["noise_scale_prompts"] == "0 of 9 batch sizes carry a signal; the fit needs 3"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["changes", "sft-fam", "--steps", "1"], 'did you mean "sft-fan"?'),
        (["changes", "sft-fan", "sft-fan", "--steps", "1"], "PRESET: got sft-fan twice"),
        (["changes", "sft-fan", "--steps", "1", "--json", "/"], "is a folder"),
        (["changes", "sft-fan", "--steps", "1", "--set", "source.alpha=3"], "source.alpha: got 3, allowed 0 to 1"),
        (["batch-law", "sft-fam"], 'did you mean "sft-fan"?'),
        (["batch-law", "sft-fan", "--json", ""], "names no file"),
    ],
)
def test_bad_input_is_refused_before_any_work(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "training" not in result.stderr


@pytest.mark.parametrize(
    "arguments", [["changes", "sft-fan"], ["changes", "--steps", "1"], ["batch-law", "sft-fan", "--draws", "1"]]
)
def test_what_is_needed_is_asked_for(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_help_does_not_load_the_engine() -> None:
    program = (
        "import sys, typer; from sim.cli_study import register\napp = typer.Typer(); register(app)\n"
        "try: app(['changes', '--help'])\nexcept SystemExit as end: assert not end.code\n"
        "assert not {'torch', 'numpy', 'scipy', 'tqdm'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments", [["changes", "sft-fan", "--steps", "1000", *SMALL], ["batch-law", "sft-fan", "--draws", "1000"]]
)
def test_an_interrupt_ends_the_command_with_status_130(arguments: list[str]) -> None:
    # Where these tests run in a shell's background, interrupts are ignored, and a child inherits that.
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program += f"import tests.sim.test_cli_study as t; t.app({arguments})"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as command:
        assert command.stderr is not None
        seen = b""
        while not re.search(rb" [1-9]\d*/\d+ ", seen):
            seen += os.read(command.stderr.fileno(), 4096)
        command.send_signal(signal.SIGINT)
        try:
            rest = command.communicate(timeout=60)[1]
        finally:
            command.kill()
    assert command.returncode == 130
    assert b"interrupted" in rest
    assert b"Traceback" not in seen + rest
