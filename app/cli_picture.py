"""A frame as a picture, a film or a table of numbers, made from a shell."""

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sim.errors import InvalidInput
from sim.options import Address, Assignments, DrawNumber, MaybePreset, StepCount, arrive, placed, simulator
from sim.sentences import either, shown
from sim.shell import check_target, interruptible, progress, replaced, whole

if TYPE_CHECKING:
    from sim.frame import Frame
    from sim.link import Link
    from sim.simulator import Simulator
    from sim.timeline import Moment

#: That of sim.timeline, which takes a while to load.
Along = Literal["draws", "steps"]
Given = Mapping[str, Any]

#: The endings of files that are drawn once, that move, and that hold numbers.
FILMS, NUMBERS = ("gif", "mp4", "webm"), ("csv", "json", "parquet")
KINDS = ("png", "svg", "pdf", *FILMS, *NUMBERS)


def register(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command()(picture)


def picture(
    target: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE",
            help=f"The file to write; its ending says what: {either(KINDS)}.",
        ),
    ],
    preset: MaybePreset = None,
    address: Address = None,
    draw: DrawNumber = None,
    step: StepCount = 0,
    assignments: Assignments = None,
    theme: Annotated[
        Literal["light", "dark", "projector"] | None, typer.Option(help="Its colours; light, or the link's.")
    ] = None,
    scale: Annotated[
        Literal["log", "linear"] | None, typer.Option(help="How it draws lengths; log, or the link's.")
    ] = None,
    times: Annotated[
        int | None,
        typer.Option(parser=whole(1, 4), metavar="N", help="How many times 1280 x 720 pixels it has; 1."),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="The plane alone, 720 x 720.")] = False,
    frames: Annotated[
        int | None, typer.Option(parser=whole(1, 300), metavar="N", help="How many frames a film has; 12.")
    ] = None,
    along: Annotated[
        Along | None, typer.Option(help="A film's frames: batch after batch, or a run of steps that are taken; draws.")
    ] = None,
    fps: Annotated[
        int | None, typer.Option(parser=whole(1, 30), metavar="N", help="Frames of a film in a second; 2.")
    ] = None,
) -> None:  # fmt: skip
    """Draw one frame, film several, or write a frame's numbers, with all settings inside the file."""
    link = looked(placed(preset, address, assignments, draw, step), theme, scale)
    kind = kind_of(target)
    drawn = {"--theme": theme, "--scale": scale, "--plain": plain or None}
    check_given(kind, drawn, {"--times": times}, {"--frames": frames, "--along": along, "--fps": fps})
    check_target("--output", target, stdout=False)
    engine = simulator()
    arrive(engine, link.moment)
    with interruptible() as cancel:
        if kind in FILMS:
            shot = _shot(engine, link.moment, frames or 12, along or "draws", cancel)
            data = _film(shot, link, kind, fps or 2, times or 1, plain, cancel)
        else:
            frame = engine.frame(link.moment, cancel=cancel)
            if kind in NUMBERS:
                from sim.columns import columns_file

                data = columns_file(frame, link, kind)
            else:
                from app.still import still

                data = still(frame, link, kind, times or 1, plain=plain)
    replaced("--output", target, data)
    typer.echo(f"{target}: {len(data) / 1e6:.2f} MB", err=True)


def kind_of(target: str) -> str:
    """What a file is to be, by its ending.

    Raises:
        InvalidInput: for another ending, and where what writes this one is not installed.
    """
    kind = PurePath(target).suffix.removeprefix(".").lower()
    if kind not in KINDS:
        raise InvalidInput([f"--output: {shown(target)} ends in none of {either([f'.{each}' for each in KINDS])}"])
    from app.film import film_kinds
    from sim.columns import column_kinds

    if reason := (dict(film_kinds()) | dict(column_kinds())).get(kind):
        raise InvalidInput([f"--output: {reason}"])
    return kind


def check_given(kind: str, drawn: Given, pixels: Given, moving: Given) -> None:
    """Refuse options that a kind of file has no use for: those of what is drawn, of what has pixels, of what moves."""
    pictures = [each for each in KINDS if each not in NUMBERS]
    allowed = ((drawn, pictures), (pixels, ["png", *FILMS]), (moving, FILMS))
    problems = [
        f"{name}: got {shown(value)} for .{kind}, allowed with {either([f'.{each}' for each in kinds])}; leave it out"
        for options, kinds in allowed
        for name, value in options.items()
        if value is not None and kind not in kinds
    ]
    if problems:
        raise InvalidInput(problems)


def looked(link: "Link", theme: str | None, scale: str | None) -> "Link":
    """A link that is looked at in a theme and a scale, where these are given."""
    from dataclasses import replace

    from sim.link import differing_looks

    given = {key: each for key, each in (("theme", theme), ("scale", scale)) if each is not None}
    return replace(link, look=differing_looks({**link.look, **given}))


def _shot(engine: "Simulator", moment: "Moment", count: int, along: Along, cancel: Callable[[], bool]) -> "list[Frame]":
    from app.sequence import measured

    with progress(count, "measuring", "frame") as bar:
        return measured(
            moment, count, along, lambda each: engine.frame(each, cancel=cancel), lambda *_: bar.update(), cancel
        )


def _film(
    frames: "list[Frame]", link: "Link", kind: str, fps: int, times: int, plain: bool, cancel: Callable[[], bool]
) -> bytes:
    from app.film import film

    with progress(len(frames), "drawing", "frame") as bar:
        return film(
            frames, link, kind, fps, scale=times, plain=plain, progress=lambda *_: bar.update(), cancelled=cancel
        )
