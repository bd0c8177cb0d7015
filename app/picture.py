"""From a frame to what the plane draws, as columns: pure functions of the frame and of the radius's scale."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.numbers import percent
from sim.frame import Frame, Reading, Undetermined
from sim.projection import held

Columns = dict[str, Any]
Floats = NDArray[np.float64]

#: Arrows that are drawn at most; the strongest are kept.
MOST = 2000
#: Arrows that carry their word.
NAMED = 3
#: Arrows whose length before the clip is drawn too.
MOST_UNCLIPPED = 60
#: Words of the prefix that the hover shows.
CONTEXT = 12
#: Stands for a number that is not known: Bokeh writes a NaN before any formatter sees it.
MISSING = -9e30
#: Safe radii below which the logarithmic radius is linear.
KNEE = 0.01


@dataclass(frozen=True)
class Radius:
    """How lengths are drawn; lengths are in the plane's units, and a length of 1 is drawn as 1.

    linear: r; log: asinh(r / KNEE) / asinh(1 / KNEE). Directions stay as they are.
    """

    kind: str

    def lengths(self, r: Floats) -> Floats:
        """Where lengths are drawn."""
        return r if self.kind == "linear" else np.arcsinh(r / KNEE) / np.arcsinh(1 / KNEE)

    def points(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Where points are drawn: moved along their own direction."""
        r = np.hypot(x, y)
        factor = np.divide(self.lengths(r), r, out=np.ones_like(r), where=r > 0)
        return x * factor, y * factor

    def marks(self, half: float) -> list[float]:
        """Lengths worth a circle on a picture that reaches to `half`."""
        if self.kind == "log":
            return [r for r in 10.0 ** np.arange(-2, 12) if self.lengths(np.array(r)) < half]
        unit = 10.0 ** np.floor(np.log10(half))
        step = next((s for s in (0.2 * unit, 0.5 * unit, unit) if half / s <= 5), 2 * unit)
        return [float(step * k) for k in range(1, 12)]


def order(frame: Frame) -> NDArray[np.int64]:
    """The sites that are drawn, the weakest first so that the strongest lie on top; exact zeros are left out."""
    r = np.hypot(frame.sites.x, frame.sites.y)
    ranked = np.argsort(r, kind="stable")
    return ranked[r[ranked] > 0][-MOST:]


def arrows(frame: Frame, radius: Radius, stroke: float = 1.0) -> Columns:
    """A row for each drawn site: its tip, and what the hover shows; `stroke` widens all of them."""
    sites, kept = frame.sites, order(frame)
    x, y = radius.points(sites.x[kept], sites.y[kept])
    named = np.arange(len(kept)) >= len(kept) - NAMED
    return (
        columns(x, y)
        | {
            "site": kept.astype(np.int32),
            "alpha": np.where(named, 1.0, 0.34).astype(np.float32),
            "width": (np.where(named, 1.6, 1.0) * stroke).astype(np.float32),
            "token": [spoken(sites.text[i]) for i in kept],
            "raised": [spoken(sites.raised[i]) for i in kept],
            "other": ["none" if sites.raised[i] in ("", sites.text[i]) else "table-row" for i in kept],
            "before": [_last(sites.prefix[i]) for i in kept],
            "student": _known(sites.student_p[kept]),
            "teacher": _known(sites.teacher_p[kept]),
            "raised_student": _known(sites.raised_student_p[kept]),
            "raised_teacher": _known(sites.raised_teacher_p[kept]),
            "signal": _known(sites.signal[kept]),
            "share": _known(100 * sites.share[kept]),
            "length": np.hypot(sites.x[kept], sites.y[kept]).astype(np.float32),
        }
        | late(frame, radius)
    )


def late(frame: Frame, radius: Radius) -> Columns:
    """What comes with the drawn sites' norms: these, what the plane holds of each, and where its whole length ends."""
    kept, norm = order(frame), frame.sites.norm
    whole_x, whole_y = whole(frame, radius, kept)
    return {
        "norm": np.full(len(kept), MISSING, np.float32) if norm is None else _known(norm[kept]),
        "held": _held(frame, kept),
        "whole_x": whole_x,
        "whole_y": whole_y,
    }


