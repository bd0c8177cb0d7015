"""What a link says, value by value: settings that differ, steps, and what is packed since it has no short form."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from sim.config import Config
from sim.errors import InvalidInput
from sim.override import override, settings
from sim.packed import pack, unpack
from sim.presets import MAX_BYTES, Preset, parse_preset
from sim.sentences import shown
from sim.session_file import LARGEST, MAX_STEPS, MAX_WORK, VERSION, Kept, dumps_session, parse_session
from sim.session_rows import rows
from sim.timeline import Path

#: Bytes that a session in a link may have unpacked: who opens one waits while it is read.
MAX_SESSION = 200_000
#: The preset of an address that names none.
DEFAULT = "opsd-collapse"


def differing(config: Config, base: Config) -> Iterator[tuple[str, Any]]:
    """The settings that are not those of another configuration, by dotted key, in the order of the schema."""
    values, others = config.model_dump(mode="json"), base.model_dump(mode="json")
    for key in settings():
        value, other = values, others
        for name in key.split("."):
            value, other = value[name], other[name]
        # By their text, for 0.0 and -0.0 are equal and lead to other frames' keys.
        if json.dumps(value) != json.dumps(other):
            yield key, value


def written(value: Any) -> str:
    """A setting's value as it stands in a link: JSON, a word without its quotes."""
    return value if isinstance(value, str) else json.dumps(value)


def assigned(config: Config, values: Mapping[str, str], problems: list[str]) -> Config:
    """A configuration with these settings; those that are not allowed are told and left out.

    Settings may exclude each other, so that all are tried together, and only where that fails one after the other,
    again and again until no more can be taken.
    """
    try:
        return override(config, [f"{key}={value}" for key, value in values.items()])
    except InvalidInput:
        left = dict(values)
    while True:
        refused = dict[str, list[str]]()
        for key, value in left.items():
            try:
                config = override(config, [f"{key}={value}"])
            except InvalidInput as error:
                refused[key] = error.problems
        if len(refused) == len(left):
            problems += [problem for each in refused.values() for problem in each]
            return config
        left = {key: left[key] for key in refused}


def whole(key: str, text: str, problems: list[str]) -> int | None:
    """A whole number from 0; None for anything else, which is told."""
    if text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= LARGEST:
        return int(text)
    problems.append(f"{key}: got {shown(text)}, allowed a whole number, 0 to {LARGEST}; correct it")
    return None


def stepped(steps: int, config: Config, problems: list[str]) -> Path:
    """So many steps from the checkpoint, each under these settings and from batch 0; none if they are too many."""
    most = min(MAX_STEPS, MAX_WORK // config.source.rollouts)
    if steps > most:
        answers = config.source.rollouts
        problems.append(f"step: got {steps}, allowed at most {most} with {answers} answers a batch; correct it")
        return Path()
    return Path().then(config, 0, steps)


def packed_preset(preset: Preset) -> str:
    """A preset that does not ship."""
    return pack(_short(preset.model_dump(mode="json", by_alias=True)))


def unpacked_preset(text: str) -> Preset:
    """The preset that was packed; InvalidInput if it is none."""
    return parse_preset(unpack(text, "own", MAX_BYTES), "own")


def packed_log(kept: Kept) -> str:
    """A session, its settings without what they have by default; InvalidInput if it is more than a link may hold."""
    dumps_session(kept.timeline, kept.presets)
    value = rows(kept.timeline, kept.presets)
    settings = [_without(each, _default()) for each in value["settings"]]
    own = [_short(each) for each in value["own_presets"]]
    packed = pack({"schema_version": VERSION, **value, "settings": settings, "own_presets": own})
    unpack(packed, "log", MAX_SESSION)
    return packed


def grown(kept: Kept) -> tuple[str | None, Preset]:
    """The preset that the newest event of a session grew out of, after its name."""
    timeline = kept.timeline
    return kept.presets[timeline.root(timeline.current).index]


def unpacked_log(text: str) -> Kept:
    """The session that was packed; InvalidInput if it is none."""
    return parse_session(unpack(text, "log", MAX_SESSION), "log")


def _short(preset: Mapping[str, Any]) -> dict[str, Any]:
    """A preset's JSON with only those settings that are not the default."""
    return {**preset, "config": _without(preset["config"], _default())}


@cache
def _default() -> dict[str, Any]:
    return Config().model_dump(mode="json")


def _without(value: Mapping[str, Any], default: Mapping[str, Any]) -> dict[str, Any]:
    """What an object has that the default has not."""
    found = dict[str, Any]()
    for key, each in value.items():
        kept = _without(each, default[key]) if isinstance(each, dict) else each
        if kept != {} and json.dumps(kept) != json.dumps(default[key]):
            found[key] = kept
    return found
