"""The command ``gradcloud train``: a run's records as they come, and a checkpoint beside them to resume it from."""

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from sim.errors import InvalidInput, NonFinite
from sim.options import MAX_STEPS, Assignments, PresetName, Target, configured, simulator
from sim.sentences import shown
from sim.shell import check_target, interruptible, opened, progress, share, whole

if TYPE_CHECKING:
    from sim.plan import Phase
    from sim.runs import Checkpoint
    from sim.train import Record

MAX_PHASES = 20


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(train)


def train(
    preset: PresetName,
    steps: Annotated[int, typer.Option(parser=whole(1, MAX_STEPS), metavar="N", help="Updates to take.")],
    every: Annotated[
        int, typer.Option(parser=whole(1, MAX_STEPS), metavar="K", help="Updates between two records.")
    ] = 1,
    assignments: Assignments = None,
    target: Target = None,
    then: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PRESET:STEPS",
            help="Go on with another preset for so many updates; repeatable. --set holds for the first preset only.",
        ),
    ] = None,
    collapse: Annotated[
        float,
        typer.Option(
            parser=share,
            metavar="SHARE",
            help="Call a run collapsed where task accuracy or a kept skill is below this share of the start's.",
        ),
    ] = 0.5,
    stop: Annotated[bool, typer.Option("--stop", help="End the run once it has collapsed.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Measure no update: quicker, and no verdict on steps.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted run; needs its --json FILE and its options.")
    ] = False,
) -> None:
    """Really take steps and record what becomes of the model.

    Each record has accuracy, entropy, KL from the start, kept skills, and of the next update its ratio, density, bias,
    concentration and verdict. With --json FILE, a run that is interrupted leaves FILE.checkpoint, and --resume goes on.
    """
    _, config = configured(preset, assignments)
    phases = _phases(then or [])
    total = steps + sum(phase.steps for phase in phases)
    if every > total:
        raise InvalidInput([f"--every: got {every}, allowed 1 to {total}, the steps of the run"])
    if resume and target in (None, "-"):
        raise InvalidInput(["--resume: got no file, allowed with --json FILE; name the interrupted run's"])
    if target is not None:
        check_target("--json", target)
    from sim.report import record_header, record_row
    from sim.runs import checkpoint_file, discard, load_checkpoint, require_own, save_checkpoint
    from sim.train import rule_in_words
    from sim.train import train as records

    beside = _beside(target)
    if beside is not None and not resume:
        require_own(beside)
    engine = simulator()
    left: Checkpoint | None = None
    if resume and target is not None:
        left = load_checkpoint(checkpoint_file(target), engine.world.policies["base"].params)
    kept = left

    def save(checkpoint: "Checkpoint") -> None:
        nonlocal kept
        if beside is not None:
            save_checkpoint(beside, checkpoint)
            kept = checkpoint

    try:
        with interruptible() as cancel:
            run = records(
                engine,
                config,
                steps,
                every,
                lambda taken: bar.update(taken - bar.n),
                cancel,
                then=phases,
                measures=not fast,
                rule=collapse,
                stop=stop,
                resume=left,
                save=save,
            )
            with _lines(target, left) as file, progress(total, "training", "step", left.step if left else 0) as bar:
                if beside is not None and left is None:
                    discard(beside)

                def write(line: str) -> None:
                    with bar.external_write_mode(file=sys.stdout):
                        file.write(f"{line}\n".encode())
                        file.flush()

                if target is None:
                    write(f"{rule_in_words(collapse)}\n{record_header()}")
                for record in run:
                    write(record_row(record.to_json()) if target is None else _json_line(record))
    except KeyboardInterrupt:
        if kept is not None:
            typer.echo(f"\nkept up to step {kept.step} of {total}; the same command with --resume goes on", err=True)
        raise
    if beside is not None:
        discard(beside)


def _phases(then: Sequence[str]) -> "list[Phase]":
    if len(then) > MAX_PHASES:
        raise InvalidInput([f"--then: got {len(then)}, allowed at most {MAX_PHASES}; leave some out"])
    found = []
    for text in then:
        name, _, steps = text.rpartition(":")
        if not name or not re.fullmatch(r"[0-9]{1,18}", steps) or not 1 <= int(steps) <= MAX_STEPS:
            allowed = f"allowed PRESET:STEPS with 1 to {MAX_STEPS} steps; write it as in sft-fan:50"
            raise InvalidInput([f"--then: got {shown(text)}, {allowed}"])
        _, config = configured(name, None)
        from sim.plan import Phase

        found.append(Phase(config, int(steps)))
    return found


def _beside(target: str | None) -> Path | None:
    """Where the run's checkpoint lies; None where there is no file that records can later be appended to."""
    if target in (None, "-"):
        return None
    from sim.runs import checkpoint_file

    path = Path(target)
    keeps = (path.is_file() or not path.exists()) and os.access(path.parent, os.W_OK)
    return checkpoint_file(path) if keeps else None


@contextmanager
def _lines(target: str | None, left: "Checkpoint | None") -> Iterator[BinaryIO]:
    """Where records go; after those up to the checkpoint for a run that is resumed."""
    if target is None or left is None:
        with opened("--json", target or "-") as file:
            yield file
        return
    from sim.runs import records_length

    length = records_length(Path(target), left)
    with Path(target).open("r+b") as file:
        file.truncate(length)
        file.seek(length)
        yield file


def _json_line(record: "Record") -> str:
    try:
        return json.dumps(record.to_json(), allow_nan=False, ensure_ascii=False)
    except ValueError:
        raise NonFinite(f"record of step {record.step}: a number is not finite; take smaller steps, or fewer") from None
