"""The witness: says when the browser has drawn what was sent to it."""

from pathlib import Path
from typing import Any

import param

from app import theme
from app.seen import Seen
from app.views.messages import Component, said

_HERE = Path(__file__).with_suffix("")


class Witness(Component):
    """Answers the questions of one page's player; it is on every page that plays, and takes no room there."""

    asked = param.Integer(default=0, doc="the number of the last question")

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [theme.BASE, ":host { position: absolute; width: 0; height: 0; }"]  # noqa: RUF012

    def __init__(self, seen: Seen, **params: Any) -> None:
        super().__init__(asked=seen.asked, **params)
        self._seen = seen
        seen.param.watch(lambda change: self.param.update(asked=change.new), "asked")
        seen.watch()

    def _handle_msg(self, data: Any) -> None:
        number = said(data, "drawn", int)
        if number is not None:
            self._seen.answer(number)
