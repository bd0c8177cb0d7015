"""The plane: the sites' arrows, their averaged update and the safe ring, in one scale."""

from typing import Any

import panel as pn

from app import marks, picture
from app.paint import Paints
from app.session import Session
from app.shared import Shared
from app.views.caption import Caption
from app.views.drawing import Drawing
from app.views.fit import Fit
from app.views.pointing import Pointing
from sim.frame import Frame

#: Sizes of the update's head and arrows that carry their words, where the picture is one of several.
SMALL_HEAD, FEW = 0.7, 1


class Plane(pn.viewable.Viewer):
    """The picture of a session's frame; it reads the frame and nothing else.

    Args:
        session: whose frame is drawn.
        shared: the scale that it shares with others beside it, which leaves it less room; by default its own.
        suffix: ends the names of its figure and sources, where a document has several.
    """

    def __init__(self, session: Session, shared: Shared | None = None, suffix: str = "") -> None:
        super().__init__()
        self._session = session
        self._compact = shared is not None
        self._shared = shared or Shared(suffix)
        self._drawing = Drawing(self._shared, Paints(session.look), suffix)
        self._shown: tuple[Any, ...] = ()
        self._fitted: tuple[Any, ...] = ()
        pane = pn.pane.Bokeh(self._drawing.figure, sizing_mode="stretch_both", margin=0, css_classes=["figure"])
        self._layout = pn.Column(
            pane, Caption(session, compact=self._compact), Pointing(session, suffix=suffix, linked=not self._compact),
            Fit(suffix=suffix, scale=self._shared.view.name, css_classes=["fit"]),
            css_classes=["plane"], sizing_mode="stretch_both",
            stylesheets=[_STACK], margin=0,
        )  # fmt: skip
        session.param.watch(self._follow, "frame")
        session.look.param.watch(self._follow, "radius")
        session.look.param.watch(self._pick, "selected")
        session.look.param.watch(self._widen, "theme")
        session.param.watch(self._dim, ["busy", "frame", "failure"])
        session.param.watch(self._fit_anew, "anew")
        self._shared.param.watch(self._rescale, "half")
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def fit(self) -> None:
        """Choose anew what the picture reaches to."""
        self._shown = self._fitted = ()
        self._follow()

    def _follow(self, *_: Any) -> None:
        frame = self._session.frame
        if frame is None:
            return
        radius = self._radius
        # What a frame shows does not change when its norms arrive: only they are sent then.
        shown = (frame.config, frame.step, frame.draw, self._session.timeline.current.moment.path.key, radius)
        if shown == self._shown:
            self._sources["arrows"].data.update(picture.late(frame, radius))
            self._pick()
            return
        self._shown = shown
        self._fit(frame, radius)
        self._sources["arrows"].data = picture.arrows(frame, radius, self._session.look.palette.stroke)
        self._sources["unclipped"].data = picture.unclipped(frame, radius)
        self._sources["trail"].data = marks.trail(frame, radius, self._session.trail())
        for name in ("update", "whole", "ring"):
            self._sources[name].data = getattr(marks, name)(frame, radius)
        self._rescale()
        self._pick()

    def _pick(self, *_: Any) -> None:
        """Mark the arrow that is picked out, and name it with the strongest."""
        frame, site = self._session.frame, self._session.look.selected
        if frame is None:
            return
        self._sources["selected"].data = marks.selected(frame, self._radius, site)
        count = FEW if self._compact else picture.NAMED
        words = picture.words(frame, self._radius, site, count)
        note = marks.noted(frame, self._radius)
        self._sources["words"].data = {name: [*note[name], *words[name]] for name in words}

    def _widen(self, *_: Any) -> None:
        """Draw arrows and head as thick as the theme wants them."""
        frame = self._session.frame
        if frame is not None:
            stroke = self._session.look.palette.stroke
            self._sources["arrows"].data["width"] = picture.arrows(frame, self._radius, stroke)["width"]
        self._rescale()

    def _rescale(self, *_: Any) -> None:
        frame, half = self._session.frame, self._shared.half
        self._sources["scale"].data = marks.scale(self._radius, half)
        if frame is not None:
            palette, trace = self._session.look.palette, marks.is_trace(frame)
            factor = palette.stroke * (SMALL_HEAD if self._compact else 1)
            self._drawing.head.update(
                size=factor * marks.head(frame, self._radius, half),
                fill_color=palette.paper if trace else palette.update,
                line_width=palette.stroke * (1.5 if trace else 1),
            )
            self._drawing.update.glyph.line_width = factor * (1.5 if trace else 5)

    def _dim(self, *_: Any) -> None:
        self._layout.css_classes = ["plane", "stale"] if self._session.stale else ["plane"]

    def _fit_anew(self, *_: Any) -> None:
        """Undo zoom and pan, and choose with the next frame what the picture reaches to."""
        self._fitted = ()
        self._shared.centre()

    def _fit(self, frame: Frame, radius: picture.Radius) -> None:
        """Choose what the picture reaches to, once for a preset, a scale and axes, so that frames compare."""
        wanted = (self._session.preset, radius, frame.config.plane.basis)
        if wanted != self._fitted or marks.must_reach(frame, radius) > self._shared.half:
            self._fitted = wanted
            self._shared.require(self, marks.reach(frame, radius))

    @property
    def _radius(self) -> picture.Radius:
        return picture.Radius(self._session.look.radius)

    @property
    def _sources(self) -> dict[str, Any]:
        return self._drawing.sources


_STACK = """
:host { position: relative; }
:host(.stale) { opacity: 0.35; }
:host > .caption { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; }
"""
