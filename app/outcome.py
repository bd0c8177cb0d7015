"""What the log says of an event once its frame has been seen."""

from dataclasses import dataclass

from app import marks
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
        """What a frame says."""
        return cls(frame.update.ratio, frame.verdict, marks.tip(frame))
