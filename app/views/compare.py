"""The page of comparison: pictures side by side, one player for all, and their readings in one table."""

from functools import partial
from typing import Any

import panel as pn

from app import theme
from app.compare import LETTERS, SHARED
from app.fields import FIELDS
from app.legend import lengths
from app.linked import Comparison
from app.shared import Shared
from app.views.caption import axes, key
from app.views.compare_bar import CompareBar
from app.views.compare_cell import CellHead
from app.views.compare_table import CompareTable
from app.views.controls import Controls
from app.views.keeper import Keeper
from app.views.keys import Keys
from app.views.plane import Plane
from app.views.player import Player
from app.views.witness import Witness

_OWN = [each.name for each in FIELDS if each.name not in SHARED]
_COUNTS = {2: "two", 3: "three", 4: "four"}
_PLACES = "\n".join(f".{letter.lower()} {{ grid-area: {letter.lower()}; }}" for letter in LETTERS)
#: Two large pictures with the table beside them; more with the table below, a column of it under each. On a narrow
#: screen in twos, on a telephone one by one.
_LAYOUT = f"""
:host {{
  display: grid !important; position: relative; width: 100%; box-sizing: border-box; padding: 0 min(18px, 3vw);
  gap: 0 10px;
}}
:host > * {{ min-width: 0; margin: 0 !important; width: auto !important; height: auto !important; }}
.bar {{ grid-area: bar; }} .player {{ grid-area: player; }} .table {{ grid-area: table; }}
.legend {{ grid-area: legend; }}
{_PLACES}
:host(.two) {{
  grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) minmax(360px, 29vw);
  grid-template-rows: auto minmax(calc(100vh - 190px * var(--type)), auto) calc(84px * var(--type)) auto;
  grid-template-areas: "bar bar bar" "a b table" "a b legend" "player player legend";
}}
:host(.three), :host(.four) {{
  grid-template-rows: auto minmax(260px, calc(100vh - 372px * var(--type))) auto auto;
}}
:host(.three) {{
  grid-template-columns: calc(150px * var(--type)) repeat(3, minmax(0, 1fr));
  grid-template-areas: "bar bar bar bar" "legend a b c" "player player player player" "table table table table";
}}
:host(.four) {{
  grid-template-columns: calc(150px * var(--type)) repeat(4, minmax(0, 1fr));
  grid-template-areas: "bar bar bar bar bar" "legend a b c d" "player player player player player"
    "table table table table table";
}}
.dials {{
  position: absolute; top: 58px; left: min(18px, 3vw); width: 270px !important; z-index: 20; max-height: 80vh;
  overflow-y: auto; padding: 4px 8px; background: var(--paper); border: 1px solid var(--edge); border-radius: 5px;
  box-shadow: 0 3px 14px var(--shadow);
}}
@media (max-width: 1000px) {{
  :host(.two), :host(.three), :host(.four) {{
    grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 6px 10px;
    grid-template-rows: auto calc(50vw + 60px) auto;
  }}
  :host(.two) {{ grid-template-areas: "bar bar" "a b" "player player" "legend legend" "table table"; }}
  :host(.three), :host(.four) {{ grid-template-rows: auto calc(50vw + 60px) calc(50vw + 60px) auto; }}
  :host(.three) {{ grid-template-areas: "bar bar" "a b" "c ." "player player" "legend legend" "table table"; }}
  :host(.four) {{ grid-template-areas: "bar bar" "a b" "c d" "player player" "legend legend" "table table"; }}
}}
@media (max-width: 560px) {{
  :host(.two), :host(.three), :host(.four) {{ grid-template-columns: minmax(0, 1fr); grid-template-rows: auto; }}
  :host(.two) {{ grid-template-areas: "bar" "a" "b" "player" "legend" "table"; }}
  :host(.three) {{ grid-template-areas: "bar" "a" "b" "c" "player" "legend" "table"; }}
  :host(.four) {{ grid-template-areas: "bar" "a" "b" "c" "d" "player" "legend" "table"; }}
  .player {{ position: sticky; bottom: 0; background: var(--paper); z-index: 15; }}
}}
"""
_CELL = """
:host { position: relative; min-height: 0; }
:host > .picture { flex: 1 1 0; min-height: 0; }
:host > .dials {
  position: absolute; top: 32px; right: 0; width: min(270px, 100%) !important; z-index: 20;
  max-height: calc(100% - 34px); overflow-y: auto; padding: 4px 8px; background: var(--paper);
  border: 1px solid var(--edge); border-radius: 5px;
  box-shadow: 0 3px 14px var(--shadow);
}
@media (max-width: 560px) { :host > .picture { flex: none; height: 92vw !important; } }
"""
_LEGEND = f"""
:host {{ font-size: {theme.SMALL}; line-height: 1.35; color: var(--muted); }}
.key {{ display: flex; flex-wrap: wrap; gap: 3px 14px; padding: 4px 0; }}
.key div {{ display: flex; align-items: center; gap: 6px; }} svg {{ flex: none; }}
"""


