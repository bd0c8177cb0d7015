"""The caption of the picture: what is what, how much is shown, and how much of it the plane holds."""

from functools import partial
from html import escape

import panel as pn

from app import picture, theme
from app.numbers import html, percent
from app.session import Session
from sim.frame import Frame, Reading

_AXES = {
    "checkpoint": ("reward grows →", "what else the methods share ↑"),
    "components": ("first principal direction of this batch →", "second ↑"),
    "random": ("a random direction →", "another ↑"),
}
_CSS = f"""
.frame {{ position: absolute; inset: 0; font-size: {theme.SMALL}; line-height: 1.5; color: var(--muted); }}
.frame > div {{ position: absolute; padding: 1px 5px; background: color-mix(in srgb, var(--paper) 82%, transparent); }}
.key {{ left: 0; top: 4px; border-radius: 4px; }} .key div {{ display: flex; align-items: center; gap: 7px; }}
.shown {{ left: 0; bottom: 2px; }} .held {{ right: 0; bottom: 2px; text-align: right; }}
.x {{ right: 0; top: calc(50% + 2px); }} .y {{ left: calc(50% + 4px); top: 0; }}
.silent {{ left: 15%; right: 15%; top: 38%; text-align: center; font-size: {theme.BODY}; color: var(--ink); }}
svg {{ flex: none; }} .pending {{ font-weight: 400; }}
@media (max-width: 560px) {{
  .held {{ right: auto; left: 0; bottom: 36px; text-align: left; }} .held br {{ display: none; }}
  .x {{ top: auto; bottom: 58px; }}
}}
"""
_KEY = (
    ("cloud", "one token's own step", '<path d="M1 6H19" stroke="var(--cloud)"/><path d="M24 6l-6-3v6z" '
     'fill="var(--cloud)"/>'),
    ("unclipped", "before the clip", '<path d="M1 6H25" stroke="var(--cloud)" stroke-dasharray="1 3"/>'),
    ("update", "the averaged update", '<path d="M1 6H17" stroke="var(--update)" stroke-width="4"/>'
     '<path d="M26 6l-10-5v10z" fill="var(--update)"/>'),
    ("whole", "its whole length, not only what the plane holds", '<circle cx="13" cy="6" r="4.5" '
     'stroke="var(--update)" stroke-width="2" fill="none"/>'),
    ("ring", "the safe radius", '<path d="M1 6H25" stroke="var(--ring)" stroke-width="2.2" stroke-dasharray="6 4"/>'),
)  # fmt: skip


class Caption(pn.viewable.Viewer):
    """Words over the picture's corners."""

    def __init__(self, session: Session, compact: bool = False) -> None:
        super().__init__()
        self._pane = pn.pane.HTML(
            pn.bind(partial(_html, compact), session.param.frame, session.look.param.radius), css_classes=["caption"],
            stylesheets=[theme.BASE, _CSS], margin=0, name="caption",
        )  # fmt: skip

    def __panel__(self) -> pn.viewable.Viewable:
        return self._pane


def _html(compact: bool, frame: Frame | None, radius: str) -> str:
    if frame is None:
        return ""
    return short(frame) if compact else caption(frame, radius)


def short(frame: Frame) -> str:
    """The caption of a frame that is one of several, as HTML."""
    silent = f'<div class="silent">{escape(frame.verdict.rule)}</div>' if not len(picture.order(frame)) else ""
    return (
        f'<div class="frame"><div class="shown">{_count(frame)}</div>'
        f'<div class="held">plane holds {_share(frame.plane.captured_share)}</div>{silent}</div>'
    )


def key(clipped: bool) -> str:
    """What each mark stands for, as HTML; the clip's only where it changed some arrow."""
    return "".join(
        f'<div><svg width="27" height="12" aria-hidden="true">{form}</svg>{words}</div>'
        for name, words, form in _KEY
        if clipped or name != "unclipped"
    )


def axes(basis: str) -> tuple[str, str]:
    """What the axes of a plane are, with an arrow each: to the right, and up."""
    return _AXES[basis]


def lengths(radius: str) -> str:
    """How lengths are drawn."""
    return f"lengths drawn {'logarithmically' if radius == 'log' else 'in proportion'}, in safe radii"


def caption(frame: Frame, radius: str) -> str:
    """The caption of a frame, as HTML."""
    right, up = _AXES[frame.plane.basis]
    silent = f'<div class="silent">{escape(frame.verdict.rule)}</div>' if not len(picture.order(frame)) else ""
    return (
        f'<div class="frame"><div class="key">{key(bool(frame.sites.clipped.any()))}</div>'
        f'<div class="shown">{_count(frame)}<br>{lengths(radius)}</div>'
        f'<div class="held">this plane holds {_share(frame.plane.captured_share)} of the arrows <br>'
        f"and {_share(frame.plane.update_share)} of the update</div>"
        f'<div class="x">{right}</div><div class="y">{up}</div>{silent}</div>'
    )


def _count(frame: Frame) -> str:
    total, drawn = len(frame.sites.text), len(picture.order(frame))
    still = int(((frame.sites.x == 0) & (frame.sites.y == 0)).sum())
    if still == total:
        return f"no arrow: all {total:,} are exactly zero"
    text = f"{drawn:,} of {total:,} arrows shown"
    if still:
        text += f"; {still:,} are exactly zero"
    return text


def _share(value: Reading) -> str:
    return f"<b>{html(value, percent, pending='…')}</b>"
