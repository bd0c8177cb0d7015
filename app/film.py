"""Frames one after another as a picture that moves: an animated GIF, or MP4 and WebM where ffmpeg is there."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from app import marks
from app.encoder import encoded, missing
from app.palette import THEMES
from app.sequence import Progress, Stopped
from app.still import Trail, check, draw, reach
from sim.errors import Cancelled, InvalidInput
from sim.frame import Frame
from sim.link import Link
from sim.record import dumps_record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal["gif", "mp4", "webm"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: Frames that a film may have, and how many of them a second may show.
MOST = 300
FPS = (0.2, 30.0)


def film_kinds() -> Mapping[str, str]:
    """The kinds of film, each with the reason why this machine cannot make it: "" where it can."""
    return {kind: "" if kind == "gif" else missing(kind) for kind in KINDS}


def film(
    frames: Sequence[Frame], link: Link, kind: str, fps: float = 2.0, *, scale: int = 1, plain: bool = False,
    progress: Progress = lambda *_: None, cancelled: Stopped = lambda: False,
) -> bytes:  # fmt: skip
    """Frames as the bytes of a film that carries the record; all are drawn in one scale, and a GIF begins again.

    A draw shows where the updates of the draws before it ended.

    Args:
        frames: what is shown, at most 300.
        link: the moment of the first of them, and how it is looked at.
        kind: gif, mp4 or webm.
        fps: frames a second, 0.2 to 30.
        scale: 1 to 4 times 1280 x 720.
        plain: the plane alone, 720 x 720.
        progress: told how many are done, and of how many.
        cancelled: asked before each whether to stop.

    Raises:
        InvalidInput: for what is not allowed, and where what makes this kind is not installed.
        Cancelled: if `cancelled` says so.
    """
    check(kind, KINDS, scale)
    problems = [f"kind: {reason}, or choose gif"] if (reason := film_kinds()[kind]) else []
    if not 1 <= len(frames) <= MOST:
        problems.append(f"frames: got {len(frames)}, allowed 1 to {MOST}")
    if not FPS[0] <= fps <= FPS[1]:
        problems.append(f"fps: got {json.dumps(fps)}, allowed {FPS[0]:g} to {FPS[1]:g}")
    if problems:
        raise InvalidInput(problems)

    def pictures() -> "Iterator[NDArray[np.uint8]]":
        half = reach(frames, link)
        for done, frame in enumerate(frames):
            if cancelled():
                raise Cancelled(f"the film: stopped after {done} of {len(frames)} frames")
            yield _picture(frame, link, half, scale, plain, marks.tips(frames[:done], frame))
            progress(done + 1, len(frames))

    said = dumps_record(link)
    if kind == "gif":
        from app.gif import animated

        return animated(pictures(), THEMES[link.looked("theme")], fps, said)
    return encoded(pictures(), kind, fps, said)


def _picture(frame: Frame, link: Link, half: float, scale: int, plain: bool, tips: Trail) -> "NDArray[np.uint8]":
    from app.sheet import alone

    with alone():
        return draw(frame, link, half, plain=plain, trail=tips).pixels(scale)
