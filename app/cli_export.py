"""A lesson as one file that plays without a server, made from a shell."""

from typing import Annotated, Literal

import typer

from sim.options import Address, Assignments, DrawNumber, MaybePreset, StepCount, arrive, placed, simulator
from sim.shell import check_target, interruptible, progress, replaced, whole

#: Frames that a recording may have: of two thousand arrows each, so many make a file that can be opened again.
MOST = 120


def register(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command()(export)


def export(
    target: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="The HTML file to write, or standard output with -."),
    ],
    preset: MaybePreset = None,
    address: Address = None,
    frames: Annotated[
        int, typer.Option(parser=whole(1, MOST), metavar="N", help="How many, with the clip off and with it on.")
    ] = 12,
    along: Annotated[
        Literal["draws", "steps"],
        typer.Option(help="Batch after batch at the same parameters, or a run of steps that are taken."),
    ] = "draws",
    draw: DrawNumber = None,
    step: StepCount = 0,
    assignments: Assignments = None,
) -> None:
    """Record frames into one HTML file that plays without a server and without a network."""
    link = placed(preset, address, assignments, draw, step)
    check_target("--output", target)
    engine = simulator()
    arrive(engine, link.moment)
    from app.lesson.export import export_lesson

    with progress(2 * frames, "measuring with the clip off and on", "frame") as bar, interruptible() as cancel:
        text = export_lesson(
            link, frames, lambda moment: engine.frame(moment, cancel=cancel), lambda *_: bar.update(), cancel, along
        )
    data = text.encode()
    replaced("--output", target, data)
    typer.echo(f"{target}: {frames} frame{'s' * (frames != 1)}, {len(data) / 1e6:.1f} MB", err=True)
