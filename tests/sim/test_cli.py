"""The command line: what it prints, its exit statuses, and that nothing reaches the user as a traceback."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from sim import cli, session_file
from sim import train as trained
from sim.errors import NonFinite, WeightsError
from sim.link import Link
from sim.opening import load_file
from sim.presets import builtin, dumps_preset, json_schema, names, override
from sim.record import dumps_record
from sim.timeline import Moment, Timeline
from sim.train import evaluate, rule_in_words

ROOT = Path(__file__).parents[2]
SMALL = ("--set", "source.prompts=2", "--set", "source.group_size=4")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments))


def started(*arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "sim.cli", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def errors(result: Result) -> list[str]:
    lines = result.stderr.splitlines()
    assert all(line.startswith("error: ") for line in lines), result.stderr
    return [line.removeprefix("error: ") for line in lines]


@pytest.fixture
def preset_file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "mine.json"
    path.write_text(dumps_preset(builtin("opsd-collapse")), encoding="utf-8")
    return path


# Help, lists and checks: nothing is computed.


@pytest.mark.parametrize("arguments", [["--help"], ["check", "opsd-collapse"], ["presets"], ["schema"], ["--version"]])
def test_what_computes_nothing_does_not_load_the_engine(arguments: list[str]) -> None:
    program = (
        "import sys; from sim import cli\n"
        f"try: cli.app({arguments})\n"
        "except SystemExit as end: assert not end.code\n"
        "assert not {'torch', 'numpy', 'scipy', 'tqdm'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["frame", "train", "check", "schema", "presets", "weights"])
def test_every_command_has_help(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f" {command}" in result.stdout


def test_presets_are_listed_with_their_titles() -> None:
    lines = run("presets").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(names())
    assert lines[0].endswith(builtin(names()[0]).title)


def test_the_schemas_are_printed() -> None:
    assert json.loads(run("schema").stdout) == json.loads(run("schema", "preset").stdout) == json_schema()
    assert json.loads(run("schema", "session").stdout) == session_file.json_schema()


def test_check_says_ok_of_good_files_and_names_each_problem_of_bad_ones(preset_file: Path, tmp_path: Path) -> None:
    good = run("check", str(preset_file), *names())
    assert (good.exit_code, good.stderr) == (0, "")
    assert good.stdout.splitlines()[0] == f"{preset_file}: ok: a preset"
    bad = tmp_path / "bad.json"
    bad.write_text(
        preset_file.read_text().replace('"threshold": 0.05', '"treshold": true').replace('"seed": 0', '"seed": -1')
    )
    result = run("check", str(bad), str(preset_file))
    assert result.exit_code == 2
    assert result.stdout == f"{preset_file}: ok: a preset\n"
    assert errors(result) == [
        f"{bad}:11: config.seed: got -1, allowed 0 to 2147483647",
        f'{bad}:36: config.clip.treshold: unknown key; did you mean "threshold"?',
    ]


def test_a_problem_of_a_whole_file_names_the_file_once(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_bytes(b"")
    assert errors(run("check", str(path))) == [f"{path}: empty, allowed is one JSON object; fill it in"]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session that was left one step from the checkpoint, at batch 2, with few rollouts."""
    preset = builtin("opsd-collapse")
    timeline = Timeline(preset.config, preset.title)
    small = Moment(override(preset.config, ["source.prompts=2", "source.group_size=4"]))
    timeline.act("control", "few", small)
    timeline.act("step", "left here", small.next_step().next_draw().next_draw())
    path = tmp_path / "session.json"
    path.write_text(session_file.dumps_session(timeline, {0: ("opsd-collapse", preset)}), "utf-8")
    return path


