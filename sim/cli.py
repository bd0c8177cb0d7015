"""The command line of the simulator: frames, training, presets and weights, from a shell."""

import io
import json
import signal
import sys
from typing import Annotated, Literal

import typer

from sim import cli_claims, cli_study, cli_train
from sim.cli_weights import weights
from sim.errors import InvalidInput
from sim.options import (
    Address,
    Assignments,
    DrawNumber,
    MaybePreset,
    StepCount,
    Target,
    arrive,
    placed,
    simulator,
)
from sim.shell import Guarded, check_target, opened

app = typer.Typer(
    cls=Guarded,
    help="Measured gradient clouds of language-model post-training.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(weights, name="weights")


def main() -> None:
    """Run the command line; what the shell's ``gradcloud`` calls."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A title that the terminal's encoding lacks is shown escaped rather than not at all.
        sys.stdout.reconfigure(errors="backslashreplace")
    # Who is told to end, by a scheduler or a shutdown, ends as by Ctrl-C: what was begun is put away.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app(prog_name="gradcloud")
    except KeyboardInterrupt:
        sys.exit(130)


def _version(wanted: bool) -> None:
    if wanted:
        from sim.installed import installed

        found = installed("")
        typer.echo(f"gradcloud {found}" if found else "gradcloud, from a folder that is not installed")
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
    preset: MaybePreset = None,
    address: Address = None,
    draw: DrawNumber = None,
    step: StepCount = 0,
    assignments: Assignments = None,
    target: Target = None,
) -> None:
    """Measure one frame and show its readings and its verdict."""
    link = placed(preset, address, assignments, draw, step)
    if target is not None:
        check_target("--json", target)
    engine = simulator()
    arrive(engine, link.moment)
    measured = engine.frame(link.moment)
    if target is None:
        from sim.report import frame_report

        typer.echo(frame_report(measured, link.preset.title))
    else:
        with opened("--json", target) as file:
            file.write(measured.dumps().encode())


# Here, as help lists commands in the order in which they come.
cli_train.register(app)
cli_study.register(app)
cli_claims.register(app)


@app.command()
def check(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Presets, sessions and exports; - is standard input.")
    ],
) -> None:
    """Check files and say what each is; what is wrong is told with its line, and the exit status is 2."""
    from sim.opening import load_file

    problems = []
    for file in files:
        try:
            found = load_file(file)
        except InvalidInput as error:
            problems += error.problems
        else:
            typer.echo(f"{file}: ok: {found.what}")
    if problems:
        raise InvalidInput(problems)


@app.command()
def schema(
    kind: Annotated[Literal["preset", "session"], typer.Argument(help="Of which file.")] = "preset",
) -> None:
    """Print the JSON Schema of a preset's file or of a session's."""
    from sim import presets, session_file

    made = presets.json_schema() if kind == "preset" else session_file.json_schema()
    typer.echo(json.dumps(made, indent=2))


@app.command()
def presets() -> None:
    """List the presets that come with the program."""
    from sim.presets import builtin, names

    width = max(map(len, names()), default=0)
    for name in names():
        typer.echo(f"{name:{width}}  {builtin(name).title}")


if __name__ == "__main__":
    main()
