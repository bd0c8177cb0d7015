"""The curves of a look-ahead: each reading of its runs, step by step, in a small picture of its own."""

from typing import Any

import panel as pn
from bokeh.core.properties import value
from bokeh.events import Tap
from bokeh.models import ColumnDataSource, CustomJS, FixedTicker, HoverTool, Range1d
from bokeh.plotting import figure

from app import theme
from app.charts import CHARTS, LINES, Chart, columns, labels, marks, nearest, reach
from app.lookahead import LookAhead

_HEIGHT = 148
#: Where the words beside the lines of a collapse stand: between a good accuracy and none.
_HEIGHTS = (0.55, 0.25)
# The numbers where curves end take the same room on a telephone as on a wall.
_FIT = """
const w = figure.inner_width, [steps] = span.data.steps
if (w > 80) figure.x_range.setv({start: -0.03 * steps, end: steps * (w - 8) / (w - 56)})
"""
_GRID = """
:host { display: grid !important; grid-template-columns: repeat(5, minmax(0, 1fr)); gap: 8px 14px;
  padding: 10px 0 14px; }
:host > * { min-width: 0; cursor: pointer; }
@media (max-width: 1000px) { :host { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
"""


class Curves(pn.viewable.Viewer):
    """The records of a look-ahead's runs; a tap on a curve opens the step there."""

    def __init__(self, ahead: LookAhead) -> None:
        super().__init__()
        self._ahead = ahead
        self._sources = [ColumnDataSource(columns([]), name=f"run {line.letter}") for line in LINES]
        self._ends = {chart.column: ColumnDataSource(labels(chart, [], 0, 1)) for chart in CHARTS}
        self._marks = [ColumnDataSource(marks([], 0, 0, 0), name=f"collapse {line.letter}") for line in LINES]
        self._span = ColumnDataSource({"steps": [1]}, name="span")
        self._opened = ColumnDataSource({"x": []}, name="opened")
        self._x = Range1d(start=0, end=1)
        self._ticks = FixedTicker(ticks=[0])
        self._figures = {chart.column: self._drawn(chart) for chart in CHARTS}
        first = self._figures[CHARTS[0].column]
        fit = CustomJS(args={"figure": first, "span": self._span}, code=_FIT)
        first.js_on_change("inner_width", fit)
        self._span.js_on_change("data", fit)
        panes = [
            pn.pane.Bokeh(each, sizing_mode="stretch_width", height=_HEIGHT, margin=0)
            for each in self._figures.values()
        ]
        self._layout = pn.Column(
            *panes, stylesheets=[_GRID], sizing_mode="stretch_width", margin=0, css_classes=["curves"]
        )
        ahead.param.watch(self._follow, ["changed", "share"])
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _follow(self, *_: Any) -> None:
        ahead = self._ahead
        kept = [list(run.records) for run in ahead.runs] + [[] for _ in LINES[len(ahead.runs) :]]
        steps = ahead.runs[0].steps
        for source, records in zip(self._sources, kept, strict=True):
            _put(source, columns(records))
        for source, records, height in zip(self._marks, kept, _HEIGHTS, strict=True):
            _put(source, marks(records, ahead.share, steps, height))
        _put(self._span, {"steps": [steps]})
        self._ticks.ticks = [0, steps // 2, steps]
        for chart in CHARTS:
            ends, (low, high) = self._ends[chart.column], reach(chart, kept)
            self._figures[chart.column].y_range.update(start=low, end=high)
            _put(ends, labels(chart, kept, low, high))
        opened = ahead.opened
        _put(self._opened, {"x": [] if opened is None else [ahead.runs[opened[0]].records[opened[1]].step]})

    def _tapped(self, chart: Chart, event: Any) -> None:
        kept = [list(run.records) for run in self._ahead.runs]
        found = nearest(chart, kept, event.x, event.y)
        if found is not None:
            self._ahead.open(*found)

    def _drawn(self, chart: Chart) -> Any:
        plot: Any = figure(
            name=f"curve {chart.column}", height=_HEIGHT, sizing_mode="stretch_width", title=chart.title,
            x_range=self._x, y_range=Range1d(start=0.1 if chart.log else 0, end=1), toolbar_location=None, tools="",
            y_axis_type="log" if chart.log else "linear", min_border=2, min_border_left=32, outline_line_color=None,
            background_fill_color=theme.PAPER, border_fill_color=theme.PAPER,
        )  # fmt: skip
        plot.title.update(text_font=theme.FONT, text_font_size=theme.DRAWN, text_font_style="normal",
                          text_color=theme.INK, offset=-2)  # fmt: skip
        plot.xgrid.visible = False
        plot.ygrid.grid_line_color = theme.HAIR
        plot.xaxis.ticker = self._ticks
        plot.yaxis[0].ticker.update(desired_num_ticks=3, num_minor_ticks=0)
        for axis in plot.axis:
            axis.update(axis_line_color=None, major_tick_line_color=None, minor_tick_line_color=None,
                        major_label_text_color=theme.MUTED, major_label_text_font=theme.FONT,
                        major_label_text_font_size="11px")  # fmt: skip
        if chart.log:
            plot.hspan(y=1, line_color=theme.RING, line_dash=[7, 5], line_width=1.2)
        plot.vspan(x="x", source=self._opened, line_color=theme.CLOUD, line_width=5, line_alpha=0.25)
        hit: list[Any] = []
        for line, source, fell in zip(LINES, self._sources, self._marks, strict=True):
            dash = list(line.dash)
            plot.vspan(x="x", source=fell, line_color=line.color, line_dash=value(dash), line_width=1.2)
            plot.line("step", chart.column, source=source, line_color=line.color, line_dash=dash, line_width=1.8)
            hit.append(
                plot.scatter("step", chart.column, source=source, color=line.color, marker=line.marker, size=2.5)
            )
        ends = self._ends[chart.column]
        plot.scatter("x", "at", source=ends, color="color", marker="marker", size=6)
        plot.text("x", "y", "text", source=ends, text_color="color", x_offset=5, text_baseline="middle", **_LETTERS)
        if chart is CHARTS[0]:
            for line, fell in zip(LINES, self._marks, strict=True):
                plot.text("x", "y", "text", source=fell, text_color=line.color, text_align="align", x_offset="dx",
                          text_baseline="middle", **_LETTERS)  # fmt: skip
        plot.add_tools(HoverTool(renderers=hit, tooltips=f"step @step: @{chart.column}{{0.[000]}}"))
        plot.on_event(Tap, lambda event: self._tapped(chart, event))
        return plot


def _put(source: ColumnDataSource, data: dict[str, list[Any]]) -> None:
    """Send only what has changed."""
    # As text: NaN differs from itself.
    if repr(source.data) != repr(data):
        source.data = data


_LETTERS: Any = {"text_font": value(theme.FONT), "text_font_size": "11px", "background_fill_color": theme.PAPER,
                 "background_fill_alpha": 0.7}  # fmt: skip