class Compare(pn.viewable.Viewer):
    """Two to four cells on one page, of one scale."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__()
        self._comparison = comparison
        self._scale = Shared()
        shared = Controls(
            comparison.cells[0].dials, comparison.look, offered=[*SHARED, "radius"], css_classes=["dials"],
            visible=False, name="dials-shared",
        )  # fmt: skip
        bar = CompareBar(comparison, partial(_show, shared), css_classes=["bar"])
        legend = pn.pane.HTML(
            pn.bind(partial(_legend, comparison), comparison.param.frame, comparison.look.param.radius),
            stylesheets=[theme.BASE, _LEGEND], css_classes=["legend"], margin=0,
        )  # fmt: skip
        self._planes = [Plane(cell, shared=self._scale, suffix=f"-{cell.letter.lower()}") for cell in comparison.every]
        self._columns = [self._column(place, plane) for place, plane in enumerate(self._planes)]
        self._page = pn.Column(
            bar, shared, *self._columns, Player(comparison, lesson=False, css_classes=["player"]), legend,
            CompareTable(comparison, css_classes=["table"]), Keys(comparison), Keeper(comparison),
            Witness(comparison.seen),
            stylesheets=[_LAYOUT], margin=0, sizing_mode="stretch_width", name="page",
        )  # fmt: skip
        comparison.param.watch(self._arrange, "cells")
        self._arrange()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._page

    def _arrange(self, *_: Any) -> None:
        """Show the cells that there are; only they decide how far the pictures reach."""
        count = len(self._comparison.cells)
        for place, (column, plane) in enumerate(zip(self._columns, self._planes, strict=True)):
            column.visible = place < count
            if place < count:
                plane.fit()
            else:
                self._scale.release(plane)
        self._page.css_classes = [_COUNTS[count]]

    def _column(self, place: int, plane: Plane) -> pn.Column:
        cell = self._comparison.every[place]
        letter = cell.letter.lower()
        dials = Controls(
            cell.dials, cell.look, offered=_OWN, css_classes=["dials"], visible=False, name=f"dials-{letter}"
        )
        picture = pn.Column(plane, css_classes=["picture"], sizing_mode="stretch_width", margin=0)
        head = CellHead(self._comparison, place, partial(_show, dials), sizing_mode="stretch_width", margin=0)
        return pn.Column(head, picture, dials, css_classes=["cell", letter], stylesheets=[_CELL], margin=0)


def _legend(comparison: Comparison, _: Any, radius: str) -> str:
    right, up = axes(comparison.cells[0].moment.config.plane.basis)
    words = (f"<div>{each}</div>" for each in (right, up, lengths(radius)))
    return f'<div class="key">{key(clipped=True)}{"".join(words)}</div>'


def _show(dials: Controls, wanted: bool) -> None:
    dials.visible = wanted
