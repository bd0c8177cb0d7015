"""The picture, the readings and the whole page in a notebook, alive as long as its kernel is."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import panel as pn

from app import theme
from app.fields import describe
from app.frames import Frames
from app.grid import Grid
from app.look import Look
from app.outputs import Output, Outputs, leave_output
from app.palette import THEMES
from app.parts import Parts, parts, with_status
from app.runners import Runners
from app.session import Session
from app.target import Targets
from app.views.gauges import Gauges
from app.views.glossary import Glossary
from app.views.witness import Witness
from sim.errors import GradcloudError, InvalidInput
from sim.frame import Frame
from sim.library import place, simulator
from sim.link import Link
from sim.link_items import DEFAULT
from sim.presets import Preset
from sim.sentences import either, shown
from sim.session_file import Kept
from sim.timeline import Moment, Timeline

#: Pixels of a single picture, and of the readings beside it.
SIZE, NARROW = 560, 300

_BAR, _DIALS, _SIDE = (f"calc({width}px * var(--type))" for width in (40, 200, 250))
_BELOW = ("table", "target", "ahead", "lesson")
#: By the width of the output, whatever the window's.
_WIDE = Grid(
    f"{_DIALS} minmax(0, 1fr) minmax({_SIDE}, 26%)",
    f"clamp(380px, 46cqw, 85vh) minmax({_BAR}, auto)",
    "0 16px",
    ("dials plane side", "dials player side", *(f"{part} {part} {part}" for part in _BELOW)),
    ("dials", "side"),
)
_SMALL = Grid(
    f"minmax(0, 1fr) {_SIDE}",
    f"clamp(340px, 60cqw, 85vh) minmax({_BAR}, auto)",
    "0 16px",
    ("plane side", "player side", "dials dials", *(f"{part} {part}" for part in _BELOW)),
    ("side",),
)
# The variables stand at the output's own root, so that nothing of them reaches the notebook around it.
_ROOM = (
    theme.variables(":host", ":host(.{})")
    + ":host { background: var(--paper); color: var(--ink); container-type: inline-size; }"
)
_FILLED = ":host > * { height: 100% !important; }"
_PLACES = (
    f":host {{ {_WIDE.css()} }} @container (max-width: 880px) {{ :host {{ {_SMALL.css()} }} }}"
    ":host { padding: 0 8px; }"
)


class Dashboard(pn.viewable.Viewer):
    """The page of a preset, less what belongs to a page of its own: addresses, files, keys.

    Args:
        session: what it shows; it goes on while the cell that shows it is there.
        shown: the session's parts.
    """

    def __init__(self, session: Session, shown: Parts) -> None:
        super().__init__()
        self._session, self._parts = session, shown
        page = pn.Column(
            *shown.shown.values(), Glossary(), Witness(session.seen), stylesheets=[theme.LAYOUT, _PLACES], margin=0,
            sizing_mode="stretch_width",
        )  # fmt: skip
        self._layout = _room(session.look, page, sizing_mode="stretch_width")

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    @property
    def frame(self) -> Frame:
        """The frame on show."""
        assert self._session.frame is not None
        return self._session.frame

    def close(self) -> None:
        """Stop what is under way: what plays, and what runs ahead."""
        self._parts.close()


def dashboard(
    start: str | Link = DEFAULT, *settings: str, step: int = 0, draw: int | None = None, theme: str = "light"
) -> Dashboard:
    """The page of a moment, to be played with; the arguments are those of ``sim.place``.

    Raises:
        InvalidInput: with a line for each problem.
        GradcloudError: where no event loop runs, which is what draws the batches: outside a notebook.
    """
    link, look = place(start, *settings, step=step, draw=draw), _look(theme)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise GradcloudError(
            "dashboard: no event loop runs here; call it in a notebook, or run gradcloud serve"
        ) from None
    _extend()
    # Waited for, so that the page comes with its picture, and an output that is only kept has one too.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, _frames().get(link.moment, complete=True)).result()
    outputs = Outputs()
    session = Session(_frames(), link.preset, link.name, outputs, look)
    session.restore(_begun(link))
    page = Dashboard(session, parts(session, outputs, _runners(), _targets()))
    outputs.view = page.__panel__()
    return page


def picture(frame: Frame, theme: str = "light", size: int = SIZE) -> pn.viewable.Viewable:
    """The plane of a frame, as the page draws it; it needs no kernel once it is shown."""
    session = _recorded(frame, theme)
    return _room(session.look, with_status(session), style=_FILLED, width=size, height=size)


def readings(frame: Frame, theme: str = "light", width: int = NARROW) -> pn.viewable.Viewable:
    """The verdict and the readings of a frame, as the page writes them, each with its rule where one points at it."""
    session = _recorded(frame, theme)
    return _room(session.look, Gauges(session), width=width)


@cache
def _extend() -> None:
    """Bring what draws the page into the notebook, from this machine and not from the net."""
    pn.extension(inline=True, respect_explicit_sizing=True)
    leave_output()


@cache
def _frames() -> Frames:
    return Frames(simulator)


@cache
def _runners() -> Runners:
    return Runners(_frames())


@cache
def _targets() -> Targets:
    return Targets(_frames())


def _look(theme: str) -> Look:
    if theme not in THEMES:
        raise InvalidInput([f"theme: got {shown(theme)}, allowed {either(list(THEMES))}"])
    return Look(theme=theme)


def _recorded(frame: Frame, theme: str) -> Session:
    """A session that has this frame on show, and does nothing."""
    look = _look(theme)
    _extend()
    session = Session(_frames(), Preset(title="A frame", lesson=frame.when, config=frame.config), look=look)
    session.param.update(frame=frame, settled=True)
    return session


def _begun(link: Link) -> Kept:
    """The session that led to a moment; where it is not known, the preset and one act."""
    if link.kept is not None:
        return link.kept
    timeline = Timeline(link.preset.config, link.preset.title)
    if link.moment != Moment(link.preset.config):
        there, config = f"step {link.moment.step}, draw {link.moment.draw}", link.moment.config
        changed = "" if config == link.preset.config else f"; {describe(link.preset.config, config)}"
        timeline.act("control", there + changed, link.moment)
    return Kept(timeline, {0: (link.name, link.preset)})


def _room(look: Look, *views: Any, style: str = "", **size: Any) -> Output:
    """Views with the colours and letters of the page around them, in the theme of a look."""
    classes = pn.bind(_classes, look.param.theme)
    return Output(*views, css_classes=classes, stylesheets=[_ROOM + style], margin=0, **size)


def _classes(theme: str) -> list[str]:
    return [theme]
