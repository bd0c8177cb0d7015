"""The preset menu: choose, save and load."""

import base64
import binascii
import re
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from app import theme
from app.session import DEFAULT, Session
from app.views.messages import said
from sim.errors import InvalidInput
from sim.presets import MAX_BYTES, builtin, dumps_preset, names, parse_preset

_HERE = Path(__file__).with_suffix("")


class Menu(JSComponent):
    """The head of the page. What comes from the browser is checked as strictly as a file is."""

    presets = param.List(default=[])
    current = param.String(default="", doc='the preset\'s name; "" for one that came from a file')
    title = param.String(default="")
    first = param.String(default="", constant=True, doc="what an address opens that names none")
    limit = param.Integer(default=MAX_BYTES, constant=True)

    _esm = _HERE.with_suffix(".js")
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(presets=[[name, builtin(name).title] for name in names()], first=DEFAULT, **params)
        self._session = session
        session.param.watch(self._follow, ["preset", "preset_name"])
        self._follow()

    def _follow(self, *_: Any) -> None:
        self.param.update(current=self._session.preset_name or "", title=self._session.preset.title)

    def _handle_msg(self, data: Any) -> None:
        wanted, origin, size = said(data, "open", str), said(data, "file", str), said(data, "size", int)
        try:
            if wanted is not None:
                self._session.open(builtin(wanted), wanted)
            elif said(data, "save", bool):
                self._save()
            elif origin is not None and size is not None:
                self._load(origin[:120], size, said(data, "base64", str))
        except InvalidInput as error:
            self._session.refuse(error.problems)

    def _save(self) -> None:
        preset = self._session.current_preset()
        slug = self._session.preset_name
        if slug is None:
            slug = re.sub(r"[^a-z0-9]+", "-", preset.title.lower()).strip("-") or "preset"
        elif preset != self._session.preset:
            slug += "-changed"
        self._send_msg({"text": dumps_preset(preset), "filename": f"{slug}.json"})

    def _load(self, origin: str, size: int, encoded: str | None) -> None:
        if size > MAX_BYTES or encoded is None:
            raise InvalidInput([f"{origin}: got {size:,} bytes, allowed {MAX_BYTES:,}; load a smaller file"])
        try:
            content = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise InvalidInput([f"{origin}: did not arrive whole; load it again"]) from None
        self._session.open(parse_preset(content, origin))
