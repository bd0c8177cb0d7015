"""The parts of the page by name, for who moves through it without seeing it whole; and the ways past the controls."""

from pathlib import Path

import param

from app import theme
from app.views.messages import Component

_HERE = Path(__file__).with_suffix("")
#: The parts of a visitor's page, by their class: the landmark that each is, and its name.
PICTURE = {
    "menu": ("banner", "gradcloud"), "plane": ("main", "Picture"), "dials": ("form", "Dials"),
    "side": ("complementary", "Readings"), "player": ("region", "Player"), "ahead": ("region", "Runs ahead"),
    "lesson": ("region", "Lesson"),
}  # fmt: skip
SKIPS = (("plane", "to the picture"), ("side", "to the readings"))


class Landmarks(Component):
    """Roles and names for the parts of the page around it, and links that skip to some; the first thing on the page."""

    parts = param.List(
        default=[[name, *landmark] for name, landmark in PICTURE.items()], constant=True,
        doc="class, role and name of each part; a part that is not on the page is passed over",
    )  # fmt: skip
    skips = param.List(default=[list(each) for each in SKIPS], constant=True, doc="class and words of each link")

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012
