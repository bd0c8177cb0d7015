"""The plane: the sites' arrows, their averaged update and the safe ring, in one scale."""

from typing import Any

import panel as pn
from bokeh.core.properties import value
from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    PanTool,
    Range1d,
    WheelZoomTool,
)
from bokeh.models.annotations.arrows import NormalHead
from bokeh.models.graphics import Decoration
from bokeh.plotting import figure

from app import picture, theme
from app.session import Session
from app.views.caption import Caption
from app.views.hover import hover
from sim.frame import Frame

# The ranges follow from a centre and a half-width that the smaller side of the picture spans, which is what keeps
# one unit as wide as it is high; neither match_aspect nor DataRange1d does that and keeps the zoom.
_FIT = """
const w = figure.inner_width, h = figure.inner_height
if (!(w > 0 && h > 0)) return
const {x, y, half} = view.data, unit = 2 * half[0] / Math.min(w, h)
figure.x_range.setv({start: x[0] - unit * w / 2, end: x[0] + unit * w / 2})
figure.y_range.setv({start: y[0] - unit * h / 2, end: y[0] + unit * h / 2})
"""
_KEEP = """
const w = figure.inner_width, h = figure.inner_height, {x_range: X, y_range: Y} = figure
if (!(w > 0 && h > 0)) return
view.data.x[0] = (X.start + X.end) / 2
view.data.y[0] = (Y.start + Y.end) / 2
view.data.half[0] = (X.end - X.start) / w * Math.min(w, h) / 2
"""
# A word stands beyond its arrow's tip, or on the near side of it where the picture ends sooner, as on a telephone.
_ROOM = """
const {start, end} = figure.x_range, w = figure.inner_width, {x, text, align, dx} = words.data
if (!(w > 0) || !x.length) return
const outward = Array.from(x, (at, i) => {
  const room = (at < 0 ? at - start : end - at) / (end - start) * w
  return room > 8.5 * text[i].length + 10
})
const now = Array.from(x, (at, i) => (at >= 0) === outward[i] ? "left" : "right")
if (now.some((side, i) => side !== align[i]))
  words.data = {...words.data, align: now, dx: now.map((side) => side === "left" ? 8 : -8)}
"""
_AGAIN = "view.data = {x: [0], y: [0], half: [view.tags[0]]}"


