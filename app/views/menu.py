"""The head of the page: choose a preset; what saves, loads and shares; the other pages; the theme."""

from pathlib import Path
from typing import Any

import param

from app.compare import FEWEST, filled
from app.palette import THEMES
from app.session import Session
from app.shortcuts import BY_ACT, HELP, button, preset_act
from app.theme import BASE
from app.views.messages import Component, said
from app.views.script import script
from sim.errors import InvalidInput
from sim.link_items import DEFAULT
from sim.presets import builtin, names

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
    theme = param.String(default="light")
    compared = param.String(default="", doc="the presets that the page of comparison opens with")

    _esm = script(_HERE)
    _stylesheets = [BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(families=families(), **params)
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
        wanted, chosen = said(data, "open", str), said(data, "theme", str)
        if chosen in THEMES:
            self._session.look.theme = chosen
        try:
            if wanted is not None:
                self._session.open(builtin(wanted), wanted)
        except InvalidInput as error:
            self._session.refuse(error.problems)


def families() -> list[list[Any]]:
    """The presets that come with the program, each as name, title and key, by family."""
    told: dict[str, list[list[str]]] = {}
    for name in names():
        shortcut = BY_ACT.get(preset_act(name))
        member = [name, builtin(name).title, shortcut.said if shortcut else ""]
        told.setdefault(FAMILIES[name.split("-")[0]], []).append(member)
    return [[family, told[family]] for family in FAMILIES.values() if family in told]
