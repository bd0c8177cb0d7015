"""A recording as the bytes that the page in the file draws: rows of all arrows, and what is said of each frame."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app import marks, picture
from app.lesson.columns import Kind, Packing
from app.lesson.recording import Recording
from app.picture import Columns, Radius
from app.session import PACE
from app.views.caption import caption
from app.views.gauges import gauges
from app.views.status import brief, summary
from sim.frame import Frame

_WORDS = ("token", "raised", "before", "held")
_NUMBERS = ("student", "teacher", "raised_student", "raised_teacher", "signal", "share", "norm")
#: Rows of arrows, of the former tips of clipped ones, and of rings.
_COLUMNS: dict[str, Kind] = {
    "site": "places", **dict.fromkeys(_WORDS, "places"), **dict.fromkeys(_NUMBERS, "digits"),
    **dict.fromkeys(("x", "y", "whole", "alpha", "width"), "floats"),
    **dict.fromkeys(("x0", "y0", "x1", "y1"), "floats"), "ring_x": "floats", "ring_y": "floats",
}  # fmt: skip


def reach(recording: Recording, radius: Radius) -> float:
    """How far the picture reaches: as for the first frame, and for all of the update and the ring in every other."""
    first = max(marks.reach(frame, radius) for frame in recording.pairs[0])
    return max(first, *(marks.must_reach(frame, radius) for frame in recording.frames))


def packed(recording: Recording, radius: Radius, half: float) -> bytes:
    """The recording, deflated; a picture reaches to `half`."""
    return _Clouds(radius, half).packed(recording)


class _Clouds:
    """The pictures of a recording, as they are added to what is packed."""

    def __init__(self, radius: Radius, half: float) -> None:
        self._radius, self._half = radius, half
        self._packing = Packing(_COLUMNS)
        self._rings: dict[bytes, int] = {}
        self._batches: dict[tuple[str, ...], int] = {}

    def packed(self, recording: Recording) -> bytes:
        clouds, places = list[dict[str, Any]](), list[list[int]]()
        tracks = list(zip(*recording.pairs, strict=True))
        for k, pair in enumerate(recording.pairs):
            places.append([])
            for clipped, frame in enumerate(pair):
                if clipped and recording.idle:
                    places[-1] *= 2
                    continue
                places[-1].append(len(clouds))
                clouds.append(self._cloud(frame, marks.tips(tracks[clipped][:k], frame)))
        head = {
            "missing": picture.MISSING, "named": picture.NAMED, "pace": PACE, "idle": recording.idle,
            "scale": _plain(marks.scale(self._radius, self._half)), "rings": len(self._rings),
            "frames": [
                {"step": pair[0].step, "draw": pair[0].draw, "clouds": place}
                for pair, place in zip(recording.pairs, places, strict=True)
            ],
            "clouds": clouds,
        }  # fmt: skip
        return self._packing.packed(head)

    def _cloud(self, frame: Frame, tips: Sequence[tuple[float, float]]) -> dict[str, Any]:
        radius, kind = self._radius, self._radius.kind
        arrows, former = picture.arrows(frame, radius), picture.unclipped(frame, radius)
        self._packing.add(
            site=arrows["site"],
            whole=np.hypot(arrows["whole_x"], arrows["whole_y"]),
            **{name: self._packing.words(arrows[name]) for name in _WORDS},
            **{name: arrows[name] for name in (*_NUMBERS, "x", "y", "alpha", "width")},
            **former,
        )
        return {
            "batch": self._batches.setdefault(frame.sites.prefix, len(self._batches)),
            "arrows": len(arrows["x"]), "former": len(former["x0"]), "ring": self._ring(frame),
            "update": _plain(marks.update(frame, radius)), "whole": _plain(marks.whole(frame, radius)),
            "trail": _plain(marks.trail(frame, radius, tips)), "noted": _plain(marks.noted(frame, radius)),
            "head": marks.head(frame, radius, self._half), "trace": marks.is_trace(frame),
            "gauges": gauges(frame), "verdict": frame.verdict.word,
            "captions": [caption(frame, kind, bool(tips), picked) for picked in (False, True)],
            "summary": summary(frame), "brief": brief(frame),
        }  # fmt: skip

    def _ring(self, frame: Frame) -> int:
        """The place of a frame's ring among those that are told apart."""
        ring = marks.ring(frame, self._radius)
        known = len(self._rings)
        place = self._rings.setdefault(ring["x"].tobytes() + ring["y"].tobytes(), known)
        if place == known:
            self._packing.add(ring_x=ring["x"], ring_y=ring["y"])
        return place


def _plain(columns: Columns) -> dict[str, list[Any]]:
    """Columns as JSON, numbers with six significant digits."""
    return {
        name: [each if isinstance(each, str) else float(f"{float(each):.6g}") for each in values]
        for name, values in columns.items()
    }
