"""What plays: two clocks, draw and step, and the ways back, whether of one picture or of several together."""

from collections.abc import Callable
from typing import Any, Protocol

from sim.frame import Frame


class Playable(Protocol):
    """Anything that the player and the keys can move through time; `param` tells when frame, playing, speed change."""

    frame: Frame | None
    playing: bool
    speed: Any
    param: Any

    def draw(self) -> None:
        """Another batch at the same parameters."""

    def step(self) -> None:
        """Take the update that is on show."""

    def back(self) -> None:
        """Return to the event before this one."""

    def first(self) -> None:
        """Return to where this began."""

    def newest(self) -> None:
        """Return to the last thing that was done."""

    def play(self) -> None:
        """Draw batch after batch, until paused."""

    def pause(self) -> None:
        """Stop drawing."""

    def reset(self) -> None:
        """Begin anew, with the settings that this began with."""


def acts(target: Playable) -> dict[str, Callable[[], None]]:
    """Everything that moves a target through time, by the name that buttons and keys have for it."""
    return {
        "first": target.first,
        "back": target.back,
        "play": lambda: target.pause() if target.playing else target.play(),
        "draw": target.draw,
        "step": target.step,
        "newest": target.newest,
        "reset": target.reset,
    }
