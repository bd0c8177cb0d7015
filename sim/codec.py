"""Strict JSON from strangers: within bounds on size and depth, and nothing that the standard leaves open."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from sim.errors import InvalidInput
from sim.sentences import Path, Unreadable, dotted, either, limited, shown

MAX_BYTES = 256_000
MAX_DEPTH = 16

# More digits than any setting takes; Python itself refuses to read 4,300.
_MAX_DIGITS = 20
_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


def parse_json(data: str | bytes, origin: str = "preset", most: int = MAX_BYTES) -> Any:
    """The value of a JSON text.

    Args:
        data: the text, or its bytes in UTF-8 without a byte order mark.
        origin: what the messages call the text.
        most: bytes that it may have.

    Raises:
        InvalidInput: for anything that is not JSON, and for what JSON leaves open: over `most` bytes or
            MAX_DEPTH, keys given twice, NaN, infinity, numbers out of a float's range, whole numbers of
            over 20 digits, halves of surrogate pairs.
    """
    text = _text(data, origin, most)
    _check_depth(text, origin)
    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_float=_float, parse_int=_whole, parse_constant=Unreadable
    )
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as found:
        error = _comma(found)
        message = error.msg[:1].lower() + error.msg[1:]
        raise InvalidInput(
            [f"{origin}: not JSON at line {error.lineno}, column {error.colno}: {message}; correct it there"]
        ) from None
    if problems := list(_flaws(value, (), origin)):
        raise InvalidInput(limited(problems))
    return value


def parse_object(data: str | bytes, origin: str, keys: Sequence[str], most: int = MAX_BYTES) -> dict[str, Any]:
    """The object that a JSON text is, as parse_json reads it; `keys` are what a message says that it has.

    Raises:
        InvalidInput: as parse_json does, and for any other value.
    """
    value = parse_json(data, origin, most)
    if not isinstance(value, dict):
        raise InvalidInput([f"{origin}: got {shown(value)}, allowed an object with {either(keys, 'and')}"])
    return value


def leading(text: str) -> str:
    """The object or list that a text begins with, up to the bracket that closes it; all of it where none does."""
    for depth, end in _depths(text):
        if depth == 0:
            return text[:end]
    return text


def _comma(error: json.JSONDecodeError) -> json.JSONDecodeError:
    """The error, told at the comma where one before a closing bracket is what is wrong."""
    before = error.doc[: error.pos].rstrip(" \t\r\n")
    # Newer versions of Python tell it themselves, at the comma.
    if before.endswith(",") and error.doc[error.pos : error.pos + 1] in ("]", "}"):
        return json.JSONDecodeError("a comma too many, before a closing bracket", error.doc, len(before) - 1)
    return error


class _Repeating(dict[str, Any]):
    """An object in which keys came twice."""

    repeated: tuple[str, ...] = ()


def _text(data: str | bytes, origin: str, most: int) -> str:
    size = len(data)
    if size <= most and isinstance(data, str):
        size = len(data.encode(errors="surrogatepass"))
    if size > most:
        raise InvalidInput([f"{origin}: over {most} bytes, allowed at most {most}; shorten it"])
    try:
        text = data.decode() if isinstance(data, bytes) else data
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InvalidInput(
            [f"{origin}: byte 0x{byte:02x} at offset {error.start} is not UTF-8; save it as UTF-8"]
        ) from None
    if text.startswith("\ufeff"):
        raise InvalidInput([f"{origin}: begins with a byte order mark; save it as UTF-8 without one"])
    if not text.strip(" \t\r\n"):
        raise InvalidInput([f"{origin}: empty, allowed is one JSON object; fill it in"])
    return text


def _check_depth(text: str, origin: str) -> None:
    if any(depth > MAX_DEPTH for depth, _ in _depths(text)):
        raise InvalidInput([f"{origin}: over {MAX_DEPTH} levels deep, allowed at most {MAX_DEPTH}; flatten it"])


def _depths(text: str) -> Iterator[tuple[int, int]]:
    """After each bracket, how many are open, and where it ends."""
    depth = 0
    for match in _TOKENS.finditer(text):
        token = match.group()
        if token[0] != '"':
            depth += 1 if token in "[{" else -1
            yield depth, match.end()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    counts: dict[str, int] = {}
    for key, _ in pairs:
        counts[key] = counts.get(key, 0) + 1
    marked = _Repeating(found)
    marked.repeated = tuple(key for key, count in counts.items() if count > 1)
    return marked


def _float(text: str) -> float | Unreadable:
    value = float(text)
    return Unreadable(text) if abs(value) == float("inf") else value


def _whole(text: str) -> int | Unreadable:
    return Unreadable(text) if len(text) > _MAX_DIGITS else int(text)


def _flaws(value: Any, path: Path, origin: str) -> Iterator[str]:
    name = dotted(path) or origin
    if isinstance(value, Unreadable):
        yield f"{name}: got {shown(value)}, allowed are finite numbers of ordinary size; write one"
    elif isinstance(value, str):
        if _halved(value):
            yield f"{name}: holds half of a surrogate pair, which is no character; remove its \\u escape"
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _flaws(item, (*path, i), origin)
    elif isinstance(value, dict):
        if isinstance(value, _Repeating):
            yield from (f"{dotted((*path, key))}: given twice, allowed once; keep one" for key in value.repeated)
        for key, item in value.items():
            if _halved(key):
                yield f"{name}: a key holds half of a surrogate pair, which is no character; remove its \\u escape"
            yield from _flaws(item, (*path, key), origin)


def _halved(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
