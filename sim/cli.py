"""The command line: frames, training, presets, weights and the page, from a shell."""

import io
import json
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.cli_weights import weights
from sim.errors import InvalidInput, NonFinite
from sim.shell import Guarded, check_target, interruptible, opened, progress, whole

if TYPE_CHECKING:
    from sim.config import Config
    from sim.presets import Preset
    from sim.simulator import Simulator

MAX_DRAW = 2**31 - 1
MAX_STEPS = 10_000

app = typer.Typer(
    cls=Guarded,
    help="Measured gradient clouds of language-model post-training.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(weights, name="weights")

PresetName = Annotated[str, typer.Argument(help="A preset's name, or a JSON file.", show_default=False)]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace a setting, as in clip.on=true or lambda=0.5; repeatable."),
]
Target = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write JSON to a file, or to standard output with -.")
]


def main() -> None:
    """Run the command line; what the shell's ``gradcloud`` calls."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A title that the terminal's encoding lacks is shown escaped rather than not at all.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="gradcloud")
    except KeyboardInterrupt:
        sys.exit(130)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"gradcloud {version('gradcloud')}")
        except PackageNotFoundError:
            typer.echo("gradcloud, from a folder that is not installed")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    del version


@app.command()
def frame(
    preset: PresetName,
    draw: Annotated[
        int, typer.Option(parser=whole(0, MAX_DRAW), metavar="N", help="Number of the batch at that step.")
    ] = 0,
    step: Annotated[
        int, typer.Option(parser=whole(0, MAX_STEPS), metavar="N", help="Updates taken before, each from draw 0.")
    ] = 0,
    assignments: Assignments = None,
    target: Target = None,
) -> None:
    """Measure one frame and show its readings and its verdict."""
    loaded, config = _configured(preset, assignments)
    if target is not None:
        check_target("--json", target)
    from sim.timeline import Moment

    simulator, moment = _simulator(), Moment(config)
    if step:
        with progress(step, "steps", "step") as bar:
            for _ in range(step):
                moment = moment.next_step()
                simulator.state(moment.path)
                bar.update()
    measured = simulator.frame(replace(moment, draw=draw))
    if target is None:
        from sim.report import frame_report

        typer.echo(frame_report(measured, loaded.title))
    else:
        with opened("--json", target) as file:
            file.write(measured.dumps().encode())


@app.command()
def train(
    preset: PresetName,
    steps: Annotated[int, typer.Option(parser=whole(1, MAX_STEPS), metavar="N", help="Updates to take.")],
    every: Annotated[
        int, typer.Option(parser=whole(1, MAX_STEPS), metavar="K", help="Updates between two records.")
    ] = 1,
    assignments: Assignments = None,
    target: Target = None,
) -> None:
    """Really take steps and record what becomes of the model.

    Each record has accuracy, entropy, KL from the start, kept skills, update ratio and verdict.
    """
    _, config = _configured(preset, assignments)
    if every > steps:
        raise InvalidInput([f"--every: got {every}, allowed 1 to {steps}, which is --steps"])
    if target is not None:
        check_target("--json", target)
    from sim.report import record_header, record_row
    from sim.train import train as records

    simulator = _simulator()
    with opened("--json", target or "-") as file, progress(steps, "training", "step") as bar:

        def write(line: str) -> None:
            with bar.external_write_mode(file=sys.stdout):
                file.write(f"{line}\n".encode())
                file.flush()

        if target is None:
            write(record_header())
        with interruptible() as cancel:
            for record in records(simulator, config, steps, every, lambda done: bar.update(done - bar.n), cancel):
                value = record.to_json()
                write(record_row(value) if target is None else _json_line(value))


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Preset files, or presets' names.")],
) -> None:
    """Check preset files; exit status 2 if one is bad."""
    from sim.presets import load_preset

    problems = []
    for file in files:
        try:
            load_preset(file)
        except InvalidInput as error:
            problems += [line if line.startswith(f"{file}: ") else f"{file}: {line}" for line in error.problems]
        else:
            typer.echo(f"{file}: ok")
    if problems:
        raise InvalidInput(problems)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a preset file."""
    from sim.presets import json_schema

    typer.echo(json.dumps(json_schema(), indent=2))


@app.command()
def presets() -> None:
    """List the presets that come with the program."""
    from sim.presets import builtin, names

    width = max(map(len, names()), default=0)
    for name in names():
        typer.echo(f"{name:{width}}  {builtin(name).title}")


@app.command()
def serve(
    port: Annotated[int, typer.Option(parser=whole(1, 65535), metavar="N", help="Port to listen on.")] = 5006,
    address: Annotated[str, typer.Option(help="Address to listen on.")] = "localhost",
    origin: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST[:PORT]", help="Host name under which browsers may reach it; repeatable."),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Open the page in a browser.")] = False,
) -> None:
    """Serve the page; Ctrl-C stops it."""
    import sysconfig

    from sim.resources import app as app_folder

    folder = app_folder()
    listening = f"[{address}]" if ":" in address else address
    hosts = dict.fromkeys([f"localhost:{port}", f"127.0.0.1:{port}", f"{listening}:{port}", *(origin or [])])
    # -P: a file called app.py or sim.py where the user stands is not what is meant.
    command = [sys.executable, "-P", "-m", "panel", "serve", str(folder), f"--port={port}", f"--address={address}"]
    command += [f"--allow-websocket-origin={host}" for host in hosts]
    if str(folder.parent) != sysconfig.get_path("purelib"):
        known = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = f"{known}{os.pathsep}{folder.parent}" if known else str(folder.parent)
    # Replaces this process, so that signals reach the server itself.
    os.execv(sys.executable, command + ["--show"] * show)


def _configured(preset: str, assignments: list[str] | None) -> "tuple[Preset, Config]":
    from sim.presets import load_preset, override

    loaded = load_preset(preset)
    return loaded, override(loaded.config, assignments or [])


def _json_line(record: dict[str, Any]) -> str:
    try:
        return json.dumps(record, allow_nan=False, ensure_ascii=False)
    except ValueError:
        raise NonFinite(
            f"record of step {record['step']}: a number is not finite; take smaller steps, or fewer"
        ) from None


def _simulator() -> "Simulator":
    from sim.simulator import Simulator, use_one_thread
    from sim.world import World

    # More threads would add in another order, and the same command has to give the same bytes.
    use_one_thread()
    return Simulator(World.load())


if __name__ == "__main__":
    main()
