"""A lesson as one file that plays without a server, made from a shell."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from sim.options import Address, Assignments, DrawNumber, MaybePreset, StepCount, arrive, placed, simulator
from sim.shell import check_target, interruptible, opened, progress, whole

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

    with progress(2 * frames, "measuring", "frame") as bar, interruptible() as cancel:
        text = export_lesson(
            link, frames, lambda moment: engine.frame(moment, cancel=cancel), lambda *_: bar.update(), cancel, along
        )
    data = text.encode()
    write(target, data)
    typer.echo(f"{target}: {frames} frames, {len(data) / 1e6:.1f} MB", err=True)


def write(target: str, data: bytes) -> None:
    """Write a file as a whole or not at all; ``-`` is standard output."""
    if target == "-":
        with opened("--output", target) as file:
            file.write(data)
        return
    path = Path(target)
    # What a link leads to is written, and the link stays.
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a device or a pipe, which nothing may take the place of
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
