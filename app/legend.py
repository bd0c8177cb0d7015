"""What a picture says of itself in words: its axes, its marks, how much is drawn and how much the plane holds."""

from collections.abc import Callable, Mapping

from app import marks, picture
from app.numbers import percent
from sim.frame import PENDING, Frame, Reading, Undetermined

AXES = {
    "checkpoint": ("reward grows →", "what else the methods share ↑"),
    "components": ("first component →", "second ↑"),
    "random": ("a random direction →", "another ↑"),
}
#: What each mark stands for, by its name, in the order of the key.
MARKS: Mapping[str, str] = {
    "cloud": "one token's own step",
    "unclipped": "its tip before the clip",
    "picked": "whole length of the arrow picked out",
    "update": "the averaged update",
    "trace": "the little of the update that this plane holds",
    "whole": "its whole length, not only what the plane holds",
    "trail": "where it ended in the last draws; older, fainter",
    "ring": "the safe radius",
}


def keyed(clipped: bool, *, trail: bool = False, trace: bool = False, picked: bool = False) -> list[str]:
    """The names of the marks that the key explains; of some, only where they are drawn."""
    drawn = {"unclipped": clipped, "trail": trail, "trace": trace, "update": not trace, "picked": picked}
    return [name for name in MARKS if drawn.get(name, True)]


def lengths(radius: str, counted_in: str = "safe radii") -> str:
    """What the numbers on the scale's circles count, and how lengths are drawn."""
    return f"circles in {counted_in}, drawn {'logarithmically' if radius == 'log' else 'in proportion'}"


def count(frame: Frame) -> list[str]:
    """How many of the sites' arrows and of their former tips are drawn, a line each."""
    total, drawn = len(frame.sites.text), len(picture.order(frame))
    still = int(((frame.sites.x == 0) & (frame.sites.y == 0)).sum())
    if still == total:
        return [f"no arrow: all {total:,} are exactly zero"]
    lines = [f"{drawn:,} of {total:,} arrows shown"]
    if still:
        lines[0] += f"; {still:,} are exactly zero"
    moved = len(picture.moved(frame))
    if moved > picture.MOST_UNCLIPPED:
        lines.append(f"{picture.MOST_UNCLIPPED} of {moved:,} former tips shown")
    return lines


def written(value: Reading) -> str:
    """A share as plain text."""
    return "…" if value is PENDING else "–" if isinstance(value, Undetermined) else percent(value)


def held(frame: Frame, share: Callable[[Reading], str] = written, why: Callable[[str], str] = str) -> list[str]:
    """What the plane holds of arrows and update, in lines, with the reason where that cannot be said.

    Args:
        frame: what is drawn.
        share: writes a share.
        why: writes a reason.
    """
    arrows, update = frame.plane.captured_share, frame.plane.update_share
    only = ", and its arrow shows only that" if marks.is_trace(frame) else ""
    if isinstance(arrows, Undetermined) and arrows is not PENDING:
        if isinstance(update, Undetermined):
            return [f"what this plane holds is undetermined: {why(arrows.reason)}"]
        return [
            f"this plane holds {share(update)} of the update{only}; "
            f"what it holds of the arrows is undetermined: {why(arrows.reason)}"
        ]
    return [f"this plane holds {share(arrows)} of the arrows ", f"and {share(update)} of the update{only}"]
