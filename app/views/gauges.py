"""The verdict and the readings of the step: each a number, a word, and the rule for the word."""

from collections.abc import Callable
from functools import partial
from html import escape

import panel as pn

from app import theme
from app.look import TOKENS, TOUR
from app.numbers import html, percent, significant
from app.session import Session
from sim.frame import PENDING, Frame, Reading, Undetermined, Verdict
from sim.words import Word, words

_SHAPES = {
    "inside": '<circle cx="14" cy="14" r="9" fill="var(--inside)"/>',
    "near": '<path d="M14 3l11 11-11 11L3 14z" fill="var(--near)"/>',
    "past": '<path d="M14 3l12 22H2z" fill="var(--past)"/>',
    "none": '<path d="M5 14h18" stroke="var(--muted)" stroke-width="4"/>',
}
#: The readings by the names that a tour points at, with their glossary entries.
KEYS = {
    "Update": ("update", "update-ratio"), "KL of the step": ("kl", "kl-step"), "Density": ("density", "density"),
    "Bias": ("bias", "bias"), "Concentration": ("concentration", "concentration"), "Spread": ("spread", "spread"),
    "Mean norm": ("mean_norm", "mean-norm"),
}  # fmt: skip
_LIT = "\n".join(
    f":host(.lit-{name}) [data-name={name}] {{ outline: 3px dashed var(--aim); outline-offset: -1px; }}"
    for name in ("verdict", *(name for name, _ in KEYS.values()))
)
# What a tour points at, beside its text where there is little room.
_POINTED = " ".join(f":host(.lit-{name}) [data-name={name}] {{ display: grid; }}" for name, _ in KEYS.values())
_NOTED = " ".join(f":host(.lit-{name}) [data-name={name}] .note {{ display: block; }}" for name, _ in KEYS.values())
#: The style sheet of what is shown, beside `theme.BASE`.
CSS = f"""
.verdict {{ position: relative; display: flex; gap: 12px; align-items: center; padding: 6px 0 12px; }}
.verdict h2 {{ margin: 0; font-size: {theme.LARGE}; line-height: 1.2; font-weight: 600; }}
.verdict svg {{ flex: none; }}
.reading {{
  position: relative; display: grid; grid-template-columns: 1fr auto; column-gap: 10px; padding: 5px 0;
  border-top: 1px solid var(--hair); cursor: default;
}}
.name button {{
  min-width: 0; min-height: 0; padding: 0; border: 0; border-radius: 2px; cursor: help;
}}
.name b {{ font-weight: 600; }}
.name button:hover {{ background: none; text-decoration: underline dotted; text-underline-offset: 3px; }}
@media (pointer: coarse) {{ .name button {{ min-width: 24px; min-height: 24px; }} }}
{_LIT}
.name i {{ font-style: normal; color: var(--muted); }}
.value {{ text-align: right; font-weight: 600; min-width: 5.5em; }}
.note {{
  grid-column: 1 / -1; font-size: {theme.SMALL}; color: var(--muted);
}}
.note b {{ white-space: nowrap; font-weight: 500; color: var(--ink); }}
.stale {{ opacity: 0.35; }}
:host(.verdict-only) .readings {{ display: none; }}
@media (max-height: 900px), (max-width: 1000px) {{ :host(.close) .note {{ display: none; }} {_NOTED} }}
@media (max-width: 700px) {{ :host(.close) .reading {{ display: none; }} {_POINTED} }}
:host(.close) .reading {{ padding: 1px 0; }} :host(.close) .verdict {{ padding: 2px 0 5px; }}
.pending {{ color: var(--muted); font-weight: 400; }}
.rule {{
  display: none; position: fixed; z-index: 20; width: calc(270px * var(--type));
  transform: translateX(calc(-100% - 8px));
  padding: 8px 10px; background: var(--field); border: 1px solid var(--edge); border-radius: 5px;
  box-shadow: 0 3px 14px var(--shadow);
  font-size: {theme.SMALL}; line-height: 1.45; color: var(--ink); font-weight: 400; overflow-wrap: anywhere;
}}
.reading:hover .rule, .reading:focus .rule, .verdict:hover .rule, .verdict:focus .rule {{ display: block; }}
@media (max-width: 700px) {{ .rule {{ transform: none; margin-top: 2.8em; max-width: 90vw; }} }}
"""
_MEASURING = Verdict("none", "measuring", "the step of these settings is being computed")


