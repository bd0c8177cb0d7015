"""The page in a frame: what it leaves to the page around it, and what is drawn of it there."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from app import theme
from app.views.messages import Component
from app.views.script import script

_HERE = Path(__file__).with_suffix("")
_FRAME = _HERE.with_name("frame.css").read_text("utf-8")
#: What holds the parts that stand within others, by their names.
_WITHIN = {"caption": ":host(.caption)", "tabs": ".tabs", "readings": ".readings", "log": ".event-log"}


class Embedded(Component):
    """Leaves wheel and keys to the page around until somebody presses into this one; tells when nobody can see it."""

    _esm = script(_HERE)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012


def dressed(page: Any, hidden: Iterable[str]) -> None:
    """Let every component of a page look as it does in a frame, with the parts that stand within others left out."""
    without = ", ".join(_WITHIN[name] for name in sorted(_WITHIN.keys() & set(hidden)))
    style = _FRAME + (f"{without} {{ display: none !important; }}\n" if without else "")
    for each in page.select():
        each.stylesheets = [*each.stylesheets, style]
