"""The one file: the recording, what it is said to be, and all that shows it, as an HTML text that asks for nothing."""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from bokeh.resources import Resources

from app import theme
from app.formula import STYLE
from app.lesson.recording import Recording
from app.palette import THEMES
from app.session import SPEEDS
from app.shortcuts import BY_ACT, CLIP, Shortcut
from app.views import caption, gauges
from app.views.glossary import entries
from app.views.lessons import prose
from sim.installed import installed
from sim.link import Link, fits
from sim.record import dumps_record

_HERE = Path(__file__).parent
#: What the browser may do with the file: run what stands in it, and fetch nothing from anywhere.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
#: What the page calls each act, the live page's name for it, its own for the button, and the button's icon.
_BUTTONS = (
    ("first", "first", "First", "M3 3h2v10H3zM13 3v10L6 8z", "rewind to the first frame"),
    ("back", "back", "Back", "M10.500 2.500l1.500 1.500L8 8l4 4-1.500 1.500L5 8z", "return to the frame before"),
    ("play", "play", "Play", "M4 3v10l9-5z", "play, or pause"),
    ("forward", "step", "Next", "M5.500 2.500L4 4l4 4-4 4 1.500 1.500L11 8z", "the next frame"),
    ("last", "newest", "Last", "M11 3h2v10h-2zM3 3v10l7-5z", "the last frame"),
)


def page(link: Link, recording: Recording, figure: Mapping[str, Any], packed: bytes) -> str:
    """The HTML text: a lesson's picture as it was recorded, its player, and the record of where it comes from.

    Titles and lessons are anybody's: no character of theirs is markup, nor ends a script.
    """
    preset, config = link.preset, link.moment.config
    values = {
        "policy": _POLICY,
        "version": escape(installed()),
        "theme": escape(link.looked("theme")),
        "themes": "".join(f"<option>{name}</option>" for name in THEMES),
        "title": escape(preset.title),
        "lesson": prose(preset.lesson),
        "tries": _tries(preset.try_),
        "what": _what(recording),
        "about": _about(link, recording),
        "again": _again(link),
        "settings": "".join(
            f"<div><dt>{name}</dt><dd>{escape(str(value))}</dd></div>"
            for name, value in _flat(config.model_dump(mode="json"))
        ),
        "buttons": "\n".join(_button(*each) for each in _BUTTONS),
        "speeds": "".join(f'<option value="{times}">×{times}</option>' for times in SPEEDS),
        "newest": str(len(recording.pairs) - 1),
        "clip_title": escape(_clip(link, recording)),
        "clip_keys": BY_ACT[CLIP].aria,
        "clip_note": "<small>changes nothing</small>" * recording.idle,
        "style": _style(),
        "record": dumps_record(link),
        "page": _inert(json.dumps(_data(link, figure))),
        "recording": b64encode(packed).decode(),
        "bokeh": _bokeh(),
        "script": _script(),
    }
    return Template((_HERE / "page.html").read_text("utf-8")).substitute(values)


def _data(link: Link, figure: Mapping[str, Any]) -> dict[str, Any]:
    keys = {name: BY_ACT[act].key for name, act, *_ in _BUTTONS} | {"clip": BY_ACT[CLIP].key}
    told = {term for _, term in gauges.KEYS.values()}
    token = link.look.get("token")
    return {
        "figure": figure,
        "styles": {"gauges": theme.BASE + gauges.CSS, "caption": theme.BASE + caption.CSS},
        "keys": {key: name for name, key in keys.items()},
        "terms": {
            each["key"]: {name: each[name] for name in ("term", "text", "formula")}
            for each in entries()
            if each["key"] in told
        },
        "clipped": link.moment.config.clip.on,
        "token": None if token is None else int(token),
    }


def _what(recording: Recording) -> str:
    count = len(recording.pairs)
    if recording.along == "draws":
        return f"{count} draws" if count > 1 else "one draw"
    return f"{count - 1} step{'s' * (count != 2)} of a run"


