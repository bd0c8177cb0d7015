"""Pointing at arrows and picking them out: the plane's side of what the lens does with words."""

from pathlib import Path
from typing import Any

import param

from app.session import Session
from app.views.messages import Component, said

_HERE = Path(__file__).with_suffix("")


class Pointing(Component):
    """Points within the browser, at an arrow and at its word at once; a tap picks an arrow out, another lets it go.

    Args:
        session: whose look says what is picked out.
        suffix: ends the names of the plane's figure and sources.
        linked: whether the plane tells the rest of the page what it points at, and hears of it.
    """

    suffix = param.String(default="", constant=True)
    linked = param.Boolean(default=True, constant=True)

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [":host { position: absolute; width: 0; height: 0; }"]  # noqa: RUF012

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(**params)
        self._session = session

    def _handle_msg(self, data: Any) -> None:
        site, frame, look = said(data, "site", int), self._session.frame, self._session.look
        if site is not None and frame is not None and 0 <= site < len(frame.sites.text):
            look.selected = None if look.selected == site else site
