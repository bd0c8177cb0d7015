"""The way back from a zoom: a button over the picture that shows all of it again."""

from pathlib import Path

import param

from app import theme
from app.views.messages import Component

_HERE = Path(__file__).with_suffix("")


class Fit(Component):
    """The button, which is there only while the picture is zoomed or moved; the server hears nothing of it."""

    suffix = param.String(default="", constant=True, doc="ends the name of the figure")
    scale = param.String(default="view", constant=True, doc="the name of the source that has the picture's view")

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012