def _about(link: Link, recording: Recording) -> str:
    count, step = len(recording.pairs), link.moment.step
    at = f"after {step} step{'s' * (step != 1)}" if step else "at the checkpoint"
    made = f"gradcloud {escape(installed())} measured every number in it, and nothing is computed here."
    if recording.idle:
        both = "the clip changes nothing in any of them"
    elif recording.along == "draws":
        both = "each with the clip off and with it on"
    else:
        both = "two runs: one with the clip off in every step, and one with it on"
    drawn = f"{count} batch{'es' * (count != 1)} drawn {at}"
    if recording.along == "steps":
        drawn = f"{count} frame{'s' * (count != 1)} of a run that begins {at}"
    return f"This is a recording: {drawn}; {both}. {made}"


def _again(link: Link) -> str:
    """How to see the same live: the file holds its settings, and so does the link where it is short."""
    query = replace(link, kept=None).query()
    address = f", or open its page at <code>?{escape(query)}</code>" if fits(query) else ""
    return (
        f"<p>To see it live, run <code>gradcloud serve</code> and load this file there{address}. "
        "<code>gradcloud frame</code> with this file measures its first picture again.</p>"
    )


def _clip(link: Link, recording: Recording) -> str:
    clip, key = link.moment.config.clip, BY_ACT[CLIP].said
    if recording.idle:
        return "the clip changes nothing in this recording"
    what = "turn the clip on or off" if recording.along == "draws" else "the run whose steps were all clipped"
    return f"{what}: {clip.kind.replace('-', ' ')}, {clip.threshold:g} nats ({key})"


def _button(name: str, act: str, label: str, path: str, what: str) -> str:
    key: Shortcut = BY_ACT[act]
    words = "words" if name == "play" else "words sr"
    icon = f'<svg viewBox="0 0 16 16" width="1.1em" height="1.1em" aria-hidden="true"><path d="{path}"/></svg>'
    return (
        f'  <button type="button" id="{name}" class="{name}" title="{what} ({key.said})" '
        f'aria-keyshortcuts="{key.aria}">{icon}<span class="{words}">{label}</span></button>'
    )


def _tries(tries: tuple[str, ...]) -> str:
    if not tries:
        return ""
    lines = "".join(f"<li>{prose(each)}</li>" for each in tries)
    return f"<h2>What to try; all of it on the live page</h2><ul>{lines}</ul>"


def _flat(settings: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Settings by dotted key."""
    found = []
    for name, value in settings.items():
        found += _flat(value, f"{before}{name}.") if isinstance(value, dict) else [(before + name, value)]
    return found


def _style() -> str:
    """What the live page has in its shadow roots, for the page itself."""
    sheets = [(_HERE.parent / "views" / name).read_text("utf-8") for name in ("controls.css", "player.css")]
    own = (_HERE / "lesson.css").read_text("utf-8")
    return "\n".join([theme.PAGE, theme.BASE.replace(":host", "body"), STYLE, *sheets, own])


def _script() -> str:
    own = "\n".join((_HERE / name).read_text("utf-8") for name in ("unpack.js", "plane.js", "player.js"))
    return f'(() => {{\n"use strict"\n{_shared("pointing")}\n{_shared("fit")}\n{own}\n}})()'


def _shared(name: str) -> str:
    """What a part of the live page renders, as a function of the part's name."""
    script = (_HERE.parent / "views" / f"{name}.js").read_text("utf-8").replace("export function", "function")
    return f"const {name} = (() => {{\n{script}\nreturn render\n}})()"


def _bokeh() -> str:
    """The drawing library itself, out of its own package: neither its widgets nor anything that the network has."""
    code = Resources(mode="inline", components=["bokeh"]).js_raw[0]
    return code.replace("</script", "<\\/script").replace("<!--", "<\\!--") + '\nBokeh.set_log_level("warn")\n'


def _inert(text: str) -> str:
    """A JSON text in which nothing is markup."""
    return text.replace("<", "\\u003c")