class Gauges(pn.viewable.Viewer):
    """The readings of a session's frame."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._pane = pn.pane.HTML(
            pn.bind(partial(_html, session), session.param.frame, session.param.busy),
            stylesheets=[theme.BASE, CSS], margin=0, name="gauges", sizing_mode="stretch_width",
            css_classes=pn.bind(_classes, session.look.param.side, session.look.param.spotlight),
        )  # fmt: skip

    def __panel__(self) -> pn.viewable.Viewable:
        return self._pane


def _classes(side: str, spotlight: str) -> list[str]:
    return ["verdict-only"] * (side == TOKENS) + ["close"] * (side == TOUR) + [f"lit-{spotlight}"] * bool(spotlight)


def _html(session: Session, frame: Frame | None, _: str) -> str:
    return _blank() if frame is None else gauges(frame, session.stale)


def _blank() -> str:
    """The same rows before there is a frame, so that nothing jumps when it comes."""
    word = Word("computing", PENDING.reason)
    notes = {"Update": 1, "KL of the step": 1, "Density": 2, "Bias": 1, "Concentration": 2, "Spread": 1, "Mean norm": 1}
    rows = (_reading(name, word, PENDING, *["&nbsp;"] * count) for name, count in notes.items())
    return _verdict(_MEASURING) + f'<div class="readings">{"".join(rows)}</div>'


def gauges(frame: Frame, stale: bool = False) -> str:
    """The verdict and all readings of a frame, as HTML; those of other settings are dimmed and give no verdict."""
    update, said = frame.update, words(frame)
    density, bias, concentration = frame.measures.density, frame.measures.bias, frame.measures.concentration
    unit = "" if isinstance(bias.noise_scale, Undetermined) else " rollouts"
    coherence = f"coherence; cosine to reward {_note(bias.reward_cosine)}; noise scale {_note(bias.noise_scale)}{unit}"
    top = concentration.top1_share
    against = ", others pull back" if isinstance(top, float) and top > 1 else ""
    piled = f"effective share of tokens; the top 1 % pull {_note(top, percent)}{against}"
    turned = f"without the largest token the update turns {_note(concentration.leave_out_angle, _degrees)}"
    clip = "the clip leaves" if frame.config.clip.on else "a clip would leave"
    return "".join(
        [
            _verdict(_MEASURING if stale else frame.verdict),
            f'<div class="readings{" stale" * stale}">',
            _reading("Update", said["update"], update.ratio,
                     f"its length over the safe radius; {clip} {_note(update.clip_ratio, percent)}"),
            _reading("KL of the step", said["kl"], update.kl_measured,
                     f"measured, nats a token; predicted {_note(update.kl_predicted)}"),
            _reading("Density", said["density"], density.within_share,
                     "of the signal's variance lies within answers",
                     f"on {_note(density.active_share, percent)} of tokens; "
                     f"{_note(density.silent_groups, percent)} of groups silent"),
            _reading("Bias", said["bias"], bias.coherence, coherence),
            _reading("Concentration", said["concentration"], concentration.effective_share, piled, turned),
            _reading("Spread", said["spread"], frame.measures.spread.participation_ratio,
                     f"directions, of {len(frame.rollouts)} rollouts"),
            _reading("Mean norm", said["mean_norm"], frame.measures.mean_norm, "of a token's gradient"),
            "</div>",
        ]
    )  # fmt: skip


def _verdict(verdict: Verdict) -> str:
    return (
        f'<div class="verdict {escape(verdict.level)}" tabindex="0" data-name="verdict">'
        '<svg width="28" height="28" aria-hidden="true">'
        f"{_SHAPES[verdict.level]}</svg><h2>{escape(verdict.word)}</h2>"
        f'<div class="rule" role="tooltip">{escape(verdict.rule)}</div></div>'
    )


def _reading(name: str, word: Word, value: Reading, *notes: str) -> str:
    key, term = KEYS[name]
    missing = f"<br>{escape(value.reason)}" if isinstance(value, Undetermined) and not value.pending else ""
    return (
        f'<div class="reading" tabindex="0" data-name="{key}"><div class="name">'
        f'<button type="button" data-term="{term}" title="what this is: the glossary"><b>{name}</b></button> '
        f"<i>{escape(word.word)}</i></div>"
        f'<div class="value">{html(value)}</div>'
        + "".join(f'<div class="note">{note}</div>' for note in notes)
        + f'<div class="rule" role="tooltip">{escape(word.rule)}{missing}</div></div>'
    )


def _note(value: Reading, write: Callable[[float], str] = significant) -> str:
    return f"<b>{html(value, write, pending='…')}</b>"


def _degrees(value: float) -> str:
    return f"{significant(value, 2)}°"
