"""Presets: a title, a lesson, what to try and a configuration, as versioned JSON that anybody may have written."""

import json
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from sim import resources
from sim.codec import MAX_BYTES, MAX_DEPTH, parse_object
from sim.config import SCHEMA_VERSION, Config, Settings
from sim.errors import InvalidInput
from sim.override import HINTS, elsewhere, override
from sim.sentences import nearest, shown, validated

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "Preset",
    "builtin",
    "dumps_preset",
    "json_schema",
    "names",
    "override",
    "parse_preset",
    "read_preset",
]

_UNSAFE = ("Cc", "Cs", "Zl", "Zp")
_TURNING = ("RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI")


def printable(text: str) -> str:
    """The text, which is not blank, is on one line and turns no other text round; ValueError says what is."""
    for i, character in enumerate(text):
        if unicodedata.category(character) in _UNSAFE or unicodedata.bidirectional(character) in _TURNING:
            raise ValueError(
                f"got the control character U+{ord(character):04X} at position {i}, allowed is plain text on one line; "
                "remove it"
            )
    if not text.strip():
        raise ValueError("got only blanks, allowed is text; write some")
    return text


Title = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(printable)]
Paragraph = Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(printable)]
Suggestion = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(printable)]


class Preset(Settings):
    """A lesson and the configuration that shows it; in JSON, `try_` is ``try``."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    schema_version: int = Field(SCHEMA_VERSION, ge=SCHEMA_VERSION, le=SCHEMA_VERSION)
    title: Title
    lesson: Paragraph = Field(description="what the measured picture shows, in one paragraph of plain text")
    try_: tuple[Suggestion, ...] = Field(
        (),
        max_length=8,
        strict=False,
        validation_alias="try",
        serialization_alias="try",
        description="what to change, and what to look at then",
    )
    config: Config


def parse_preset(data: str | bytes, origin: str = "preset") -> Preset:
    """The preset in a JSON text that need not be trusted.

    Args:
        data: the text, or its bytes.
        origin: what messages about the text as a whole call it.

    Raises:
        InvalidInput: with a line for each problem: the field, what came, what is allowed, what to do.
    """
    return read_preset(parse_object(data, origin, list(json_schema()["properties"])))


def read_preset(value: dict[str, Any]) -> Preset:
    """The preset that a JSON object is; InvalidInput as parse_preset raises it."""
    check_version(value, SCHEMA_VERSION)
    return validated(Preset, value, json_schema(), _meant)


def dumps_preset(preset: Preset) -> str:
    """The preset as JSON text, the same bytes each time; parse_preset gives an equal preset back."""
    value = preset.model_dump(mode="json", by_alias=True)
    return json.dumps(value, allow_nan=False, ensure_ascii=False, indent=2) + "\n"


def names() -> tuple[str, ...]:
    """The names of the presets that come with the program, in alphabetical order."""
    return tuple(sorted(path.stem for path in resources.presets().glob("*.json")))


def builtin(name: str) -> Preset:
    """The preset of that name that comes with the program; no other file is ever read.

    Raises:
        InvalidInput: if there is none.
    """
    if name not in names():
        raise InvalidInput([nothing("preset", name)])
    path = resources.presets() / f"{name}.json"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidInput([f"{path}: cannot be read ({error.strerror}); allowed is a readable file"]) from None
    return parse_preset(data, str(path))


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema of a preset file."""
    schema = Preset.model_json_schema(by_alias=True)
    # The model has a default for presets that the program makes; a file has to say its version.
    schema["required"] = ["schema_version", *schema["required"]]
    return published("preset", SCHEMA_VERSION, schema)


def published(name: str, version: int, schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON Schema with the dialect that it is written in and a name of its own."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:gradcloud:{name}:{version}", **schema
    }  # fmt: skip


def nothing(what: str, name: str) -> str:
    """Says that nothing goes by a name, and which preset was meant, or which there are."""
    meant = nearest(name, names())
    return f"no {what} is called {shown(name)}; " + (
        f'did you mean "{meant}"?' if meant else f"presets: {', '.join(names())}"
    )


def check_version(value: dict[str, Any], now: int) -> None:
    """Refuse a file's object unless its `schema_version` is the one that this program writes."""
    version, this = value.get("schema_version"), f"allowed {now}"
    if "schema_version" not in value:
        raise InvalidInput([f'schema_version: missing; add it: "schema_version": {now}'])
    if isinstance(version, bool) or not isinstance(version, int):
        raise InvalidInput([f"schema_version: got {shown(version)}, {this}; write {now}"])
    if version > now:
        raise InvalidInput(
            [f"schema_version: got {version}, {this}: made by a newer version of gradcloud; update this one"]
        )
    if version < now:
        raise InvalidInput([f"schema_version: got {version}, {this}: there was no such version; correct it"])


def _meant(path: str, keys: Sequence[str]) -> str | None:
    """The key that was meant in a preset: one that may stand there, or one in another place."""
    name = path.rpartition(".")[2]
    if name not in HINTS and (near := nearest(name, keys)):
        return near
    other = elsewhere(name)
    return f"config.{other}" if other else None
