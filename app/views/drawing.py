"""The glyphs of the plane, each in its theme's colour, width and size of letters."""

from pathlib import Path
from typing import Any

from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, CustomJS, PanTool, WheelZoomTool
from bokeh.models.annotations.arrows import NormalHead
from bokeh.models.graphics import Decoration
from bokeh.plotting import figure

from app import theme
from app.paint import Paints
from app.shared import Shared
from app.views.hover import hover

_ROOM = Path(__file__).with_name("room.js").read_text("utf-8")
_COLUMNS = {
    "scale": "r y text",
    "unclipped": "x0 y0 x1 y1",
    "arrows": "x y site alpha width token raised other before student teacher raised_student raised_teacher signal "
    "share length norm held whole_x whole_y",
    "ring": "x y",
    "whole": "x0 y0 x y",
    "update": "x y",
    "trail": "x y x1 y1 alpha size",
    "selected": "x y text whole_x whole_y",
    "pointed": "x y whole_x whole_y",
    "words": "x y text dx dy",
}
#: What the browser writes by itself, of which the server need not hear: what is pointed at, and where words stand.
_BROWSERS = ("pointed", "words")


class Drawing:
    """A figure and the sources that its glyphs draw, by name.

    Args:
        shared: the ranges of the picture.
        paint: what keeps it in the theme's colours.
        suffix: ends the name of the figure and of each source.
    """

    def __init__(self, shared: Shared, paint: Paints, suffix: str = "") -> None:
        self.sources = {
            name: ColumnDataSource(
                {column: [] for column in columns.split()}, name=name + suffix, syncable=name not in _BROWSERS
            )
            for name, columns in _COLUMNS.items()
        }
        self.head = paint(NormalHead(size=16), line_color="update", fill_color="update")
        self._paint = paint
        zoom = WheelZoomTool(zoom_on_axis=False)
        self.figure = paint(figure(
            name="plane" + suffix, sizing_mode="stretch_both", x_range=shared.x_range, y_range=shared.y_range,
            toolbar_location=None, tools=[zoom, PanTool()], active_scroll=zoom, min_border=0, outline_line_color=None,
            output_backend="canvas",
        ), background_fill_color="paper", border_fill_color="paper")  # fmt: skip
        self.figure.axis.visible = False
        self.figure.grid.visible = False
        self._scale()
        self._cloud()
        self._update()
        self._picked()
        self._words()
        shared.attach(self.figure)

    def _glyph(self, kind: str, source: str, roles: dict[str, Any], **given: Any) -> Any:
        """A painted glyph of a source."""
        drawn = getattr(self.figure, kind)(source=self.sources[source], **given)
        self._paint(drawn.glyph, **roles)
        return drawn

    def _scale(self) -> None:
        for span in (self.figure.hspan(y=0), self.figure.vspan(x=0)):
            self._paint(span.glyph, line_color="hair", line_width=1)
        self._glyph("circle", "scale", {"line_color": "hair", "line_width": 1}, x=0, y=0, radius="r", fill_color=None)
        self._letters("scale", {"text_color": "muted", "text_font_size": 12}, x=0, text_align="center")

    def _cloud(self) -> None:
        self._glyph(
            "segment", "unclipped", {"line_color": "cloud", "line_width": 1}, x0="x0", y0="y0", x1="x1", y1="y1",
            line_dash="dotted",
        )  # fmt: skip
        self._glyph(
            "scatter", "unclipped", {"line_color": "cloud", "fill_color": "paper", "line_width": 1, "size": 5},
            x="x1", y="y1", marker="square",
        )  # fmt: skip
        cloud = self._glyph(
            "segment", "arrows", {"line_color": "cloud"}, x0=0, y0=0, x1="x", y1="y", line_alpha="alpha",
            line_width="width", name="cloud",
        )  # fmt: skip
        head = self._paint(NormalHead(line_color=None, fill_alpha=0.6), fill_color="cloud", size=5)
        cloud.glyph.decorations = [Decoration(marking=head, node="end")]
        # The hover finds a segment only within 2 pixels, so it looks for an unseen disc at the tip.
        self.tips = self._glyph("scatter", "arrows", {}, x="x", y="y", size=11, fill_alpha=0, line_alpha=0, name="tips")
        self.figure.add_tools(hover(self.tips))

    def _update(self) -> None:
        self._glyph(
            "segment", "trail", {"line_color": "update", "line_width": 1.2}, x0="x", y0="y", x1="x1", y1="y1",
            line_alpha="alpha",
        )  # fmt: skip
        self._glyph(
            "scatter", "trail", {"fill_color": "update", "line_color": "paper", "line_width": 1}, x="x", y="y",
            size="size", fill_alpha="alpha", line_alpha="alpha",
        )  # fmt: skip
        self._glyph(
            "line", "ring", {"line_color": "ring", "line_width": 2.2}, x="x", y="y", line_dash=[7, 5], name="ring"
        )
        self._glyph(
            "segment", "whole", {"line_color": "update", "line_width": 1.6}, x0="x0", y0="y0", x1="x", y1="y",
            line_dash=[2, 3],
        )  # fmt: skip
        self._glyph(
            "scatter", "whole", {"fill_color": "paper", "line_color": "update", "line_width": 2.2, "size": 13},
            x="x", y="y", name="whole",
        )  # fmt: skip
        self.update = self._glyph(
            "segment", "update", {"line_color": "update"}, x0=0, y0=0, x1="x", y1="y", name="update"
        )
        self.update.glyph.decorations = [Decoration(marking=self.head, node="end")]

    def _picked(self) -> None:
        """What is pointed at, bold on a halo, while that lasts; what is picked out, ringed, until it is not."""
        for name in ("selected", "pointed"):
            self._glyph("segment", name, {"line_color": "ink", "line_width": 1.4}, x0="x", y0="y", x1="whole_x",
                        y1="whole_y", line_dash=[2, 4])  # fmt: skip
            self._glyph("scatter", name, {"fill_color": "paper", "line_color": "ink", "line_width": 1.8, "size": 10},
                        x="whole_x", y="whole_y", marker="diamond")  # fmt: skip
        for color, width in (("paper", 6.5), ("ink", 2)):
            self._glyph("scatter", "selected", {"line_color": color, "line_width": width, "size": 15}, x="x", y="y",
                        fill_color=None)  # fmt: skip
        for color, width in (("paper", 7), ("ink", 3)):
            self._glyph("segment", "pointed", {"line_color": color, "line_width": width}, x0=0, y0=0, x1="x", y1="y")
        self._glyph("scatter", "pointed", {"fill_color": "ink", "line_color": "paper", "line_width": 2, "size": 12},
                    x="x", y="y")  # fmt: skip

    def _words(self) -> None:
        letters = self._letters(
            "words", {"text_color": "ink", "text_font_size": 14}, x="x", text_align="left", x_offset="dx",
            y_offset="dy", text_font_style="bold", name="words",
        )  # fmt: skip
        words = self.sources["words"]
        room = CustomJS(args={"figure": self.figure, "words": words}, code=_ROOM)
        words.js_on_change("data", room)
        letters.glyph.js_on_change("text_font_size", room)
        self.figure.x_range.js_on_change("end", room)
        for size in ("inner_width", "inner_height"):
            self.figure.js_on_change(size, room)

    def _letters(self, source: str, roles: dict[str, Any], **given: Any) -> Any:
        """Letters on a patch of paper, to be read on top of arrows."""
        return self._glyph(
            "text", source, roles | {"background_fill_color": "paper"}, y="y", text="text", text_baseline="middle",
            text_font=value(theme.FONT), background_fill_alpha=0.75, padding=1, level="annotation", **given,
        )  # fmt: skip
