"""How a visitor looks at what is on show: nothing here changes a frame, and no event of the log records it."""

from typing import Any

import param

from app.palette import LIGHT, THEMES, Palette
from sim.link import LOOKS

#: How the picture draws lengths, in words.
RADII = dict(zip(LOOKS["scale"], ("logarithmic", "linear"), strict=True))
READINGS, TOKENS, TOUR = LOOKS["side"]


class Look(param.Parameterized):
    """Theme and scale of the picture, the token that is picked out, and what the page points at."""

    theme: Any = param.Selector(default="light", objects=list(LOOKS["theme"]))
    radius: Any = param.Selector(default="log", objects=list(RADII), doc="how the picture draws lengths")
    selected = param.Integer(
        default=None, allow_None=True, doc="the site that is picked out, by its place in the frame"
    )
    side: Any = param.Selector(default=READINGS, objects=list(LOOKS["side"]), doc="what stands beside the picture")
    spotlight = param.String(default="", doc="the dial or reading that a tour points at; its name")

    @property
    def palette(self) -> Palette:
        """The colours of the theme."""
        return THEMES.get(self.theme, LIGHT)
