"""What may be taken away of what is on show: the kinds of file, what each is asked for by, and how each is made."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import get_args

from app import film, still
from app.address import session_link
from app.lesson.export import export_lesson
from app.sequence import Measure, Progress, Stopped, measured
from app.session import Session
from sim.columns import column_kinds, columns_file
from sim.errors import InvalidInput
from sim.link import MAX_QUERY, Link, fits
from sim.presets import Preset, dumps_preset
from sim.sentences import either, shown
from sim.session_file import Kept, dumps_session
from sim.timeline import Along

FILES, PICTURES, DATA, MOVING, LESSONS = "files", "picture", "data", "moving", "lesson"
ALONG: tuple[Along, ...] = get_args(Along)
#: Frames of what moves, at least and at most: a GIF holds all of them in memory until it is made.
FEWEST, LONGEST = 2, 60
#: Bytes of a file that is handed to a browser, at most.
MOST = 32_000_000
#: Characters of a file's name that tell the preset.
_NAME = 60


@dataclass(frozen=True)
class Kind:
    """A kind of file: the section of the dialog that it stands in, what it is called there, how names end, its type."""

    section: str
    label: str
    suffix: str
    mime: str

    @property
    def long(self) -> bool:
        """Whether it takes minutes, for it needs frames that nobody has computed yet."""
        return self.section in (MOVING, LESSONS)


KINDS: Mapping[str, Kind] = MappingProxyType({
    "preset": Kind(FILES, "Preset", "json", "application/json"),
    "session": Kind(FILES, "Session", "json", "application/json"),
    "png": Kind(PICTURES, "PNG", "png", "image/png"),
    "svg": Kind(PICTURES, "SVG", "svg", "image/svg+xml"),
    "pdf": Kind(PICTURES, "PDF", "pdf", "application/pdf"),
    "csv": Kind(DATA, "CSV", "csv", "text/csv"),
    "json": Kind(DATA, "JSON", "json", "application/json"),
    "parquet": Kind(DATA, "Parquet", "parquet", "application/vnd.apache.parquet"),
    "gif": Kind(MOVING, "GIF", "gif", "image/gif"),
    "mp4": Kind(MOVING, "MP4", "mp4", "video/mp4"),
    "webm": Kind(MOVING, "WebM", "webm", "video/webm"),
    "lesson": Kind(LESSONS, "Lesson", "html", "text/html"),
})  # fmt: skip


@dataclass(frozen=True)
class Order:
    """A file that somebody asks for: a picture at a scale, or so many frames along draws or steps."""

    kind: str
    scale: int = 1
    frames: int = 0
    along: Along = "draws"


@dataclass(frozen=True)
class Shown:
    """What is on show at one moment of a visit; nothing that is done later changes it.

    `link` is without the log, which `kept` has; `preset` has the settings of the moment; `trail` is the picture's.
    """

    link: Link
    preset: Preset
    kept: Kept
    trail: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, session: Session) -> "Shown":
        """What a session has on show."""
        return cls(session_link(session), session.current_preset(), session.so_far(), tuple(session.trail()))

    def query(self, log: bool) -> str:
        """The link's query, with the log or without; "" is that of the page as it opens by itself.

        Raises:
            InvalidInput: if it is too long to be passed on.
        """
        query = replace(self.link, kept=self.kept if log else None).query()
        if not fits(query):
            what = "the log does" if log else "the steps and settings on show do"
            raise InvalidInput(
                [f"{what} not fit into a link ({len(query):,} characters, at most {MAX_QUERY:,} are safe)"]
            )
        return query

    def text(self, kind: str) -> str:
        """The text of the preset's file or of the session's.

        Raises:
            InvalidInput: if the session is more than a file may hold.
        """
        return dumps_preset(self.preset) if kind == "preset" else dumps_session(self.kept.timeline, self.kept.presets)

    def filename(self, order: Order) -> str:
        """What a file is called: preset, seed, step and draw, in characters that every file system takes."""
        kind, moment = KINDS[order.kind], self.link.moment
        called = self.link.name or re.sub(r"[^a-z0-9]+", "-", self.preset.title.lower()).strip("-")[:_NAME] or "preset"
        if self.link.name is not None and self.preset != self.link.preset:
            called += "-changed"
        if order.kind == "preset":
            return f"{called}.{kind.suffix}"
        more = f"-{order.frames}-{order.along}" if kind.long else "-session" if order.kind == "session" else ""
        more += f"-{order.scale}x" if order.kind == "png" and order.scale > 1 else ""
        return f"{called}-seed{moment.config.seed}-step{moment.step}-draw{moment.draw}{more}.{kind.suffix}"


def missing() -> dict[str, str]:
    """Why this machine cannot make a kind of file, and what to install; only kinds that it cannot make."""
    return {kind: why for kind, why in {**column_kinds(), **film.film_kinds()}.items() if why}


def checked(kind: str, scale: int | None, frames: int | None, along: str | None) -> Order:
    """An order as it came from a browser.

    Raises:
        InvalidInput: with a line for each thing that is not allowed.
    """
    if kind not in KINDS:
        raise InvalidInput([f"kind: got {shown(kind)}, allowed {either(list(KINDS))}; choose one"])
    if why := missing().get(kind):
        raise InvalidInput([f"kind: {why}"])
    order, problems = Order(kind), []
    if kind == "png":
        if scale not in still.SCALES:
            problems.append(
                f"scale: got {shown(scale)}, allowed {either([str(each) for each in still.SCALES])}; choose one"
            )
        order = replace(order, scale=scale or 1)
    if KINDS[kind].long:
        if frames is None or not FEWEST <= frames <= LONGEST:
            problems.append(f"frames: got {shown(frames)}, allowed a whole number, {FEWEST} to {LONGEST}; correct it")
        way = next((each for each in ALONG if each == along), None)
        if way is None:
            problems.append(f"frames along: got {shown(along)}, allowed {either(ALONG)}; choose one")
        order = replace(order, frames=frames or 0, along=way or ALONG[0])
    if problems:
        raise InvalidInput(problems)
    return order


def made(order: Order, what: Shown, measure: Measure, progress: Progress, cancelled: Stopped) -> bytes:
    """The bytes of the file that was ordered; slow, and not for the event loop.

    Args:
        order: what is asked for.
        what: what it is made of.
        measure: gives the complete frame of a moment.
        progress: told how many frames are done, and of how many.
        cancelled: asked before each frame.

    Raises:
        Cancelled: if `cancelled` says so.
        GradcloudError: if it cannot be made.
    """
    link, kind = what.link, order.kind
    section = KINDS[kind].section
    if section == FILES:
        data = what.text(kind).encode()
    elif section == PICTURES:
        data = still.still(measure(link.moment), link, kind, order.scale, trail=what.trail)
    elif section == DATA:
        data = columns_file(measure(link.moment), link, kind)
    elif section == MOVING:
        data = _moving(order, link, measure, progress, cancelled)
    else:
        data = export_lesson(link, order.frames, measure, progress, cancelled, order.along).encode()
    if len(data) > MOST:
        raise InvalidInput([f"the file: {len(data):,} bytes, allowed at most {MOST:,}; ask for fewer frames"])
    return data


def _moving(order: Order, link: Link, measure: Measure, progress: Progress, cancelled: Stopped) -> bytes:
    """The film of a moment and those that follow it: first all are measured, then all are drawn in one scale."""
    count, total = order.frames, 2 * order.frames
    frames = measured(link.moment, count, order.along, measure, lambda done, _: progress(done, total), cancelled)
    return film.film(
        frames, link, order.kind, progress=lambda done, _: progress(count + done, total), cancelled=cancelled
    )
