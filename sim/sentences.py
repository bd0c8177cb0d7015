"""What came, what is allowed and what to do: a validation error as one line that a person can act on."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sim.errors import InvalidInput

MAX_PROBLEMS = 20
_MAX_SHOWN = 48

Path = tuple[str | int, ...]
Schema = Mapping[str, Any]
Suggest = Callable[[str, Sequence[str]], str | None]
Model = TypeVar("Model", bound=BaseModel)


class Unreadable(str):
    """A number as it was written, which no setting can take."""


def validated(
    model: type[Model], value: Any, schema: Schema, suggest: Suggest | None = None, origin: str = ""
) -> Model:
    """A JSON value as a model.

    Args:
        model: what it has to be; keys go by their names in JSON.
        value: the value.
        schema: the model's JSON Schema.
        suggest: as translate takes it.
        origin: begins each message, if it is given.

    Raises:
        InvalidInput: with a line for each problem: the field, what came, what is allowed, what to do.
    """
    try:
        return model.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        lines = translate(error, schema, suggest)
    raise InvalidInput([f"{origin}: {line}" if origin else line for line in lines])


def translate(error: ValidationError, schema: Schema, suggest: Suggest | None = None) -> list[str]:
    """One line for each problem that pydantic found, the first MAX_PROBLEMS of them.

    Args:
        error: what a strict model raised.
        schema: the model's JSON Schema; what is allowed is read from it.
        suggest: gives the key that was meant, for a dotted unknown key and the keys that may stand in
            its place; by default the nearest of these.
    """
    suggest = suggest or (lambda path, keys: nearest(path.rpartition(".")[2], keys))
    items = error.errors(include_url=False)
    lines = [_line(item, schema, suggest) for item in items[:MAX_PROBLEMS]]
    return limited(lines, len(items))


def limited(problems: list[str], total: int | None = None) -> list[str]:
    """The first MAX_PROBLEMS problems, and how many more there are."""
    more = (len(problems) if total is None else total) - MAX_PROBLEMS
    return problems if more <= 0 else [*problems[:MAX_PROBLEMS], f"and {more} more; correct these first"]


def nearest(word: str, words: Sequence[str]) -> str | None:
    """The word that was probably meant, if one is near."""
    return next(iter(get_close_matches(word[:_MAX_SHOWN].lower(), words, 1)), None)


def shown(value: Any) -> str:
    """A JSON value on one line, shortened, with no character that acts on a terminal."""
    if isinstance(value, dict):
        return f"an object of {len(value)} key{'s' * (len(value) != 1)}"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if not isinstance(value, str):
        return json.dumps(value)
    more = "..." if len(value) > _MAX_SHOWN else ""
    start = value[:_MAX_SHOWN]
    if isinstance(value, Unreadable):
        return start + more
    return json.dumps(start + more, ensure_ascii=not start.isprintable())


def dotted(path: Path) -> str:
    """A path as in ``config.clip.on``; a key that is no plain name is quoted."""
    plain = re.compile(r"[A-Za-z0-9_-]{1,48}")
    return ".".join(str(key) if isinstance(key, int) or plain.fullmatch(key) else shown(key) for key in path)


def node_at(schema: Schema, path: Path) -> Schema:
    """What a JSON Schema says about the value at a path; empty where nothing may stand."""
    node = _resolved(schema, schema)
    for key in path:
        inner = node.get("items", {}) if isinstance(key, int) else node.get("properties", {}).get(key, {})
        node = _resolved(inner, schema)
    return {**node, "items": _resolved(node["items"], schema)} if "items" in node else node


def allowed(node: Schema) -> str:
    """What a JSON Schema allows, in words."""
    kind = node.get("type")
    if "const" in node:
        return shown(node["const"])
    if "enum" in node:
        return either([shown(option) for option in node["enum"]])
    if kind == "object":
        return f"an object with {either(list(node['properties']), 'and')}"
    if kind == "array":
        return f"a list of at most {node['maxItems']}, each {allowed(node['items'])}"
    if kind == "string":
        return f"text of {node['minLength']} to {node['maxLength']} characters"
    if kind == "boolean":
        return "true or false"
    return f"a {'whole ' * (kind == 'integer')}number, {_range(node)}"


def either(words: Sequence[str], last: str = "or") -> str:
    """The words with commas, and a conjunction before the last."""
    return f"{', '.join(words[:-1])} {last} {words[-1]}" if len(words) > 1 else "".join(words)


def _line(item: Mapping[str, Any], schema: Schema, suggest: Suggest) -> str:
    loc, kind, value = item["loc"], item["type"], item["input"]
    path = dotted(loc)
    if kind == "value_error":
        return f"{path}: {item['ctx']['error']}" if path else str(item["ctx"]["error"])
    if kind == "extra_forbidden":
        keys = list(node_at(schema, loc[:-1])["properties"])
        meant = suggest(path, keys)
        return f"{path}: unknown key; " + (f'did you mean "{meant}"?' if meant else f"allowed: {', '.join(keys)}")
    node = node_at(schema, loc)
    if kind == "missing":
        return f"{path}: missing; add it: {allowed(node)}"
    return _refusal(path, value, node)


def _refusal(path: str, value: Any, node: Schema) -> str:
    """The line that says why a value is not what a JSON Schema allows."""
    came, wanted = shown(value), allowed(node)
    kind, numeric = node.get("type"), isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(value, str) and kind == "string" and "maxLength" in node:
        came = f"{len(value)} characters"
    elif numeric and (kind == "number" or (kind == "integer" and isinstance(value, int))):
        wanted = _range(node)
    elif isinstance(value, list) and kind == "array":
        wanted = f"at most {node['maxItems']}"
    return f"{path}: got {came}, allowed {wanted}{_advice(value, node)}"


def _advice(value: Any, node: Schema) -> str:
    kind = node.get("type")
    if isinstance(value, str) and "enum" in node:
        meant = nearest(value, [str(option) for option in node["enum"]])
        return f'; did you mean "{meant}"?' if meant else ""
    if isinstance(value, str) and kind == "boolean":
        return f"; write {value.lower()}" if value.lower() in ("true", "false") else ""
    if isinstance(value, str) and kind in ("number", "integer"):
        return "; write it without quotes" if re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", value) else ""
    if isinstance(value, float) and kind == "integer" and value.is_integer() and abs(value) < 1e9:
        return f"; write {int(value)}"
    return ""


def _range(node: Schema) -> str:
    if "exclusiveMinimum" in node:
        return f"above {node['exclusiveMinimum']:.15g}, up to {node['maximum']:.15g}"
    return f"{node['minimum']:.15g} to {node['maximum']:.15g}"


def _resolved(node: Schema, schema: Schema) -> Schema:
    while "$ref" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    return node