def whole(frame: Frame, radius: Radius, kept: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Where arrows would end if all of each lay in the plane: longer along the same direction; `MISSING` if unknown.

    With the share s of its squared length in the plane, an arrow is 1 / sqrt(s) times as long as it is drawn.
    """
    share = held(frame)
    if isinstance(share, Undetermined):
        return (np.full(len(kept), MISSING, np.float32),) * 2
    factor = share[kept] ** -0.5
    x, y = radius.points(frame.sites.x[kept] * factor, frame.sites.y[kept] * factor)
    return _known(x), _known(y)


def _held(frame: Frame, kept: NDArray[np.int64]) -> list[str]:
    share = held(frame)
    if isinstance(share, Undetermined):
        return ["computing" if share.pending else "undetermined: Adam rescales it"] * len(kept)
    return [percent(each) for each in share[kept]]


def words(frame: Frame, radius: Radius, selected: int | None = None, count: int = NAMED) -> Columns:
    """The words of the arrow that is picked out and of the strongest, the most important first.

    Where they stand beside their tips is for the browser to say, which knows how large the picture is.
    """
    drawn = order(frame)[::-1]
    first = drawn[drawn == selected]
    kept = np.concatenate([first, drawn[:count][drawn[:count] != selected]])
    at = columns(*radius.points(frame.sites.x[kept], frame.sites.y[kept]))
    return beside(at, [pull(frame, i) for i in kept])


def beside(tips: Columns, text: list[str]) -> Columns:
    """Words to the right of tips, as they stand until the browser finds them room."""
    return tips | {"text": text, "dx": [8.0] * len(text), "dy": [0.0] * len(text)}


def unclipped(frame: Frame, radius: Radius) -> Columns:
    """From the tips of the arrows that the clip changed most to where they would be without it."""
    sites, kept = frame.sites, moved(frame)[-MOST_UNCLIPPED:]
    x0, y0 = radius.points(sites.x[kept], sites.y[kept])
    x1, y1 = radius.points(sites.unclipped_x[kept], sites.unclipped_y[kept])
    return {name: each.astype(np.float32) for name, each in (("x0", x0), ("y0", y0), ("x1", x1), ("y1", y1))}


def moved(frame: Frame) -> NDArray[np.int64]:
    """The sites whose arrows the clip shortened or turned, the least changed first."""
    sites = frame.sites
    far = np.hypot(sites.unclipped_x - sites.x, sites.unclipped_y - sites.y)
    ranked = np.argsort(far, kind="stable")
    return ranked[(far[ranked] > 1e-9) & sites.clipped[ranked]]


def number(value: Reading) -> float | None:
    """A reading's number, None where it is undetermined."""
    return None if isinstance(value, Undetermined) else value


def pull(frame: Frame, i: int) -> str:
    """A site's word, and the other one that its step raises most, where that is another."""
    text, raised = spoken(frame.sites.text[i]), spoken(frame.sites.raised[i])
    return text if raised in ("", text) else f"{text} → {raised}"


def spoken(token: str) -> str:
    """A token as a lecture hall reads it: the end mark is a word like any other."""
    return "(end)" if token == "<eos>" else token


def read(prefix: str) -> list[str]:
    """The words of a prefix that were read, without the mark at its beginning."""
    return [word for word in prefix.split() if word != "<bos>"]


def _last(prefix: str) -> str:
    words = read(prefix)
    return ("… " if len(words) > CONTEXT else "") + " ".join(words[-CONTEXT:])


def _known(values: Floats) -> NDArray[np.float32]:
    return np.where(np.isnan(values), MISSING, values).astype(np.float32)


def columns(x: Floats, y: Floats) -> Columns:
    """Points as columns."""
    return {"x": x.astype(np.float32), "y": y.astype(np.float32)}
