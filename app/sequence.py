"""Frames that follow one another along draws or steps, measured for a film or a recording of them."""

from collections.abc import Callable

from sim.errors import Cancelled
from sim.frame import Frame
from sim.timeline import Along, Moment

#: Gives the complete frame of a moment; is told how many are done, and of how many; says whether to stop.
Measure = Callable[[Moment], Frame]
Progress = Callable[[int, int], None]
Stopped = Callable[[], bool]


def measured(
    start: Moment, count: int, along: Along, measure: Measure, progress: Progress, cancelled: Stopped
) -> list[Frame]:
    """The frames of a moment and of those that follow it.

    Args:
        start: the first frame's moment.
        count: how many frames.
        along: what follows what.
        measure: gives the complete frame of a moment.
        progress: told how many frames are done, and of how many.
        cancelled: asked before each frame.

    Raises:
        Cancelled: if `cancelled` says so.
    """
    frames, moment = list[Frame](), start
    while len(frames) < count:
        if cancelled():
            raise Cancelled(f"measuring: stopped after {len(frames)} of {count} frames")
        frames.append(measure(moment))
        progress(len(frames), count)
        moment = moment.following(along)
    return frames
