"""The batch law: how long the update is at each batch size, on logarithmic axes, with signal and noise told apart."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn
import param
from bokeh.core.properties import field, value
from bokeh.models import CategoricalColorMapper, ColumnDataSource, FixedTicker, Range1d
from bokeh.plotting import figure

from app import theme
from app.lengths import Lengths
from app.paint import Paints
from app.views.curves import bare
from app.views.messages import Component, said
from sim.batch_law import BatchLaw, Size
from sim.frame import Undetermined

_HERE = Path(__file__).with_suffix("")
_HEIGHT, _WIDTH = 250, 560
#: The lines that carry their name, and their colours, as roles of the palette.
_NAMED = {"fit": "ring", "signal alone": "update"}


class Law(Component):
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
        self._paint = Paints(lengths.session.look)
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
            title="Length of the mean gradient", x_axis_label="rollouts a batch",
        )  # fmt: skip
        bare(plot, self._paint)
        plot.xaxis.ticker = self._ticks
        plot.yaxis.ticker = self._heights
        source, paint = self._sources, self._paint
        paint(plot.vspan(x="x", source=source["scale"]).glyph, line_color="muted", line_width=1.2)
        scale = self._letters(plot, source["scale"], text_align="align", x_offset="dx", y_offset=12)
        paint(scale, text_color="muted")
        level = plot.line("x", "y", source=source["level"], line_dash=[2, 4])
        paint(level.glyph, line_color="update", line_width=1.5)
        paint(plot.line("x", "y", source=source["fit"], line_dash=[7, 5]).glyph, line_color="ring", line_width=1.8)
        paint(plot.segment("x", "low", "x", "high", source=source["sizes"]).glyph, line_color="ink", line_width=1.4)
        lengths = plot.scatter("x", "y", source=source["sizes"], name="lengths")
        paint(lengths.glyph, fill_color="ink", line_color="ink", size=6)
        colors = paint(CategoricalColorMapper(factors=list(_NAMED)), palette=tuple(_NAMED.values()))
        self._letters(plot, source["names"], text_color=field("text", colors), x_offset=6, text_baseline="middle")
        return plot

    def _letters(self, plot: Any, source: ColumnDataSource, **given: Any) -> Any:
        drawn = plot.text("x", "y", "text", source=source, text_font=value(theme.FONT), background_fill_alpha=0.7,
                          **given)  # fmt: skip
        return self._paint(drawn.glyph, text_font_size=12, background_fill_color="paper")


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
        "names": {"x": [], "y": [], "text": []},
    }
    if law is None or isinstance(law.signal, Undetermined) or isinstance(law.noise, Undetermined):
        return result
    group = seen[0].rollouts / seen[0].prompts
    x = np.geomspace(seen[0].rollouts, seen[-1].rollouts, 40)
    squared = law.signal + law.noise * group / x
    if squared.min() > 0:
        result["fit"] = {"x": x.tolist(), "y": np.sqrt(squared).tolist()}
        _name(result, x[-1], _root(squared[-1]), "fit")
    if not isinstance(law.noise_scale_rollouts, Undetermined):
        level = _root(law.signal)
        result["level"] = {"x": [x[0], x[-1]], "y": [level, level]}
        # Where the batch is smallest the lengths are farthest above it.
        _name(result, x[0], level, "signal alone")
        if x[0] / 1.4 < law.noise_scale_rollouts < x[-1] * 2:
            top = max(result["sizes"]["high"])
            right = law.noise_scale_rollouts < x[-1] / 3
            result["scale"] = {
                "x": [law.noise_scale_rollouts], "y": [top], "text": ["signal = noise"],
                "align": ["left" if right else "right"], "dx": [5 if right else -5],
            }  # fmt: skip
    return result


def _name(result: dict[str, dict[str, list[Any]]], x: float, y: float, text: str) -> None:
    for column, entry in zip(("x", "y", "text"), (float(x), y, text), strict=True):
        result["names"][column].append(entry)


def _root(squared: Any) -> float:
    return float(np.sqrt(squared))