def test_check_says_what_each_file_is(session: Path, preset_file: Path, tmp_path: Path) -> None:
    export = tmp_path / "lesson.html"
    opened = load_file(str(session))
    record = dumps_record(Link(opened.preset, opened.name, opened.moment))
    export.write_text(f'<!doctype html><script type="application/json" id="gradcloud">{record}</script>', "utf-8")
    result = run("check", str(session), str(export), str(preset_file))
    assert (result.exit_code, result.stderr) == (0, "")
    assert [line.partition(": ok: ")[2] for line in result.stdout.splitlines()] == [
        "a session of 3 events", "an export at step 1, draw 2", "a preset"
    ]  # fmt: skip


# Bad input.


@pytest.mark.parametrize("command", [["frame"], ["train", "--steps", "1"]], ids=["frame", "train"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["opsd-colapse"], 'no preset or file is called "opsd-colapse"; did you mean "opsd-collapse"?'),
        (["/"], "/: got a folder"),
        (["no/such.json"], f"; presets: {', '.join(names())}"),
        (["sft-fan", "--set", "clip.treshold=1"], 'clip.treshold: unknown key; did you mean "clip.threshold"?'),
        (["sft-fan", "--set", "source.alpha=3"], "source.alpha: got 3, allowed 0 to 1"),
        (["sft-fan", "--set", "nonsense"], '"nonsense": allowed is key=value'),
        (["sft-fan", "--set", "teacher.divergence=reverse"], "teacher: a label puts all its mass on one token"),
        (["sft-fan", "--json", "/no/such/folder/out"], "--json: "),
        (["sft-fan", "--json", "/"], "is a folder"),
        (["sft-fan", "--json", ""], "names no file"),
    ],
    ids=lambda value: " ".join(map(repr, value)) if isinstance(value, list) else "",
)
def test_bad_input_is_named_on_stderr_with_status_2(command: list[str], arguments: list[str], said: str) -> None:
    result = run(*command, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = errors(result)
    assert said in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["frame", "sft-fan", "--draw", "-1"], "got -1, allowed a whole number, 0 to 1000000000"),
        (["frame", "sft-fan", "--draw", "1" + "0" * 5000], "allowed a whole number, 0 to 1000000000"),
        (["frame", "sft-fan", "--draw", "1.5"], "got 1.5, allowed"),
        (["frame", "sft-fan", "--draw", "\u0663"], "allowed a whole number"),
        (["frame", "sft-fan", "--draw", ""], "got , allowed a whole number"),
        (["frame", "sft-fan", "--step", "-1"], "got -1, allowed a whole number, 0 to 10000"),
        (["frame", "sft-fan", "--step", "10001"], "got 10001, allowed"),
        (["train", "sft-fan", "--steps", "0"], "got 0, allowed a whole number, 1 to 10000"),
        (["train", "sft-fan", "--steps", "true"], "got true, allowed"),
        (["train", "sft-fan", "--steps", "4", "--every", "0"], "got 0, allowed"),
        (["train", "sft-fan", "--steps", "4", "--every", "5"], "--every: got 5, allowed 1 to 4"),
        (["train", "sft-fan", "--steps", "4", "--collapse", "1.5"], "got 1.5, allowed a number, 0 to 1"),
        (["train", "sft-fan", "--steps", "4", "--collapse", "nan"], "got nan, allowed a number"),
        (["train", "sft-fan", "--steps", "4", "--collapse", "-0.1"], "got -0.1, allowed a number"),
        (["train", "sft-fan", "--steps", "4", "--then", "rl-small-batch"], "allowed PRESET:STEPS with 1 to 10000"),
        (["train", "sft-fan", "--steps", "4", "--then", "rl-small-batch:0"], 'got "rl-small-batch:0", allowed PRESET'),
        (["train", "sft-fan", "--steps", "4", "--then", "rl-smal-batch:1"], 'did you mean "rl-small-batch"?'),
        (["train", "sft-fan", "--steps", "4", *["--then", "sft-fan:1"] * 21], "--then: got 21, allowed at most 20"),
        (["train", "sft-fan", "--steps", "4", "--resume"], "--resume: got no file, allowed with --json FILE"),
        (["train", "sft-fan", "--steps", "4", "--resume", "--json", "-"], "--resume: got no file"),
        (["train", "sft-fan"], "--steps"),
        (["fram"], "frame"),
        (["frame"], "preset"),
        (["frame", "sft-fan", "--jsn", "-"], "--jsn"),
        (["check"], "FILE"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_a_bad_option_is_refused_with_status_2(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr) < 500


def test_a_target_that_may_not_be_written_is_refused_before_any_work(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("kept")
    result = run("frame", "sft-fan", "--json", str(taken / "inside"))
    assert result.exit_code == 2
    assert "in a folder that does not exist" in errors(result)[0]
    assert taken.read_text() == "kept"


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (NonFinite("gradients: the mean update is not finite"), 1, ["gradients: the mean update is not finite"]),
        (WeightsError("base.safetensors: missing"), 1, ["base.safetensors: missing"]),
        (PermissionError(13, "Permission denied", "x"), 1, ["x: Permission denied"]),
    ],
)
def test_a_failure_at_work_is_one_line_and_status_1(
    monkeypatch: pytest.MonkeyPatch, raised: Exception, status: int, said: list[str]
) -> None:
    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr("sim.opening.load_file", fail)
    result = run("frame", "sft-fan")
    assert result.exit_code == status
    assert errors(result) == said