class Plane(pn.viewable.Viewer):
    """The picture of a session's frame; it reads the frame and nothing else."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._sources = {
            name: ColumnDataSource(_empty(name), name=name)
            for name in ("arrows", "words", "unclipped", "update", "whole", "ring", "scale")
        }
        self._view = ColumnDataSource({"x": [0.0], "y": [0.0], "half": [1.75]}, name="view", tags=[1.75])
        self._head = NormalHead(size=16, fill_color=theme.UPDATE, line_color=theme.UPDATE)
        self._figure = self._drawn()
        self._shown: tuple[Any, ...] = ()
        self._fitted: tuple[Any, ...] = ()
        pane = pn.pane.Bokeh(self._figure, sizing_mode="stretch_both", margin=0, css_classes=["figure"])
        self._layout = pn.Column(
            pane, Caption(session), css_classes=["plane"], sizing_mode="stretch_both", stylesheets=[_STACK], margin=0
        )
        session.param.watch(self._follow, "frame")
        session.look.param.watch(self._follow, "radius")
        session.param.watch(self._dim, ["busy", "frame"])
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _follow(self, *_: Any) -> None:
        frame = self._session.frame
        if frame is None:
            return
        radius = picture.Radius(self._session.look.radius)
        self._fit(frame, radius)
        # What a frame shows does not change when its norms arrive: only they are sent then.
        shown = (frame.config, frame.step, frame.draw, self._session.timeline.current.moment.path.key, radius)
        if shown == self._shown:
            self._sources["arrows"].data["norm"] = picture.norms(frame)
            return
        self._shown = shown
        for name in ("arrows", "unclipped", "update", "whole", "ring"):
            self._sources[name].data = getattr(picture, name)(frame, radius)
        self._head.size = picture.head(frame, radius, self._view.tags[0])
        self._sources["words"].data = picture.words(frame, radius, self._view.tags[0])

    def _dim(self, *_: Any) -> None:
        self._layout.css_classes = ["plane", "stale"] if self._session.stale else ["plane"]

    def _fit(self, frame: Frame, radius: picture.Radius) -> None:
        """Choose what the picture reaches to, once for a preset, a scale and axes, so that frames compare."""
        wanted = (self._session.preset, radius, frame.config.plane.basis)
        if wanted == self._fitted and picture.must_reach(frame, radius) <= self._view.tags[0]:
            return
        self._fitted = wanted
        half = picture.reach(frame, radius)
        self._view.tags = [half]
        self._view.data = {"x": [0.0], "y": [0.0], "half": [half]}
        self._sources["scale"].data = picture.scale(radius, half)

    def _drawn(self) -> figure:
        zoom = WheelZoomTool(zoom_on_axis=False)
        plot = figure(
            name="plane", sizing_mode="stretch_both", x_range=Range1d(start=-1.75, end=1.75),
            y_range=Range1d(start=-1.75, end=1.75),
            toolbar_location=None, tools=[zoom, PanTool()], active_scroll=zoom, min_border=0, outline_line_color=None,
            background_fill_color=theme.PAPER, border_fill_color=theme.PAPER, output_backend="canvas",
        )  # fmt: skip
        plot.axis.visible = False
        plot.grid.visible = False
        self._draw_scale(plot)
        self._draw_cloud(plot)
        self._draw_update(plot)
        fit, keep = (CustomJS(args={"figure": plot, "view": self._view}, code=code) for code in (_FIT, _KEEP))
        for size in ("inner_width", "inner_height"):
            plot.js_on_change(size, fit)
        self._view.js_on_change("data", fit)
        words = self._sources["words"]
        room = CustomJS(args={"figure": plot, "words": words}, code=_ROOM)
        words.js_on_change("data", room)
        plot.x_range.js_on_change("end", room)
        plot.x_range.js_on_change("start", keep)
        plot.js_on_event("doubletap", CustomJS(args={"view": self._view}, code=_AGAIN))
        return plot

    def _draw_scale(self, plot: figure) -> None:
        plot.hspan(y=0, line_color=theme.HAIR)
        plot.vspan(x=0, line_color=theme.HAIR)
        plot.circle(x=0, y=0, radius="r", source=self._sources["scale"], fill_color=None, line_color=theme.HAIR)
        plot.text(
            x=0, y="y", text="text", source=self._sources["scale"], text_font_size=theme.DRAWN, text_color=theme.MUTED,
            text_baseline="middle", text_align="center", level="annotation", **_LETTERS,
        )  # fmt: skip

    def _draw_cloud(self, plot: figure) -> None:
        source = self._sources["arrows"]
        plot.segment(
            x0="x0", y0="y0", x1="x1", y1="y1", source=self._sources["unclipped"], line_color=theme.CLOUD,
            line_dash="dotted", line_width=1,
        )  # fmt: skip
        cloud = plot.segment(
            x0=0, y0=0, x1="x", y1="y", source=source, line_color=theme.CLOUD, line_alpha="alpha", line_width="width",
            name="cloud",
        )  # fmt: skip
        head = NormalHead(size=5, fill_color=theme.CLOUD, line_color=None, fill_alpha=0.6)
        cloud.glyph.decorations = [Decoration(marking=head, node="end")]
        # The hover finds a segment only within 2 pixels, so it looks for an unseen disc at the tip.
        tips = plot.scatter(
            x="x", y="y", source=source, size=11, fill_alpha=0, line_alpha=0, hover_fill_color=theme.INK,
            hover_fill_alpha=0.15, name="tips",
        )  # fmt: skip
        plot.add_tools(hover(tips))
        plot.text(
            x="x", y="y", text="text", source=self._sources["words"], text_align="align", x_offset="dx", y_offset="dy",
            text_baseline="middle", text_font_size=theme.NAMED, text_font_style="bold", text_color=theme.INK,
            name="words", **_LETTERS,
        )  # fmt: skip

    def _draw_update(self, plot: figure) -> None:
        plot.line(
            x="x", y="y", source=self._sources["ring"], line_color=theme.RING, line_width=2.2, line_dash=[7, 5],
            name="ring",
        )  # fmt: skip
        whole = self._sources["whole"]
        plot.segment(
            x0="x0", y0="y0", x1="x", y1="y", source=whole, line_color=theme.UPDATE, line_width=1.6, line_dash=[2, 3]
        )
        plot.scatter(
            x="x", y="y", source=whole, size=13, fill_color=theme.PAPER, line_color=theme.UPDATE, line_width=2.2,
            name="whole",
        )  # fmt: skip
        update = plot.segment(
            x0=0, y0=0, x1="x", y1="y", source=self._sources["update"], line_color=theme.UPDATE, line_width=5,
            name="update",
        )  # fmt: skip
        update.glyph.decorations = [Decoration(marking=self._head, node="end")]


# Letters on a patch of paper, to be read on top of arrows.
_LETTERS: Any = {
    "text_font": value(theme.FONT), "background_fill_color": theme.PAPER, "background_fill_alpha": 0.75, "padding": 1,
}  # fmt: skip
_STACK = """
:host { position: relative; }
:host(.stale) { opacity: 0.35; }
:host > .caption { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; }
"""
_COLUMNS = {
    "arrows": "x y alpha width token raised other before student teacher raised_student raised_teacher signal share "
    "length norm",
    "words": "x y text align dx dy",
    "unclipped": "x0 y0 x1 y1",
    "update": "x y",
    "whole": "x0 y0 x y",
    "ring": "x y",
    "scale": "r y text",
}


def _empty(name: str) -> dict[str, list[Any]]:
    return {column: [] for column in _COLUMNS[name].split()}
