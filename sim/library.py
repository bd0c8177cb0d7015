"""The simulator as a library: where a name, a file or a link leads, and the frame there, in one call each."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from sim.errors import InvalidInput
from sim.frame import Frame
from sim.link import Link, parse_link
from sim.opening import load_file
from sim.presets import override
from sim.sentences import shown
from sim.session_file import LARGEST, MAX_STEPS, MAX_WORK

# Torch takes a second to load, and where a name leads is told without it.
if TYPE_CHECKING:
    from sim.simulator import Simulator


@cache
def simulator() -> "Simulator":
    """The simulator of this process, made when it is first asked for."""
    from sim.simulator import Simulator
    from sim.world import World

    return Simulator(World.load())


def place(start: str | Link, *settings: str, step: int = 0, draw: int | None = None) -> Link:
    """The moment that is meant, with the preset that it is a moment of.

    Args:
        start: a preset's name, a file that sim.opening takes, or a link from the page.
        settings: settings to replace, as ``"clip.on=true"`` or ``"lambda=0.5"``.
        step: updates to take from there, the first of the batch that is there, the others each of batch 0.
        draw: number of the batch; by default the link's, or 0.

    Raises:
        InvalidInput: with a line for each problem.
    """
    link = start if isinstance(start, Link) else _found(start)
    if odd := [each for each in settings if type(each) is not str]:
        raise InvalidInput([f'settings: got {shown(odd[0])}, allowed is text such as "clip.on=true"; put it in quotes'])
    moment = link.moment.with_config(override(link.moment.config, settings))
    # As far as a link may lead: what is made of the moment has to open again.
    most = min(MAX_STEPS, MAX_WORK // moment.config.source.rollouts)
    for _ in range(_whole("step", step, max(0, most - moment.step))):
        moment = moment.next_step()
    if draw is not None:
        moment = replace(moment, draw=_whole("draw", draw, LARGEST))
    return link if moment == link.moment else replace(link, moment=moment, kept=None)


def measure(start: str | Link, *settings: str, step: int = 0, draw: int | None = None) -> Frame:
    """The frame of a moment, complete; the arguments are those of `place`.

    Raises:
        InvalidInput: with a line for each problem.
        NonFinite: naming the stage where a number was not finite.
    """
    moment = place(start, *settings, step=step, draw=draw).moment
    with _one_thread():
        return simulator().frame(moment)


def _found(start: str) -> Link:
    if type(start) is not str:
        raise InvalidInput([f"start: got {shown(start)}, allowed is a preset's name, a file or a link, as text"])
    if "preset=" in start or "view=" in start:
        link, problems = parse_link(start)
        if problems:
            raise InvalidInput(problems)
        return link
    return load_file(start)


def _whole(name: str, value: int, most: int) -> int:
    if type(value) is int and 0 <= value <= most:
        return value
    raise InvalidInput([f"{name}: got {shown(value)}, allowed a whole number, 0 to {most}; correct it"])


@contextmanager
def _one_thread() -> Iterator[None]:
    """With torch on one thread: more would add in another order, and the same call has to give the same frame."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
