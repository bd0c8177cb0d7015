"""What every file that leaves the program carries with it: where its numbers come from, and how to see them again."""

import json
import platform
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from sim.errors import InvalidInput
from sim.installed import installed
from sim.link import Link, fits

#: What the record is called in a file: an element's id, a key of JSON, a name among a picture's texts.
MARK = "gradcloud"


def record(link: Link) -> dict[str, Any]:
    """The settings, seed, step, draw and versions of a moment, and the link to it, as JSON values.

    `preset` is the preset with the settings of the moment, so that whoever has the file can open it as one. The link
    goes without its log where that does not fit into one: a film's comment has no room for it.
    """
    moment = link.moment
    preset = link.preset.model_copy(update={"config": moment.config})
    versions = {"python": platform.python_version(), **{name: version(name) for name in ("torch", "numpy")}}
    return {
        "gradcloud": installed(),
        "versions": versions,
        "link": _query(link),
        "seed": moment.config.seed,
        "step": moment.step,
        "draw": moment.draw,
        "preset": preset.model_dump(mode="json", by_alias=True),
    }


def dumps_record(link: Link) -> str:
    """The record as one line of ASCII with none of the signs that markup begins with; the same each time."""
    text = json.dumps(record(link), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _query(link: Link) -> str:
    bare = replace(link, kept=None).query()
    try:
        query = link.query()
    except InvalidInput:
        return bare
    return query if fits(query) else bare
