"""Settings by dotted key, as in ``clip.on=true``: which there are, and how a configuration takes new values."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from sim.codec import parse_json
from sim.config import Config
from sim.errors import InvalidInput
from sim.sentences import dotted, either, limited, nearest, node_at, shown, validated

#: Other names of settings: the dials' symbols, and words that people type.
HINTS = {
    "alpha": "source.alpha",
    "lambda": "teacher.weight",
    "tau": "clip.threshold",
    "batch": "source.prompts",
    "batch_size": "source.prompts",
    "learning_rate": "update.step_size",
    "lr": "update.step_size",
}

_MAX_KEY = 80
#: They are too many for a line.
_LISTED = "`gradcloud schema preset` lists them"


def override(config: Config, assignments: Iterable[str]) -> Config:
    """The configuration with settings replaced.

    Args:
        config: what to start from.
        assignments: ``dotted.key=value`` each; the value is JSON, or else taken as a bare string.
            ``alpha`` and ``lambda`` stand for the dials' keys, source.alpha and teacher.weight.

    Raises:
        InvalidInput: for an unknown key, a key set twice, or a value that is not allowed.
    """
    values = config.model_dump(mode="json")
    problems, seen = [], set[str]()
    for assignment in assignments:
        given, equals, text = assignment.partition("=")
        key = canonical(given)
        if not equals:
            problems.append(f"{shown(assignment)}: allowed is key=value, such as clip.on=true")
        elif key not in settings():
            problems.append(_unknown(key))
        elif key in seen:
            problems.append(f"{key}: set twice, allowed once; keep one")
        else:
            seen.add(key)
            _put(values, key.split("."), _value(text))
    if problems:
        raise InvalidInput(limited(problems))
    return validated(Config, values, _schema())


def canonical(key: str) -> str:
    """The dotted key that is meant: the dials' symbols stand for theirs."""
    return HINTS[key] if key in ("alpha", "lambda") else key


@cache
def _schema() -> dict[str, Any]:
    return Config.model_json_schema()


@cache
def settings() -> tuple[str, ...]:
    """The dotted keys of all settings."""
    keys = []
    for name in Config.model_fields:
        group = node_at(_schema(), (name,)).get("properties")
        keys += [f"{name}.{leaf}" for leaf in group] if group else [name]
    return tuple(keys)


def _put(values: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    for key in keys[:-1]:
        values = values[key]
    values[keys[-1]] = value


def _value(text: str) -> Any:
    try:
        return parse_json(text)
    except InvalidInput:
        return text


def elsewhere(name: str) -> str | None:
    """The dotted key of a setting that goes by that name, in whatever group."""
    if name in HINTS:
        return HINTS[name]
    ends = {key.rpartition(".")[2]: key for key in settings()}
    near = nearest(name, list(ends))
    return ends[near] if near else None


def _unknown(key: str) -> str:
    """Why a dotted key cannot be set."""
    if inside := [setting for setting in settings() if setting.startswith(f"{key}.")]:
        return f"{key}: a group of settings, allowed is one of them; set {either(inside)}"
    last = key.rpartition(".")[2]
    meant = HINTS.get(last) or nearest(key, settings()) or elsewhere(last)
    name = dotted(tuple(key.split("."))) if len(key) <= _MAX_KEY else shown(key)
    return f"{name}: unknown key; " + (f'did you mean "{meant}"?' if meant else _LISTED)
