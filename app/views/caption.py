"""The caption of the picture: what is what, how much is shown, and how much of it the plane holds."""

from html import escape

import panel as pn

from app import legend, marks, picture, theme
from app.numbers import html, percent
from app.session import Session
from app.table import unit
from sim.frame import PENDING, Frame, Reading, Undetermined

#: The style sheet of what is shown, beside `theme.BASE`.
CSS = f"""
.frame {{
  position: absolute; inset: 0; font-size: {theme.SMALL}; line-height: 1.45; color: var(--muted);
  display: flex; flex-direction: column; justify-content: flex-end;
}}
.box {{ padding: 1px 5px; background: color-mix(in srgb, var(--paper) 82%, transparent); border-radius: 4px; }}
.key {{ position: absolute; left: 0; top: 4px; }} .key div {{ display: flex; align-items: center; gap: 7px; }}
.foot {{ display: flex; justify-content: space-between; align-items: flex-end; gap: 12px; padding-bottom: 2px; }}
.held {{ text-align: right; max-width: 27em; }} b {{ color: var(--ink); white-space: nowrap; }}
.x {{ position: absolute; right: 0; top: calc(50% + 2px); }} .y {{ position: absolute; left: calc(50% + 4px); top: 0; }}
.silent {{ position: absolute; left: 15%; right: 15%; top: 38%; text-align: center; color: var(--ink);
  font-size: {theme.BODY}; }}
svg {{ flex: none; }} .pending {{ font-weight: 400; }}
@media (max-width: 560px) {{
  .foot {{ flex-direction: column-reverse; align-items: flex-start; gap: 0; }}
  .held {{ text-align: left; max-width: none; }} .held br {{ display: none; }}
  .x {{ position: static; align-self: flex-end; }}
}}
"""
_ARROW = '<path d="M1 6H17" stroke="var(--update)" stroke-width="4"/><path d="M26 6l-10-5v10z" fill="var(--update)"/>'
_TRACE = ('<path d="M1 6H17" stroke="var(--update)" stroke-width="1.5"/><path d="M25 6l-8-4v8z" fill="none" '
          'stroke="var(--update)" stroke-width="1.5"/>')  # fmt: skip
#: The form of each mark in the key.
_FORMS = {
    "cloud": '<path d="M1 6H19" stroke="var(--cloud)"/><path d="M24 6l-6-3v6z" fill="var(--cloud)"/>',
    "unclipped": '<path d="M1 6H20" stroke="var(--cloud)" stroke-dasharray="1 3"/>'
    '<path d="M20 3.5h5v5h-5z" fill="none" stroke="var(--cloud)"/>',
    "picked": '<path d="M1 6H15" stroke="var(--ink)" stroke-dasharray="2 3"/>'
    '<path d="M20 1l4 5-4 5-4-5z" fill="none" stroke="var(--ink)" stroke-width="1.5"/>',
    "update": _ARROW,
    "trace": _TRACE,
    "whole": '<circle cx="13" cy="6" r="4.5" stroke="var(--update)" stroke-width="2" fill="none"/>',
    "trail": '<path d="M3 8L13 4L23 7" fill="none" stroke="var(--update)" opacity=".6"/><circle cx="3" cy="8" r="1.5" '
    'fill="var(--update)" opacity=".5"/><circle cx="13" cy="4" r="2" fill="var(--update)" opacity=".7"/>'
    '<circle cx="23" cy="7" r="2.7" fill="var(--update)" opacity=".9"/>',
    "ring": '<path d="M1 6H25" stroke="var(--ring)" stroke-width="2.2" stroke-dasharray="6 4"/>',
}


class Caption(pn.viewable.Viewer):
    """Words over the picture's corners; few of them where it is one of several."""

    def __init__(self, session: Session, compact: bool = False) -> None:
        super().__init__()

        def html_of(frame: Frame | None, radius: str, picked: int | None) -> str:
            if frame is None:
                return ""
            return short(frame) if compact else caption(frame, radius, bool(session.trail()), picked is not None)

        look = session.look.param
        self._pane = pn.pane.HTML(
            pn.bind(html_of, session.param.frame, look.radius, look.selected), css_classes=["caption"],
            stylesheets=[theme.BASE, CSS], margin=0, name="caption",
        )  # fmt: skip

    def __panel__(self) -> pn.viewable.Viewable:
        return self._pane


def key(clipped: bool, *, trail: bool = False, trace: bool = False, picked: bool = False) -> str:
    """What each mark stands for, as HTML; of some, only where they are drawn."""
    return "".join(
        f'<div><svg width="27" height="12" aria-hidden="true">{_FORMS[name]}</svg>{legend.MARKS[name]}</div>'
        for name in legend.keyed(clipped, trail=trail, trace=trace, picked=picked)
    )


def axes(basis: str) -> tuple[str, str]:
    """What the axes of a plane are, with an arrow each: to the right, and up."""
    return legend.AXES[basis]


def short(frame: Frame) -> str:
    """The caption of a frame that is one of several, as HTML."""
    share = frame.plane.captured_share
    known = share is PENDING or not isinstance(share, Undetermined)
    held = f"plane holds {_share(share)}" if known else f"share held undetermined: {_why(share)}"
    return f'<div class="frame">{_silent(frame)}<div class="foot"><div class="box">{_count(frame)}</div>' + (
        f'<div class="box held">{held}</div></div></div>'
    )


def caption(frame: Frame, radius: str, trail: bool = False, picked: bool = False) -> str:
    """The caption of a frame, as HTML; with the marks of a trail and of an arrow picked out where they are drawn."""
    right, up = legend.AXES[frame.plane.basis]
    trace = marks.is_trace(frame)
    marked = key(len(picture.moved(frame)) > 0, trail=trail, trace=trace, picked=picked)
    return (
        f'<div class="frame"><div class="box key">{marked}</div><div class="box y">{up}</div>{_silent(frame)}'
        f'<div class="box x">{right}</div><div class="foot">'
        f'<div class="box shown">{_count(frame)}<br>{legend.lengths(radius, unit(frame))}</div>'
        f'<div class="box held">{"<br>".join(legend.held(frame, _share, escape))}</div></div></div>'
    )


def _count(frame: Frame) -> str:
    return "<br>".join(legend.count(frame))


def _silent(frame: Frame) -> str:
    return "" if len(picture.order(frame)) else f'<div class="box silent">{escape(frame.verdict.rule)}</div>'


def _share(value: Reading) -> str:
    return f"<b>{html(value, percent, pending='…')}</b>"


def _why(value: Reading) -> str:
    return escape(value.reason) if isinstance(value, Undetermined) else ""
