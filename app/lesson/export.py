"""A lesson as one HTML file, which plays a recording of it without a server and without a network."""

from app.lesson import clouds
from app.lesson.figure import figure
from app.lesson.page import page
from app.lesson.recording import recorded
from app.picture import Radius
from app.sequence import Measure, Progress, Stopped
from sim.link import Link
from sim.timeline import Along


def export_lesson(
    link: Link, frames: int, frame: Measure, progress: Progress, cancelled: Stopped, along: Along = "draws"
) -> str:
    """The file's text, the same each time.

    Args:
        link: the first frame's moment, and how it is looked at.
        frames: how many there are of each variant, the clip off and the clip on.
        frame: gives the complete frame of a moment.
        progress: told how many frames are done, and of how many.
        cancelled: asked before each frame.
        along: whether frames are draws at the same parameters, or the steps of a run.

    Raises:
        Cancelled: if `cancelled` says so.
    """
    recording = recorded(link.moment, frames, frame, along, progress, cancelled)
    radius = Radius(link.looked("scale"))
    half = clouds.reach(recording, radius)
    return page(link, recording, figure(half), clouds.packed(recording, radius, half))
