"""The head of the page: choose, save and load a preset; the other pages; the theme."""

import base64
import binascii
import re
from pathlib import Path
from typing import Any

import param

from app.compare import FEWEST, filled
from app.palette import THEMES
from app.session import DEFAULT, Session
from app.shortcuts import BY_ACT, HELP, button, preset_act
from app.theme import BASE
from app.views.messages import Component, said
from app.views.script import script
from sim.errors import InvalidInput
from sim.presets import MAX_BYTES, builtin, dumps_preset, names, parse_preset

_HERE = Path(__file__).with_suffix("")
#: The families of presets, by the first part of their names.
FAMILIES = {
    "opsd": "The student as its own teacher",
    "opd": "Distillation from a teacher",
    "rl": "Reinforcement learning",
    "sft": "Supervised fine-tuning",
}


class Menu(Component):
    """The head of the page. What comes from the browser is checked as strictly as a file is."""

    families = param.List(default=[], constant=True, doc="each family with its presets: name, title and key")
    themes = param.List(default=list(THEMES), constant=True)
    keys = param.Dict(default=button(HELP), constant=True)
    current = param.String(default="", doc='the preset\'s name; "" for one that came from a file')
    title = param.String(default="")
    first = param.String(default="", constant=True, doc="what an address opens that names none")
    limit = param.Integer(default=MAX_BYTES, constant=True)
    theme = param.String(default="light")
    compared = param.String(default="", doc="the presets that the page of comparison opens with")

    _esm = script(_HERE)
    _stylesheets = [BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(families=families(), first=DEFAULT, **params)
        self._session = session
        session.param.watch(self._follow, ["preset", "preset_name"])
        session.look.param.watch(self._follow, "theme")
        self._follow()

    def _follow(self, *_: Any) -> None:
        name = self._session.preset_name
        self.param.update(
            current=name or "", title=self._session.preset.title, theme=self._session.look.theme,
            compared=",".join(filled([name or DEFAULT], FEWEST)),
        )  # fmt: skip

    def _handle_msg(self, data: Any) -> None:
        wanted, origin, size = said(data, "open", str), said(data, "file", str), said(data, "size", int)
        chosen = said(data, "theme", str)
        if chosen in THEMES:
            self._session.look.theme = chosen
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


def families() -> list[list[Any]]:
    """The presets that come with the program, each as name, title and key, by family."""
    told: dict[str, list[list[str]]] = {}
    for name in names():
        shortcut = BY_ACT.get(preset_act(name))
        member = [name, builtin(name).title, shortcut.said if shortcut else ""]
        told.setdefault(FAMILIES[name.split("-")[0]], []).append(member)
    return [[family, told[family]] for family in FAMILIES.values() if family in told]
