"""The glossary as a dialog over the page: opened by a button, by a word of the page, or by the address."""

from functools import cache
from pathlib import Path
from typing import Any

from app import theme
from app.formula import STYLE, mathml
from app.views.messages import Component, said
from app.views.script import script
from sim.glossary import glossary

_HERE = Path(__file__).with_suffix("")


class Glossary(Component):
    """Every word and symbol of the page, explained; sent once somebody asks.

    In the browser, any element with ``data-term`` opens it at that entry when it is clicked, and so does the event
    ``gradcloud-glossary`` on the window, whose detail may name an entry.
    """

    _esm = script(_HERE)
    _stylesheets = [theme.BASE, STYLE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def _handle_msg(self, data: Any) -> None:
        if said(data, "wanted", bool):
            self._send_msg({"entries": entries()})


@cache
def entries() -> list[dict[str, Any]]:
    """The entries as the dialog shows them, in alphabetical order; formulas as MathML."""
    found = sorted(glossary().entries, key=lambda entry: entry.term.strip("“").lower())
    return [
        {
            "key": entry.key, "term": entry.term, "also": list(entry.also), "text": entry.text,
            "formula": mathml(entry.formula), "unit": entry.unit, "where": entry.where, "source": entry.source,
        }
        for entry in found
    ]  # fmt: skip
