"""The batch law: how long the update is at each batch size, on logarithmic axes, with signal and noise told apart."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn
import param
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.plotting import figure
from panel.custom import JSComponent

from app import theme
from app.lengths import Lengths
from app.views.messages import said
from sim.batch_law import BatchLaw, Size
from sim.frame import Undetermined

_HERE = Path(__file__).with_suffix("")
_HEIGHT, _WIDTH = 250, 560
_LETTERS: Any = {"text_font": value(theme.FONT), "text_font_size": theme.DRAWN, "background_fill_color": theme.PAPER,
                 "background_fill_alpha": 0.7}  # fmt: skip


class Law(JSComponent):
    """The button, the progress and the sentence."""

    running = param.Boolean(default=False)
    taken = param.Integer(default=0)
    total = param.Integer(default=1)
    summary = param.String(default="")

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, lengths: Lengths, **params: Any) -> None:
        super().__init__(**params)
        self._lengths = lengths
        lengths.param.watch(self._follow, "changed")

    def _follow(self, *_: Any) -> None:
        made = self._lengths.measurement
        if made is not None:
            self.param.update(
                running=self._lengths.running, taken=made.taken, total=made.total, summary=self._lengths.summary()
            )

    def _handle_msg(self, data: Any) -> None:
        if said(data, "start", bool):
            self._lengths.start()
        elif said(data, "stop", bool):
            self._lengths.stop()


class LawPanel(pn.viewable.Viewer):
    """The batch law: its controls, and, once something has been measured, its picture."""

    def __init__(self, lengths: Lengths) -> None:
        super().__init__()
        self._lengths = lengths
        self._layout = pn.Column(
            Law(lengths, sizing_mode="stretch_width", margin=0), sizing_mode="stretch_width", margin=0, name="law"
        )
        self._sources: dict[str, ColumnDataSource] = {}
        self._x, self._y = Range1d(start=1, end=2), Range1d(start=1, end=2)
        self._ticks, self._heights = FixedTicker(ticks=[]), FixedTicker(ticks=[])
        lengths.param.watch(self._follow, "changed")

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _follow(self, *_: Any) -> None:
        made, law = self._lengths.measurement, self._lengths.law
        if made is None or (law is None and not self._sources):
            return
        if not self._sources:
            self._sources = {name: ColumnDataSource(data) for name, data in drawn([], None).items()}
            self._layout.append(
                pn.pane.Bokeh(self._drawn(), height=_HEIGHT, max_width=_WIDTH, sizing_mode="stretch_width", margin=0)
            )
        for name, data in drawn(made.sizes, law).items():
            if repr(self._sources[name].data) != repr(data):
                self._sources[name].data = data
        seen = self._sources["sizes"].data
        if len(seen["x"]):
            self._ticks.ticks = list(seen["x"])
            self._x.update(start=min(seen["x"]) / 1.4, end=max(seen["x"]) * 2.2)
            low, high = min([*seen["low"], *self._sources["level"].data["y"]]) / 1.3, max(seen["high"]) * 1.3
            self._y.update(start=low, end=high)
            self._heights.ticks = round_numbers(low, high)

    def _drawn(self) -> Any:
        plot: Any = figure(
            name="batch law", height=_HEIGHT, max_width=_WIDTH, sizing_mode="stretch_width",
            x_range=self._x, y_range=self._y, x_axis_type="log", y_axis_type="log",
            toolbar_location=None, tools="", outline_line_color=None, min_border=4,
            background_fill_color=theme.PAPER, border_fill_color=theme.PAPER, title="Length of the mean gradient",
            x_axis_label="rollouts a batch",
        )  # fmt: skip
        plot.title.update(text_font=theme.FONT, text_font_size=theme.DRAWN, text_font_style="normal",
                          text_color=theme.INK)  # fmt: skip
        plot.xgrid.visible = False
        plot.ygrid.grid_line_color = theme.HAIR
        plot.xaxis.ticker = self._ticks
        plot.yaxis.ticker = self._heights
        for axis in plot.axis:
            axis.update(axis_line_color=None, major_tick_line_color=None, minor_tick_line_color=None,
                        major_label_text_color=theme.MUTED, major_label_text_font=theme.FONT,
                        axis_label_text_font=theme.FONT, axis_label_text_color=theme.MUTED,
                        axis_label_text_font_style="normal", axis_label_text_font_size=theme.DRAWN)  # fmt: skip
        source = self._sources
        plot.vspan(x="x", source=source["scale"], line_color=theme.MUTED, line_width=1.2)
        plot.text("x", "y", "text", source=source["scale"], text_color=theme.MUTED, text_align="align", x_offset="dx",
                  y_offset=12, **_LETTERS)  # fmt: skip
        plot.line("x", "y", source=source["level"], line_color=theme.UPDATE, line_dash=[2, 4], line_width=1.5)
        plot.line("x", "y", source=source["fit"], line_color=theme.RING, line_dash=[7, 5], line_width=1.8)
        plot.segment("x", "low", "x", "high", source=source["sizes"], line_color=theme.INK, line_width=1.4)
        plot.scatter("x", "y", source=source["sizes"], color=theme.INK, size=6, name="lengths")
        plot.text("x", "y", "text", source=source["names"], text_color="color", x_offset=6, text_baseline="middle",
                  **_LETTERS)  # fmt: skip
        return plot


def round_numbers(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each decade between two lengths."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [each for decade in decades for digit in (1, 2, 5) if low <= (each := digit * 10.0**decade) <= high]


def drawn(sizes: Sequence[Size], law: BatchLaw | None) -> dict[str, dict[str, list[Any]]]:
    """What the picture draws: the lengths with their standard errors, the fit, the signal's level, the noise scale."""
    seen = [size for size in sizes if size.squared > 0]
    result: dict[str, dict[str, list[Any]]] = {
        "sizes": {
            "x": [size.rollouts for size in seen],
            "y": [size.root_mean_square for size in seen],
            "low": [_root(max(size.squared - size.error, size.squared / 4)) for size in seen],
            "high": [_root(size.squared + size.error) for size in seen],
        },
        "fit": {"x": [], "y": []},
        "level": {"x": [], "y": []},
        "scale": {"x": [], "y": [], "text": [], "align": [], "dx": []},
        "names": {"x": [], "y": [], "text": [], "color": []},
    }
    if law is None or isinstance(law.signal, Undetermined) or isinstance(law.noise, Undetermined):
        return result
    group = seen[0].rollouts / seen[0].prompts
    x = np.geomspace(seen[0].rollouts, seen[-1].rollouts, 40)
    squared = law.signal + law.noise * group / x
    if squared.min() > 0:
        result["fit"] = {"x": x.tolist(), "y": np.sqrt(squared).tolist()}
        _name(result, x[-1], _root(squared[-1]), "fit", theme.RING)
    if not isinstance(law.noise_scale_rollouts, Undetermined):
        level = _root(law.signal)
        result["level"] = {"x": [x[0], x[-1]], "y": [level, level]}
        # Where the batch is smallest the lengths are farthest above it.
        _name(result, x[0], level, "signal alone", theme.UPDATE)
        if x[0] / 1.4 < law.noise_scale_rollouts < x[-1] * 2:
            top = max(result["sizes"]["high"])
            right = law.noise_scale_rollouts < x[-1] / 3
            result["scale"] = {
                "x": [law.noise_scale_rollouts], "y": [top], "text": ["signal = noise"],
                "align": ["left" if right else "right"], "dx": [5 if right else -5],
            }  # fmt: skip
    return result


def _name(result: dict[str, dict[str, list[Any]]], x: float, y: float, text: str, color: str) -> None:
    for column, entry in zip(("x", "y", "text", "color"), (float(x), y, text, color), strict=True):
        result["names"][column].append(entry)


def _root(squared: Any) -> float:
    return float(np.sqrt(squared))
