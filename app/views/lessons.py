"""The lesson of a preset, and what to try: plain text, whoever wrote it."""

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
    tries = "".join(f"<li>{escape(each)}</li>" for each in preset.try_)
    return (
        f'<div class="lesson"><div><h2>{escape(preset.title)}</h2><p>{escape(preset.lesson)}</p></div>'
        + (f"<div><h3>What to try</h3><ul>{tries}</ul></div>" if tries else "")
        + "</div>"
    )