def test_an_interrupt_ends_with_a_short_line_and_status_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sim.opening.load_file", interrupted)
    result = run("frame", "sft-fan")
    assert result.exit_code == 130
    assert result.stderr.strip() == "interrupted"


def test_a_reader_that_leaves_gets_no_traceback() -> None:
    process = started("schema")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 141
    assert said == b""


def test_a_name_that_the_terminal_cannot_write_is_escaped(preset_file: Path) -> None:
    path = preset_file.rename(preset_file.with_name("漢.json"))
    process = started("check", str(path), env=os.environ | {"PYTHONIOENCODING": "latin-1"})
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said.endswith(b"\\u6f22.json: ok: a preset\n")


# The engine, through the shell.


def frame_json(*arguments: str) -> dict[str, Any]:
    result = run("frame", *arguments, "--json", "-")
    assert result.exit_code == 0, result.stderr
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def test_a_frame_as_json_has_the_documented_keys() -> None:
    frame = frame_json("opsd-collapse", *SMALL)
    assert set(frame) >= {
        "schema_version",
        "config",
        "seed",
        "step",
        "draw",
        "sites",
        "update",
        "measures",
        "plane",
        "verdict",
    }
    keys = "text prefix sequence position x y norm signal share student_p teacher_p kl clipped"
    assert all(set(site) >= set(keys.split()) for site in frame["sites"])
    keys = "x y norm step_size kl_predicted kl_measured safe_radius ratio reward_cosine"
    assert set(frame["update"]) >= set(keys.split())
    assert set(frame["measures"]) == {"density", "bias", "concentration", "spread", "mean_norm"}
    assert set(frame["plane"]) >= {"basis", "captured_share"}


def test_the_json_is_the_same_bytes_in_another_process_and_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "frame.json"
    arguments = ("frame", "rl-noise-cancels", *SMALL, "--draw", "3", "--step", "1", "--json")
    first = run(*arguments, "-")
    assert first.exit_code == 0, first.stderr
    other, _ = started(*arguments, "-").communicate(timeout=120)
    assert other == first.stdout_bytes
    assert run(*arguments, str(path)).stdout == ""
    assert path.read_bytes() == other


def test_a_frame_is_of_the_moment_and_the_settings_asked_for(preset_file: Path) -> None:
    frame = frame_json(str(preset_file), *SMALL, "--draw", "2", "--step", "1", "--set", "lambda=0.5")
    assert (frame["draw"], frame["step"]) == (2, 1)
    wanted = override(builtin("opsd-collapse").config, ["source.prompts=2", "source.group_size=4", "lambda=0.5"])
    assert frame["config"] == wanted.model_dump(mode="json")


