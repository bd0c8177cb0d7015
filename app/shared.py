"""One scale for pictures of the plane: centre, reach and zoom, shared by all that stand side by side."""

from typing import Any

import param
from bokeh.models import ColumnDataSource, CustomJS, Range1d

#: How far a picture reaches before anything is known of what it must show.
HALF = 1.75

# The ranges follow from a centre and a half-width that the smaller side of the picture spans, which is what keeps
# one unit as wide as it is high; neither match_aspect nor DataRange1d does that and keeps the zoom.
_FIT = """
const w = figure.inner_width, h = figure.inner_height
if (!(w > 0 && h > 0)) return
const {x: [x], y: [y], half: [half]} = view.data, unit = 2 * half / Math.min(w, h)
figure.x_range.setv({start: x - unit * w / 2, end: x + unit * w / 2})
figure.y_range.setv({start: y - unit * h / 2, end: y + unit * h / 2})
"""
_KEEP = """
const w = figure.inner_width, h = figure.inner_height, {x_range: X, y_range: Y} = figure
if (!(w > 0 && h > 0)) return
view.data.x[0] = (X.start + X.end) / 2
view.data.y[0] = (Y.start + Y.end) / 2
view.data.half[0] = (X.end - X.start) / w * Math.min(w, h) / 2
"""
_AGAIN = "view.data = {x: [0], y: [0], half: [view.tags[0]]}"


class Shared(param.Parameterized):
    """The ranges and the view of one picture, or of several of equal size in one document.

    Zooming or panning one moves all. `half` is how far they reach from their centre before anybody zooms: the most that
    any of them needs.
    """

    half = param.Number(default=HALF, bounds=(0, None))

    def __init__(self, suffix: str = "") -> None:
        super().__init__()
        # Where a visitor looks is the browser's: it tells the server of no turn of a wheel.
        self.x_range, self.y_range = (Range1d(start=-HALF, end=HALF, syncable=False) for _ in range(2))
        self.view = ColumnDataSource(
            {"x": [0.0], "y": [0.0], "half": [HALF]}, name="view" + suffix, tags=[HALF], syncable=False
        )
        self._needs: dict[Any, float] = {}

    def require(self, who: Any, half: float) -> None:
        """Note how far a picture must reach; where that changes how far all do, they are centred and zoomed anew."""
        self._needs[who] = half
        self._settle()

    def release(self, who: Any) -> None:
        """Reach no farther for a picture that is gone."""
        self._needs.pop(who, None)
        self._settle()

    def centre(self) -> None:
        """Undo zoom and pan."""
        self.view.data = {"x": [0.0], "y": [0.0], "half": [self.half]}

    def attach(self, plot: Any) -> None:
        """Let a figure with these ranges keep one unit as wide as it is high, and its zoom, whatever its size."""
        fit, keep = (CustomJS(args={"figure": plot, "view": self.view}, code=code) for code in (_FIT, _KEEP))
        for size in ("inner_width", "inner_height"):
            plot.js_on_change(size, fit)
        self.view.js_on_change("data", fit)
        for span in (self.x_range, self.y_range):
            span.js_on_change("start", keep)
        plot.js_on_event("doubletap", CustomJS(args={"view": self.view}, code=_AGAIN))

    def _settle(self) -> None:
        half = max(self._needs.values(), default=HALF)
        if half != self.half:
            self.view.tags = [half]
            self.half = half
            self.centre()
