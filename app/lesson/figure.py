"""The picture's figure as Bokeh's JSON, empty, with its colours in every theme: the browser fills it."""

import json
from typing import Any

from bokeh.embed import json_item
from bokeh.model import Model
from bokeh.themes import Theme

from app.look import Look
from app.paint import Drawn, Paints
from app.palette import THEMES
from app.shared import Shared
from app.views.drawing import Drawing


class _Noted(Paints):
    """Paints that note what they paint."""

    def __init__(self, look: Look) -> None:
        super().__init__(look)
        self.noted: list[tuple[Model, tuple[str, ...]]] = []

    def __call__(self, model: Drawn, **roles: Any) -> Drawn:
        if isinstance(model, Model):
            self.noted.append((model, tuple(roles)))
        return super().__call__(model, **roles)


def figure(half: float) -> dict[str, Any]:
    """The figure that reaches to `half`, its models numbered in the order in which they come.

    `item` is what BokehJS embeds; `themes` has for each theme its stroke and what is set on which model; `models` says
    which is the figure, each source, and head and shaft of the update's arrow, as large as each frame wants them.
    """
    look, shared = Look(), Shared()
    paints = _Noted(look)
    drawing = Drawing(shared, paints)
    shared.require(drawing, half)
    # Whoever serves pages may have set a theme of Bokeh's for all of them, and Panel announces models of its own.
    item: Any = json_item(drawing.figure, theme=Theme(json={}))
    item["doc"]["defs"] = []
    themes = {}
    for name, palette in THEMES.items():
        look.theme = name
        values = [[each.id, {role: getattr(each, role) for role in roles}] for each, roles in paints.noted if roles]
        themes[name] = {"stroke": palette.stroke, "values": values, "update": palette.update, "paper": palette.paper}
    models = {name: source.id for name, source in drawing.sources.items()}
    models |= {"plane": drawing.figure.id, "head": drawing.head.id, "shaft": drawing.update.glyph.id}
    made = {"item": item, "themes": themes, "models": models}
    plain = json.loads(json.dumps(made))
    return _renamed(plain, _names(plain["item"]["doc"]))


def _names(value: Any) -> dict[str, str]:
    """A number for each model of a document: Bokeh's own count all that the process ever made."""
    names: dict[str, str] = {}

    def visit(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("id"), str):
                names.setdefault(value["id"], f"m{len(names)}")
            for each in value.values():
                visit(each)
        elif isinstance(value, list):
            for each in value:
                visit(each)

    visit(value)
    return names


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [_renamed(each, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else value
