"""The lesson of a preset, and what to try: plain text, whoever wrote it."""

import re
from html import escape

import panel as pn

from app import theme
from app.session import Session
from sim.presets import Preset

_CSS = f"""
.lesson {{
  display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 10px 40px; max-width: 1180px;
  margin: 0 auto; padding: 18px 0 40px; border-top: 1px solid var(--hair); overflow-wrap: anywhere;
}}
h2 {{ margin: 0 0 6px; font-size: {theme.LARGE}; font-weight: 600; line-height: 1.25; }}
h3 {{ margin: 6px 0 6px; font-size: {theme.BODY}; font-weight: 600; }}
p {{ margin: 0; max-width: 68ch; line-height: 1.55; }}
ul {{ margin: 0; padding-left: 18px; line-height: 1.55; }}
@media (max-width: 1000px) {{ .lesson {{ grid-template-columns: minmax(0, 1fr); }} }}
"""

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


class Lesson(pn.viewable.Viewer):
    """The text of a session's preset."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._pane = pn.pane.HTML(
            pn.bind(lesson, session.param.preset), stylesheets=[theme.BASE, _CSS], css_classes=["lesson"],
            sizing_mode="stretch_width", margin=0, name="lesson",
        )  # fmt: skip

    def __panel__(self) -> pn.viewable.Viewable:
        return self._pane


def lesson(preset: Preset) -> str:
    """A preset's texts as HTML, every character of theirs escaped."""
    tries = "".join(f"<li>{prose(each)}</li>" for each in preset.try_)
    return (
        f'<div class="lesson"><div><h2>{escape(preset.title)}</h2><p>{prose(preset.lesson)}</p></div>'
        + (f"<div><h3>What to try</h3><ul>{tries}</ul></div>" if tries else "")
        + "</div>"
    )


def prose(text: str) -> str:
    """A text as HTML: every character of it escaped, and no option of a command broken at the end of a line."""
    return _OPTION.sub(r'<span class="option">\g<0></span>', escape(text))
