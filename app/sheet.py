"""A sheet of pixels to draw on: lines, shapes and letters by their place, written as PNG, SVG or PDF.

Only here is matplotlib named; it takes half a second to load, so who draws imports this file no earlier than that.
"""

import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.transforms import Affine2D
from numpy.typing import NDArray

from app.letters import Label, of_xml

Floats = NDArray[np.float64]
Box = tuple[float, float, float, float]

#: Points an inch, so that one point is one pixel at 1x.
DPI = 72
#: matplotlib is set up for the whole process, and its fonts are not made for threads: one sheet at a time.
_LOCK = threading.RLock()
#: All that the process's settings could change in a sheet.
_SETTINGS: Any = {
    "agg.path.chunksize": 0, "figure.autolayout": False,
    "figure.constrained_layout.use": False, "font.sans-serif": ["DejaVu Sans"], "lines.scale_dashes": False,
    "path.effects": [], "path.simplify": False, "path.sketch": None, "path.snap": False, "pdf.compression": 6,
    "pdf.fonttype": 42, "pdf.inheritcolor": False, "pdf.use14corefonts": False, "svg.fonttype": "none",
    "svg.hashsalt": "gradcloud", "svg.id": None, "text.antialiased": True, "text.hinting": "no_hinting",
    "text.usetex": False,
}  # fmt: skip


@contextmanager
def alone() -> Iterator[None]:
    """Whoever draws a sheet does so within this: alone, and by settings that no notebook or style changes."""
    with _LOCK, matplotlib.rc_context(_SETTINGS):
        yield


class Sheet:
    """A picture under way; x counts pixels to the right, y down, and what is drawn later lies on top.

    Args:
        width: of the sheet, in pixels at 1x, as are all lengths.
        height: likewise.
        paper: the colour that it has at first.
        real: whether letters stay text in the fonts of who looks at it, as in SVG.
    """

    def __init__(self, width: int, height: int, paper: str, real: bool = False) -> None:
        self.width, self.height, self.paper, self._real = width, height, paper, real
        self._figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor=paper, edgecolor="none")
        self._pixels = Affine2D().scale(1 / DPI, -1 / DPI).translate(0, height / DPI) + self._figure.dpi_scale_trans
        self._window: Box | None = None

    @contextmanager
    def within(self, box: Box) -> Iterator[None]:
        """Draw nothing outside a box (left, top, right, bottom) meanwhile."""
        self._window = box
        yield
        self._window = None

    def lines(
        self, name: str, ends: Floats, color: str, width: float | Floats = 1.0, alpha: float | Floats = 1.0,
        dash: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        """Straight lines, from `ends` [n, 2, 2]."""
        style: Any = "solid" if dash is None else (0, tuple(dash))
        if len(ends) == 1:
            self._path(name, Path(ends[0]), "none", float(np.max(alpha)), color, float(np.max(width)), dash)
        elif len(ends):
            lines = LineCollection(
                list(ends), colors=to_rgba_array([color] * len(ends), alpha), linewidths=width, linestyles=[style],
                capstyle="butt",
            )  # fmt: skip
            self._add(name, lines, ends)

    def polygons(
        self, name: str, corners: Floats, fill: str, alpha: float = 1.0, edge: str = "none", width: float = 0.0
    ) -> None:
        """Filled polygons, from `corners` [n, m, 2]."""
        if len(corners) == 1:
            self._path(name, Path([*corners[0], corners[0][0]], closed=True), fill, alpha, edge, width)
        elif len(corners):
            face = to_rgba(fill, alpha)
            shapes = PolyCollection(list(corners), facecolors=[face], edgecolors=edge, linewidths=width)
            self._add(name, shapes, corners)

    def outline(self, name: str, points: Floats, color: str, width: float, dash: Sequence[float]) -> None:
        """A line through `points` [n, 2]."""
        self._path(name, Path(points), "none", 1.0, color, width, dash)

    def circle(
        self, name: str, center: Sequence[float] | Floats, radius: float, fill: str = "none", edge: str = "none",
        width: float = 0.0, alpha: float = 1.0,
    ) -> None:  # fmt: skip
        """A circle."""
        self._path(name, Path.circle((center[0], center[1]), radius), fill, alpha, edge, width)

    def box(self, name: str, box: Box, fill: str, alpha: float = 1.0) -> None:
        """A filled box (left, top, right, bottom)."""
        self._path(name, Path(_corners(box), closed=True), fill, alpha, "none", 0)

    def text(
        self, x: float, y: float, said: str, size: float, color: str, bold: bool = False, align: str = "left"
    ) -> None:
        """A line of text whose letters stand on `y`; left, center or right of it is at `x`."""
        if said:
            label = Label(x, y, said, size, color, bold, align, self._real)
            self._add("", label, np.array([[x, y]]))

    def png(self, scale: int, texts: Mapping[str, str]) -> bytes:
        """The sheet as PNG of `scale` times its size, with texts beside the picture."""
        file, canvas = io.BytesIO(), self._raster(scale)
        canvas.print_png(file, metadata={"Software": None, **texts})
        return file.getvalue()

    def pixels(self, scale: int) -> NDArray[np.uint8]:
        """The sheet as red, green and blue [height, width, 3]."""
        canvas = self._raster(scale)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()

    def svg(self, title: str, creator: str, description: str) -> bytes:
        """The sheet as SVG, of its size in pixels."""
        file = io.StringIO()
        about = {"Date": None, "Title": of_xml(title), "Creator": creator, "Description": description}
        FigureCanvasSVG(self._figure).print_svg(file, metadata=about)
        points = f'width="{self.width}pt" height="{self.height}pt"'
        return file.getvalue().replace(points, points.replace("pt", "px"), 1).encode()

    def pdf(self, about: Mapping[str, str]) -> bytes:
        """The sheet as PDF, a pixel a point."""
        file = io.BytesIO()
        FigureCanvasPdf(self._figure).print_pdf(file, metadata={"CreationDate": None, **about})
        return file.getvalue()

    def _raster(self, scale: int) -> FigureCanvasAgg:
        self._figure.set_dpi(DPI * scale)
        return FigureCanvasAgg(self._figure)

    def _path(
        self, name: str, path: Path, fill: str, alpha: float, edge: str, width: float,
        dash: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        style: Any = "solid" if dash is None else (0, tuple(dash))
        face, line = ("none" if color == "none" else to_rgba(color, alpha) for color in (fill, edge))
        patch = PathPatch(
            path, facecolor=face, edgecolor=line, linewidth=width, linestyle=style, capstyle="butt", joinstyle="round"
        )
        self._add(name, patch, np.asarray(path.vertices))

    def _add(self, name: str, artist: Artist, points: Floats) -> None:
        artist.set_zorder(1)
        artist.set_gid(name or None)
        artist.set_transform(self._pixels)
        self._figure.add_artist(artist)
        if self._window is not None:
            left, top, right, bottom = self._window
            x, y = points[..., 0], points[..., 1]
            # Clipping makes thousands of arrows larger in SVG and slower, so what lies within is not clipped.
            if x.min() < left or x.max() > right or y.min() < top or y.max() > bottom:
                artist.set_clip_path(Path(_corners(self._window), closed=True), self._pixels)


def _corners(box: Box) -> list[tuple[float, float]]:
    left, top, right, bottom = box
    return [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
