"""What every file that leaves the program carries with it: where its numbers come from, and how to see them again."""

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sim.link import Link

#: What the record is called in a file: an element's id, a key of JSON, a name among a picture's texts.
MARK = "gradcloud"


def installed() -> str:
    """The version of this program; "unknown" where it runs from a folder that is not installed."""
    try:
        return version("gradcloud")
    except PackageNotFoundError:
        return "unknown"


def record(link: Link) -> dict[str, Any]:
    """The settings, seed, step, draw and versions of a moment, and the link to it, as JSON values.

    `preset` is the preset with the settings of the moment, so that whoever has the file can open it as one.
    """
    moment = link.moment
    preset = link.preset.model_copy(update={"config": moment.config})
    versions = {"python": platform.python_version(), **{name: version(name) for name in ("torch", "numpy")}}
    return {
        "gradcloud": installed(),
        "versions": versions,
        "link": link.query(),
        "seed": moment.config.seed,
        "step": moment.step,
        "draw": moment.draw,
        "preset": preset.model_dump(mode="json", by_alias=True),
    }


def dumps_record(link: Link) -> str:
    """The record as one line of ASCII with none of the signs that markup begins with; the same each time."""
    text = json.dumps(record(link), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
