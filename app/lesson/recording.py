"""What a recording holds: frames of one sequence, each with the clip off and with the clip on."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from app.sequence import Measure, Progress, Stopped
from sim.config import Config
from sim.errors import Cancelled
from sim.frame import Frame
from sim.timeline import Along, Moment


@dataclass(frozen=True)
class Recording:
    """Frames in their order, each as a pair: the clip off, the clip on.

    Where the clip changes nothing of any frame, `idle`, both of a pair are the frame of the settings as they are.
    """

    along: Along
    pairs: tuple[tuple[Frame, Frame], ...]
    idle: bool

    @property
    def frames(self) -> Iterator[Frame]:
        """All frames, those with the clip off first, each sequence in its order."""
        for clipped in (0, 1):
            yield from (pair[clipped] for pair in self.pairs)


def recorded(
    start: Moment,
    count: int,
    measure: Measure,
    along: Along = "draws",
    progress: Progress = lambda _done, _total: None,
    cancelled: Stopped = lambda: False,
) -> Recording:
    """Measure a recording that begins at a moment.

    Along draws, frame k is batch `start.draw` + k at the same parameters, and the clip changes its weights only. Along
    steps, each frame takes the update of the one before it, and the two sequences are runs of their own: one never
    clipped, one always.

    Args:
        start: the first frame's moment.
        count: how many frames.
        measure: gives the complete frame of a moment.
        along: what follows what.
        progress: told how many frames are done, and of how many.
        cancelled: asked before each frame.

    Raises:
        Cancelled: if `cancelled` says so.
    """
    tracks = [start.with_config(_clipped(start, on)) for on in (False, True)]
    done, pairs = 0, []
    for _ in range(count):
        pair = []
        for moment in tracks:
            if cancelled():
                raise Cancelled(f"recording: stopped before frame {done + 1} of {2 * count}")
            pair.append(measure(moment))
            done += 1
            progress(done, 2 * count)
        pairs.append((pair[0], pair[1]))
        tracks = [moment.following(along) for moment in tracks]
    idle = all(_alike(off, on) for off, on in pairs)
    if idle:
        pairs = [(pair[start.config.clip.on],) * 2 for pair in pairs]
    return Recording(along, tuple(pairs), idle)


def _clipped(start: Moment, on: bool) -> Config:
    return start.config.model_copy(update={"clip": start.config.clip.model_copy(update={"on": on})})


def _alike(one: Frame, other: Frame) -> bool:
    """Whether two frames differ in nothing but what their settings say of the clip."""
    same = all(np.array_equal(getattr(one.sites, name), getattr(other.sites, name)) for name in ("x", "y"))
    return same and one.update == other.update and one.verdict == other.verdict
