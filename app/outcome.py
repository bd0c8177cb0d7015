"""What the log says of an event once its frame has been seen."""

from dataclasses import dataclass

from app.picture import number
from sim.frame import Frame, Reading, Verdict


@dataclass(frozen=True)
class Outcome:
    """What came of an event: its frame's ratio, verdict and update, or why there is no frame."""

    ratio: Reading | None = None
    verdict: Verdict | None = None
    tip: tuple[float, float] | None = None
    failure: str = ""

    @classmethod
    def of(cls, frame: Frame) -> "Outcome":
        """What a frame says; an update that is no arrow has no tip."""
        x, y = number(frame.update.x), number(frame.update.y)
        tip = None if x is None or y is None or x == y == 0 else (x, y)
        return cls(frame.update.ratio, frame.verdict, tip)