def test_a_session_opens_at_its_moment_and_what_is_asked_for_comes_on_top(session: Path) -> None:
    left, drawn, on = (frame_json(str(session), *more) for more in ((), ("--draw", "5"), ("--step", "1")))
    assert [(each["step"], each["draw"]) for each in (left, drawn, on)] == [(1, 2), (1, 5), (2, 0)]
    assert {each["config"]["source"]["prompts"] for each in (left, drawn, on)} == {2}


def test_without_json_a_frame_is_a_short_table() -> None:
    result = run("frame", "opsd-collapse", *SMALL)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) < 40
    assert lines[0] == builtin("opsd-collapse").title
    assert any(line.startswith("verdict: ") for line in lines)
    assert any(line.startswith("update / safe radius") for line in lines)
    assert "nan" not in result.stdout


@pytest.fixture
def few_rollouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluations of 8 rollouts, so that a run of a few steps is quick."""
    monkeypatch.setattr(trained, "evaluate", lambda model, params, start: evaluate(model, params, start, 8))


@pytest.mark.usefixtures("few_rollouts")
def test_training_writes_a_json_line_a_record_and_shows_progress_on_stderr(tmp_path: Path) -> None:
    result = run("train", "opd-same-family", *SMALL, "--steps", "4", "--every", "2", "--json", "-")
    assert result.exit_code == 0, result.stderr
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["step"] for record in records][-2:] == [2, 4]
    assert all(set(record["kept_skills"]) == {"facts", "copying"} for record in records)
    assert "training" in result.stderr
    path = tmp_path / "run.jsonl"
    assert run("train", "opd-same-family", *SMALL, "--steps", "4", "--every", "2", "--json", str(path)).exit_code == 0
    assert path.read_bytes() == result.stdout_bytes


@pytest.mark.usefixtures("few_rollouts")
def test_without_json_training_is_a_table() -> None:
    result = run("train", "opd-same-family", *SMALL, "--steps", "1", "--collapse", "0.25")
    assert result.exit_code == 0, result.stderr
    rule, header, *rows = result.stdout.splitlines()
    assert rule == rule_in_words(0.25)
    assert header.split()[:2] == ["step", "accuracy"]
    assert [row.split()[0] for row in rows] == ["0", "1"]
    assert all(len(row) <= 110 for row in rows)


@pytest.mark.usefixtures("few_rollouts")
@pytest.mark.parametrize("name", names())
def test_every_preset_can_be_trained(name: str) -> None:
    result = run("train", name, *SMALL, "--steps", "1", "--fast", "--json", "-")
    assert result.exit_code == 0, result.stderr
    first, last = [json.loads(line) for line in result.stdout.splitlines()]
    assert (first["step"], last["step"]) == (0, 1)
    assert (first["kl_from_start"], first["update_ratio"], first["verdict"]) == (0, None, "")


@pytest.mark.usefixtures("few_rollouts")
def test_phases_follow_each_other_and_the_settings_asked_for_are_the_firsts() -> None:
    arguments = ("train", "sft-fan", *SMALL, "--steps", "1", "--fast", "--json", "-", "--then", "rl-small-batch:1")
    result = run(*arguments, "--then", "opd-same-family:1", "--every", "3")
    assert result.exit_code == 0, result.stderr
    found = [json.loads(line) for line in result.stdout.splitlines()]
    first = override(builtin("sft-fan").config, ["source.prompts=2", "source.group_size=4"])
    then = [trained.Phase(builtin(name).config, 1) for name in ("rl-small-batch", "opd-same-family")]
    assert found == [
        record.to_json() for record in trained.train(cli.simulator(), first, 1, 3, then=then, measures=False)
    ]


@pytest.mark.usefixtures("few_rollouts")
def test_a_run_may_stop_where_it_meets_the_rule() -> None:
    wild = (
        "train",
        "sft-foreign-style",
        *SMALL,
        "--set",
        "update.step_size=100",
        "--steps",
        "9",
        "--fast",
        "--json",
        "-",
    )
    ended = [json.loads(line)["collapsed"] for line in run(*wild, "--stop").stdout.splitlines()]
    assert ended == [False, True]
    never = run(*wild[:-3], "--steps", "2", "--fast", "--json", "-", "--stop", "--collapse", "0")
    assert [json.loads(line)["collapsed"] for line in never.stdout.splitlines()] == [False] * 3


@pytest.mark.usefixtures("few_rollouts")
@pytest.mark.parametrize("more", [[], ["--set", "update.optimiser=adam", "--set", "update.step_size=0.0003"]])
def test_a_resumed_run_gives_the_bytes_of_one_that_was_never_interrupted(
    more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, path = tmp_path / "whole.jsonl", tmp_path / "run.jsonl"
    arguments = ("train", "opd-same-family", *SMALL, *more, "--steps", "4", "--every", "2", "--json")
    assert run(*arguments, str(whole)).exit_code == 0
    assert sorted(tmp_path.iterdir()) == [whole]

    def interrupted(*given: Any) -> Any:
        # At the evaluation of step 4: the checkpoint is that of step 2.
        if len(path.read_bytes().splitlines()) == 2:
            raise KeyboardInterrupt
        return evaluate(*given, 8)

    with monkeypatch.context() as patch:
        patch.setattr(trained, "evaluate", interrupted)
        result = run(*arguments, str(path))
    assert result.exit_code == 130
    said = [line for line in result.stderr.splitlines() if line][-2:]
    assert said == ["kept up to step 2 of 4; the same command with --resume goes on", "interrupted"]
    assert path.read_bytes() == b"".join(whole.read_bytes().splitlines(keepends=True)[:2])
    with path.open("ab") as file:
        file.write(b'{"step": 4, "task_acc')  # what a process that was killed may leave
    other = run(*arguments, str(path), "--resume", "--every", "1")
    assert errors(other) == [
        "checkpoint: every: the run was begun with 2, got 1; ask for the same, or begin the run anew"
    ]
    assert run(*arguments, str(path), "--resume").exit_code == 0
    assert path.read_bytes() == whole.read_bytes()
    assert sorted(tmp_path.iterdir()) == [path, whole]
    done = run(*arguments, str(path), "--resume")
    assert done.exit_code == 2
    assert "the run is complete, or was never begun" in errors(done)[0]
    assert path.read_bytes() == whole.read_bytes()


def test_a_file_that_is_in_the_way_of_a_checkpoint_is_refused_before_any_work(tmp_path: Path) -> None:
    target, taken = tmp_path / "run.jsonl", tmp_path / "run.jsonl.checkpoint"
    target.write_text("earlier records")
    taken.write_text("somebody's")
    result = run("train", "sft-fan", *SMALL, "--steps", "1", "--json", str(target))
    assert result.exit_code == 2
    assert errors(result) == [f"{taken}: is not a checkpoint, which would be written there; move it away"]
    assert (target.read_text(), taken.read_text()) == ("earlier records", "somebody's")


def test_a_run_into_what_is_no_file_leaves_no_checkpoint() -> None:
    from sim.cli_train import _beside

    assert _beside(None) is _beside("-") is _beside(os.devnull) is None


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_training_keeps_the_lines_it_wrote(how: signal.Signals) -> None:
    def heed() -> None:
        # A shell that started the tests in its background has SIGINT ignored, and children inherit that.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with started("train", "opd-same-family", *SMALL, "--steps", "1000", "--json", "-", preexec_fn=heed) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(how)
        try:
            rest, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130
    assert all(json.loads(line) for line in (first + rest).splitlines())
    assert said.decode().splitlines()[-1] == "interrupted"
    assert b"Traceback" not in said
