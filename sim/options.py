"""What several commands take, a preset with settings and a file for JSON, and the simulator that they compute with."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sim.config import Config
    from sim.presets import Preset
    from sim.simulator import Simulator

MAX_DRAW = 2**31 - 1
MAX_STEPS = 10_000

PresetName = Annotated[str, typer.Argument(help="A preset's name, or a JSON file.", show_default=False)]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace a setting, as in clip.on=true or lambda=0.5; repeatable."),
]
Target = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write JSON to a file, or to standard output with -.")
]


def configured(preset: str, assignments: list[str] | None) -> "tuple[Preset, Config]":
    """The preset of a name or in a file, and its settings with those replaced that `assignments` name."""
    from sim.presets import load_preset, override

    loaded = load_preset(preset)
    return loaded, override(loaded.config, assignments or [])


def simulator() -> "Simulator":
    """A simulator of the shipped world that gives the same bytes in each process."""
    from sim.simulator import Simulator, use_one_thread
    from sim.world import World

    # More threads would add in another order, and the same command has to give the same bytes.
    use_one_thread()
    return Simulator(World.load())
