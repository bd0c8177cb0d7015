"""What several commands take, a preset with settings and a file for JSON, and the simulator that they compute with."""

from typing import TYPE_CHECKING, Annotated

import typer

from sim.errors import InvalidInput
from sim.shell import progress, whole

if TYPE_CHECKING:
    from sim.config import Config
    from sim.link import Link
    from sim.presets import Preset
    from sim.simulator import Simulator
    from sim.timeline import Moment

#: That of sim.session_file, which takes a while to load: a file that is written carries a link to its moment.
MAX_DRAW = 1_000_000_000
MAX_STEPS = 10_000

PresetName = Annotated[
    str, typer.Argument(help="A preset's name, or a file: a preset, a session or an export.", show_default=False)
]
MaybePreset = Annotated[
    str | None,
    typer.Argument(help="A preset's name, or a file as `check` takes it; none with --link.", show_default=False),
]
Address = Annotated[
    str | None, typer.Option("--link", metavar="URL", help="A link from the page, in place of a preset's name.")
]
DrawNumber = Annotated[
    int | None,
    typer.Option("--draw", parser=whole(0, MAX_DRAW), metavar="N", help="Number of the batch; 0, or the link's."),
]
StepCount = Annotated[
    int, typer.Option("--step", parser=whole(0, MAX_STEPS), metavar="N", help="Updates taken before, each from draw 0.")
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace a setting, as in clip.on=true or lambda=0.5; repeatable."),
]
Target = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write JSON to a file, or to standard output with -.")
]


def configured(preset: str, assignments: list[str] | None) -> "tuple[Preset, Config]":
    """The preset of a name or in a file, and the settings that it is left with, some replaced by `assignments`."""
    from sim.opening import load_file
    from sim.presets import override

    found = load_file(preset)
    return found.preset, override(found.moment.config, assignments or [])


def placed(
    preset: str | None, address: str | None, assignments: list[str] | None, draw: int | None, steps: int
) -> "Link":
    """The moment that a command is given: a preset's or a link's, with settings replaced and steps taken on top.

    Raises:
        InvalidInput: unless there is either a preset or a link, with nothing wrong in it.
    """
    from sim.library import place
    from sim.link import parse_link
    from sim.opening import load_file

    if (preset is None) == (address is None):
        came = "both a preset and --link" if preset is not None else "neither a preset nor --link"
        raise InvalidInput([f"PRESET: got {came}, allowed is one; name a preset, or give a link in quotes"])
    if address is not None:
        link, problems = parse_link(address)
        if problems:
            raise InvalidInput([f"--link: {problem}" for problem in problems])
    else:
        assert preset is not None
        link = load_file(preset)
    return place(link, *(assignments or []), step=steps, draw=draw)


def arrive(engine: "Simulator", moment: "Moment") -> None:
    """Take the steps that lead to a moment, with a progress bar."""
    if steps := moment.path.steps:
        with progress(len(steps), "steps", "step") as bar:
            for each in steps:
                engine.state(each)
                bar.update()


def simulator() -> "Simulator":
    """A simulator of the shipped world that gives the same bytes in each process."""
    from sim.simulator import Simulator, use_one_thread
    from sim.world import World

    # More threads would add in another order, and the same command has to give the same bytes.
    use_one_thread()
    return Simulator(World.load())
