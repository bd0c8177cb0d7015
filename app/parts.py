"""The parts of a page that show one session and act on it, by the name of the place that each takes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import panel as pn

from app.lengths import Lengths
from app.look import READINGS, TOKENS, TOUR
from app.lookahead import LookAhead
from app.runners import Runners
from app.session import Session
from app.target import ImplicitTarget, Targets
from app.tour import Guide
from app.views.ahead import AheadPanel
from app.views.controls import Controls
from app.views.gauges import Gauges
from app.views.lens import Lens
from app.views.lessons import Lesson
from app.views.log import EventLog
from app.views.plane import Plane
from app.views.player import Player
from app.views.side import Side
from app.views.status import Status
from app.views.table import PictureTable
from app.views.target import Target
from app.views.tour import TourCard

_OVERLAY = (
    ":host { position: relative; } :host > .status { position: absolute; inset: 0 0 auto; width: 100%; z-index: 10; }"
    ":host(.lit) { outline: 3px dashed var(--aim); outline-offset: 0; border-radius: 3px; }"
)


@dataclass(frozen=True)
class Parts:
    """A session's parts, in the order of the page, and what to call when nobody looks at them any more."""

    shown: dict[str, Any]
    closing: tuple[Callable[[], None], ...]

    def close(self) -> None:
        """Stop what they have under way, the session too."""
        for close in self.closing:
            close()


def parts(session: Session, document: Any, runners: Runners, targets: Targets) -> Parts:
    """The parts of a session; in a document, or in none, as in a notebook."""
    ahead, lengths = LookAhead(session, runners, document), Lengths(session, runners, document)
    target = ImplicitTarget(session, targets, document)
    shown = {
        "plane": with_status(session),
        "dials": Controls(session.dials, session.look, css_classes=["dials"]),
        "side": _side(session),
        "player": Player(session, css_classes=["player"]),
        "table": PictureTable(session, css_classes=["table"]),
        "target": Target(target, css_classes=["target"], sizing_mode="stretch_width"),
        "ahead": AheadPanel(ahead, lengths),
        "lesson": Lesson(session),
    }
    return Parts(shown, (session.close, ahead.close, lengths.close, target.close))


def with_status(session: Session) -> pn.Column:
    """The picture of a session, and over it what the page has to say."""
    return pn.Column(
        Plane(session), Status(session, css_classes=["status"]), margin=0,
        css_classes=pn.bind(_pointed_at, session.look.param.spotlight),
        stylesheets=[_OVERLAY], sizing_mode="stretch_width",
    )  # fmt: skip


def _side(session: Session) -> Side:
    return Side(session.look, Gauges(session), {
        READINGS: EventLog(session, css_classes=["grows"], sizing_mode="stretch_width"),
        TOKENS: Lens(session, css_classes=["grows"], sizing_mode="stretch_width"),
        TOUR: TourCard(Guide(session), css_classes=["grows"], sizing_mode="stretch_width"),
    })  # fmt: skip


def _pointed_at(spotlight: str) -> list[str]:
    """The picture's classes, with a mark while a tour points at it."""
    return ["plane", "lit"] if spotlight == "picture" else ["plane"]
