"""Pictures of one theme to an animated GIF: its few colours shared by all frames, so that nothing flickers."""

import io
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.palette import Palette

#: Shades between two colours of a theme; a GIF may have 256 colours in all.
SHADES = 16
#: What lies on what: each colour on the paper, and what may lie on arrows or on the update.
_PAIRS = (
    *(("paper", each) for each in ("ink", "muted", "hair", "cloud", "update", "ring", "inside", "near", "past")),
    *(("cloud", each) for each in ("ink", "update", "ring")),
    ("update", "ring"),
)


def animated(pictures: Iterator[NDArray[np.uint8]], palette: Palette, fps: float, comment: str) -> bytes:
    """Pictures as the bytes of a GIF that begins again when it ends, each as long on show.

    Args:
        pictures: each [height, width, 3], red, green and blue.
        palette: the theme that they are drawn in.
        fps: pictures a second; a GIF counts time in hundredths of a second.
        comment: goes into the file beside them.
    """
    colours, file = Colours(palette), io.BytesIO()
    drawn = (colours.image(each) for each in pictures)
    next(drawn).save(
        file, "GIF", save_all=True, append_images=drawn, duration=max(2, round(100 / fps)) * 10, loop=0,
        comment=comment.encode(), optimize=False,
    )  # fmt: skip
    return file.getvalue()


class Colours:
    """The colours of a theme in shades, and the nearest of them for any colour.

    They depend on no picture: a small mark keeps its colour beside large ones.
    """

    def __init__(self, palette: Palette) -> None:
        share = np.linspace(0, 1, SHADES)[:, None]
        mixed = [_rgb(palette, one) * (1 - share) + _rgb(palette, other) * share for one, other in _PAIRS]
        self.shades = np.unique(np.concatenate(mixed).round().astype(np.int64), axis=0)
        self._nearest, self._known = np.zeros(1 << 24, np.uint8), np.zeros(1 << 24, np.bool_)

    def image(self, picture: NDArray[np.uint8]) -> Image.Image:
        """A picture in these colours."""
        red, green, blue = (picture[..., i].astype(np.int64) for i in range(3))
        packed = red << 16 | green << 8 | blue
        new = np.unique(packed[~self._known[packed]])
        colours = np.stack([new >> 16, new >> 8 & 255, new & 255], axis=1)
        for start in range(0, len(new), 4096):
            far = ((colours[start : start + 4096, None] - self.shades) ** 2).sum(axis=2)
            self._nearest[new[start : start + 4096]] = far.argmin(axis=1)
        self._known[new] = True
        image = Image.fromarray(self._nearest[packed])
        image.putpalette(self.shades.astype(np.uint8).tobytes())
        return image


def _rgb(palette: Palette, role: str) -> NDArray[np.float64]:
    colour = getattr(palette, role)
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], float)
