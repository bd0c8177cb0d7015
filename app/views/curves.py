"""The curves of a look-ahead: each reading of its runs, step by step, in a small picture of its own."""

from typing import Any

import panel as pn
from bokeh.core.properties import field, value
from bokeh.events import Tap
from bokeh.models import CategoricalColorMapper, ColumnDataSource, CustomJS, FixedTicker, HoverTool, Range1d
from bokeh.plotting import figure

from app import theme
from app.charts import CHARTS, LINES, Chart, Line, columns, labels, marks, nearest, reach
from app.lookahead import LookAhead
from app.paint import Paints

_HEIGHT = 148
#: Where the words beside the lines of a collapse stand: between a good accuracy and none.
_HEIGHTS = (0.55, 0.25)
# The numbers where curves end take the same room on a telephone as on a wall.
_FIT = """
const w = figure.inner_width, {steps: [steps], type: [type]} = span.data
if (w > 80) figure.x_range.setv({start: -0.03 * steps, end: steps * (w - 8) / (w - 8 - 48 * type)})
"""
_GRID = """
:host { display: grid !important; grid-template-columns: repeat(5, minmax(0, 1fr)); gap: 8px 14px;
  padding: 10px 0 14px; }
:host > * { min-width: 0; cursor: pointer; }
@media (max-width: 1000px) { :host { grid-template-columns: repeat(3, minmax(0, 1fr)); } }
@media (max-width: 700px) { :host { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
"""


class Curves(pn.viewable.Viewer):
    """The records of a look-ahead's runs; a tap on a curve opens the step there."""

    def __init__(self, ahead: LookAhead) -> None:
        super().__init__()
        self._ahead, self._look = ahead, ahead.session.look
        self._paint = Paints(self._look)
        self._sources = [ColumnDataSource(columns([]), name=f"run {line.letter}") for line in LINES]
        self._ends = {chart.column: ColumnDataSource(labels(chart, [], 0, 1)) for chart in CHARTS}
        self._marks = [ColumnDataSource(marks([], 0, 0, 0), name=f"collapse {line.letter}") for line in LINES]
        self._span = ColumnDataSource({"steps": [1], "type": [1.0]}, name="span")
        self._colors = self._paint(
            CategoricalColorMapper(factors=[line.letter for line in LINES]), palette=tuple(line.role for line in LINES)
        )
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
        self._look.param.watch(self._follow, "theme")
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
        _put(self._span, {"steps": [steps], "type": [self._look.palette.type]})
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
        )  # fmt: skip
        bare(plot, self._paint)
        plot.title.offset = -2
        plot.xaxis.ticker = self._ticks
        plot.yaxis[0].ticker.update(desired_num_ticks=3, num_minor_ticks=0)
        if chart.log:
            self._paint(plot.hspan(y=1, line_dash=[7, 5]).glyph, line_color="ring", line_width=1.2)
        opened = plot.vspan(x="x", source=self._opened, line_alpha=0.25)
        self._paint(opened.glyph, line_color="cloud", line_width=5)
        hit = [self._curve(plot, chart, *each) for each in zip(LINES, self._sources, self._marks, strict=True)]
        ends, colors = self._ends[chart.column], field("letter", self._colors)
        self._paint(plot.scatter("x", "at", source=ends, color=colors, marker="marker").glyph, size=6)
        self._letters(plot, ends, x_offset=5, text_color=colors)
        if chart is CHARTS[0]:
            for line, fell in zip(LINES, self._marks, strict=True):
                words = self._letters(plot, fell, text_align="align", x_offset="dx")
                self._paint(words, text_color=line.role)
        plot.add_tools(HoverTool(renderers=hit, tooltips=_TOLD.format(column=chart.column), show_arrow=False))
        plot.on_event(Tap, lambda event: self._tapped(chart, event))
        return plot

    def _curve(self, plot: Any, chart: Chart, line: Line, source: ColumnDataSource, fell: ColumnDataSource) -> Any:
        """Draw a run, and where it collapsed; the marks, for the hover to find."""
        dash = list(line.dash)
        self._paint(plot.vspan(x="x", source=fell, line_dash=value(dash)).glyph, line_color=line.role, line_width=1.2)
        drawn = plot.line("step", chart.column, source=source, line_dash=dash)
        self._paint(drawn.glyph, line_color=line.role, line_width=1.8)
        marks = plot.scatter("step", chart.column, source=source, marker=line.marker)
        self._paint(marks.glyph, fill_color=line.role, line_color=line.role, size=2.5)
        return marks

    def _letters(self, plot: Any, source: ColumnDataSource, **given: Any) -> Any:
        drawn = plot.text(
            "x", "y", "text", source=source, text_font=value(theme.FONT), text_baseline="middle",
            background_fill_alpha=0.7, **given,
        )  # fmt: skip
        return self._paint(drawn.glyph, text_font_size=11, background_fill_color="paper")


def bare(plot: Any, paint: Paints) -> None:
    """Leave of a figure's frame only what is read: its title, its numbers and the lines across."""
    paint(plot, background_fill_color="paper", border_fill_color="paper")
    plot.title.update(text_font=theme.FONT, text_font_style="normal")
    paint(plot.title, text_color="ink", text_font_size=12)
    plot.xgrid.visible = False
    for grid in plot.ygrid:
        paint(grid, grid_line_color="hair")
    for axis in plot.axis:
        axis.update(
            axis_line_color=None, major_tick_line_color=None, minor_tick_line_color=None,
            major_label_text_font=theme.FONT, axis_label_text_font=theme.FONT, axis_label_text_font_style="normal",
        )  # fmt: skip
        paint(axis, major_label_text_color="muted", major_label_text_font_size=11, axis_label_text_color="muted",
              axis_label_text_font_size=12)  # fmt: skip


def _put(source: ColumnDataSource, data: dict[str, list[Any]]) -> None:
    """Send only what has changed."""
    # As text: NaN differs from itself.
    if repr(source.data) != repr(data):
        source.data = data


_TOLD = f"""
<div style="margin: -6px; padding: 4px 8px; font: {theme.SMALL}/1.4 {theme.FONT}; color: var(--ink);
  background: var(--field); border: 1px solid var(--edge); border-radius: 5px">
  step @step: @{{column}}{{{{0.[000]}}}}</div>
"""
