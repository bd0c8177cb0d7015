"""The numbers of a frame as a file: CSV, JSON or Parquet, each with the record of where they come from."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, get_args

from sim.errors import InvalidInput
from sim.frame import Frame, Sites
from sim.link import Link
from sim.record import MARK, dumps_record, record
from sim.sentences import either, shown

Kind = Literal["csv", "json", "parquet"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"')


def column_kinds() -> Mapping[str, str]:
    """The kinds of file, each with the reason why this machine cannot write it: "" where it can."""
    missing = "" if find_spec("pyarrow") else "Parquet needs pyarrow, which is not installed: pip install pyarrow"
    return {kind: missing if kind == "parquet" else "" for kind in KINDS}


def columns_file(frame: Frame, link: Link, kind: str) -> bytes:
    """The sites of a frame, a row each with every column of `Sites`, as the bytes of a file; the same each time.

    Columns are called as in the frame's JSON, and every number reads back as the very same one. What is undetermined
    is empty in CSV, null in the others; JSON and Parquet say why.

    CSV quotes as RFC 4180 has it and changes no text: its cells hold words of the model's vocabulary, which a
    spreadsheet can take for nothing worse than a lone sign. The record in the line before them may hold a stranger's
    texts: commas and semicolons within these are escaped as JSON allows, so that no cell of a spreadsheet begins with
    them.

    Args:
        frame: whose numbers these are.
        link: the moment that the frame is of.
        kind: csv, json or parquet.

    Raises:
        InvalidInput: for another kind, and where what writes this one is not installed.
    """
    if kind not in KINDS:
        raise InvalidInput([f"kind: got {shown(kind)}, allowed {either(KINDS)}"])
    if reason := column_kinds()[kind]:
        raise InvalidInput([f"kind: {reason}, or choose csv or json"])
    write: Mapping[str, Callable[[Frame, Link], bytes]] = {"csv": _csv, "json": _json, "parquet": _parquet}
    return write[kind](frame, link)


def _names() -> list[str]:
    return [field.name for field in fields(Sites)]


def _csv(frame: Frame, link: Link) -> bytes:
    text = io.StringIO(newline="")
    text.write(f"# {MARK} {_TEXTS.sub(_inert, dumps_record(link))}\n")
    write = csv.writer(text, lineterminator="\n")
    names = _names()
    write.writerow(names)
    write.writerows([_cell(site[name]) for name in names] for site in frame.to_json()["sites"])
    return text.getvalue().encode()


def _inert(text: re.Match[str]) -> str:
    return text[0].replace(",", "\\u002c").replace(";", "\\u003b")


def _cell(value: Any) -> str:
    """A value as text that reads back as the same: Python's repr of a float is the shortest that does."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else repr(value)


def _json(frame: Frame, link: Link) -> bytes:
    text = json.dumps(frame.to_json() | {MARK: record(link)}, allow_nan=False, ensure_ascii=False, indent=1)
    return f"{text}\n".encode()


def _parquet(frame: Frame, link: Link) -> bytes:
    try:
        pa, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        why = f"pyarrow is here and does not load ({error})"
        raise InvalidInput([f"kind: {why}; install it again, or choose csv or json"]) from None
    body = frame.to_json()
    kinds = {"sequence": pa.int64(), "position": pa.int64(), "clipped": pa.bool_(), "on_policy": pa.bool_()}
    texts = ("text", "raised", "prefix")
    schema = []
    for name in _names():
        why = body["reasons"].get(f"sites.{name}")
        kind = pa.string() if name in texts else kinds.get(name, pa.float64())
        schema.append(pa.field(name, kind, metadata={"undetermined": why} if why else None))
    rows = pa.Table.from_pylist(body["sites"], pa.schema(schema, metadata={MARK: dumps_record(link)}))
    file = io.BytesIO()
    parquet.write_table(rows, file)
    return file.getvalue()
