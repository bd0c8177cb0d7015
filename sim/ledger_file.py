"""The ledger of claims as JSON: what was measured of each, read back with every number checked against its values."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from sim import resources
from sim.codec import MAX_BYTES, parse_json
from sim.config import Settings
from sim.errors import InvalidInput
from sim.presets import builtin
from sim.sentences import dotted, limited, shown

SCHEMA_VERSION = 1
#: The ledger's name among the assets.
FILE = "claims.json"
#: What makes the ledger that ships.
COMMAND = f"gradcloud claims --json assets/{FILE}"
VERDICTS = ("holds here", "holds only when", "does not hold here")

#: How far the mean of a row may lie from that of its values, as a share of the largest: numbers may be rounded.
_ROUNDED = 0.01


def _known(name: str) -> str:
    try:
        builtin(name)
    except InvalidInput as error:
        raise ValueError(error.problems[0]) from None
    return name


Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
Line = Annotated[str, Field(min_length=1, max_length=400)]
Prose = Annotated[str, Field(max_length=2000)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Cell = str | int | float | None


class Measurement(Settings):
    """One quantity, once for each seed; null where it was undetermined. `low` and `high` are the extremes."""

    name: Line
    unit: Annotated[str, Field(max_length=40)] = ""
    values: tuple[float | None, ...] = Field(min_length=1, max_length=1000, strict=False)
    mean: float | None
    low: float | None
    high: float | None

    @property
    def determined(self) -> list[float]:
        """The values that there are."""
        return [value for value in self.values if value is not None]

    @model_validator(mode="after")
    def _read_off_its_values(self) -> "Measurement":
        values = self.determined
        try:
            wanted = (math.fsum(values) / len(values), min(values), max(values)) if values else (None, None, None)
        except OverflowError:
            raise ValueError("the sum of the values is out of a float's range; write smaller ones") from None
        room = _ROUNDED * max(map(abs, values), default=0.0)
        for name, right in zip(("mean", "low", "high"), wanted, strict=True):
            came = getattr(self, name)
            if (came is None) != (right is None) or (right is not None and abs(came - right) > room):
                raise ValueError(
                    f"{name} is {shown(came)}, but that of the values is {shown(right)}; compute it of them"
                )
        return self


class Claim(Settings):
    """A sentence of a text, what was measured of it here, and the verdict."""

    name: Name
    topic: Line
    claim: Line
    source: Line
    presets: tuple[Annotated[str, AfterValidator(_known)], ...] = Field(max_length=20, strict=False)
    setting: Prose
    measurements: tuple[Measurement, ...] = Field(min_length=1, max_length=40, strict=False)
    verdict: Literal["holds here", "does not hold here", "holds only when"]
    condition: Prose = ""
    note: Prose = ""
    seconds: float = Field(ge=0)

    @model_validator(mode="after")
    def _conditional(self) -> "Claim":
        if (self.verdict == "holds only when") != bool(self.condition.strip()):
            raise ValueError(
                f"verdict is {shown(self.verdict)} and condition {shown(self.condition)}; "
                'write a condition for "holds only when", and for no other verdict'
            )
        return self


class Table(Settings):
    """Numbers that belong to no one claim: a cell is text, a number, or null where there is none."""

    name: Name
    title: Line
    note: Prose = ""
    columns: tuple[Line, ...] = Field(min_length=1, max_length=40, strict=False)
    rows: tuple[Annotated[tuple[Cell, ...], Field(strict=False)], ...] = Field(max_length=1000, strict=False)

    @model_validator(mode="after")
    def _rectangular(self) -> "Table":
        for i, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"row {i} has {len(row)} cells, and there are {len(self.columns)} columns; give each column a cell"
                )
        return self


class Made(Settings):
    """With what the ledger was made: versions, the weights' hashes, the seeds and the machine."""

    gradcloud: Line
    python: Line
    torch: Line
    numpy: Line
    weights: dict[str, Hash]
    seeds: tuple[Annotated[int, Field(ge=0, le=2**31 - 1)], ...] = Field(min_length=1, max_length=1000, strict=False)
    machine: Line


class Ledger(Settings):
    """All claims, in the order in which they are told, and the tables beside them."""

    schema_version: Literal[1]
    made: Made
    claims: tuple[Claim, ...] = Field(max_length=500, strict=False)
    tables: tuple[Table, ...] = Field((), max_length=100, strict=False)

    @model_validator(mode="after")
    def _each_once(self) -> "Ledger":
        for what, names in (("claims", [c.name for c in self.claims]), ("tables", [t.name for t in self.tables])):
            if repeated := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"{what} named {shown(repeated[0])} come more than once; rename one")
        return self


def parse_ledger(data: str | bytes, origin: str = FILE) -> Ledger:
    """The ledger in a JSON text.

    Raises:
        InvalidInput: with a line for each problem: the field, what came, what is allowed, what to do.
    """
    value = parse_json(data, origin)
    try:
        return Ledger.model_validate(value)
    except ValidationError as error:
        raise InvalidInput(limited([f"{origin}: {line}" for line in _lines(error)])) from None


def dumps_ledger(ledger: Ledger) -> str:
    """The ledger as JSON text, the same bytes each time; parse_ledger gives an equal one back."""
    return json.dumps(ledger.model_dump(mode="json"), allow_nan=False, ensure_ascii=False, indent=1) + "\n"


def load_ledger(path: Path | None = None) -> Ledger | None:
    """The ledger that ships, or the one in a file; None where there is no such file.

    Raises:
        InvalidInput: if what the file holds is not valid.
    """
    path = resources.assets() / FILE if path is None else path
    try:
        # Opening a pipe waits for who writes to it, so it is asked about first.
        if path.exists() and not path.is_file():
            raise InvalidInput([f"{path}: cannot be read (no regular file); allowed is a readable file"])
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput([f"{path}: cannot be read ({error.strerror}); allowed is a readable file"]) from None
    return parse_ledger(data, path.name)


def markdown(ledger: Ledger) -> str:
    """The claims as a table of Markdown: claim, verdict, what was measured first and second, presets."""
    lines = ["| claim | verdict | measured | preset |", "| --- | --- | --- | --- |"]
    for each in ledger.claims:
        measured = "; ".join(map(_measured, each.measurements[:2]))
        cells = (each.claim, f"{each.verdict} {each.condition}".strip(), measured, ", ".join(each.presets))
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return "\n".join(lines) + "\n"


def _measured(each: Measurement) -> str:
    if each.mean is None or each.low is None or each.high is None:
        return f"{each.name}: undetermined"
    spread = "" if len(each.determined) == 1 else f" ({_short(each.low)} to {_short(each.high)})"
    return f"{each.name} {_short(each.mean)}{spread} {each.unit}".rstrip()


def _short(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _lines(error: ValidationError) -> Iterator[str]:
    items = error.errors(include_url=False)
    for item in items:
        # A list whose entries are refused is called too short as well.
        inner = (other for other in items if other["loc"][: len(item["loc"])] == item["loc"] and other is not item)
        if item["type"] != "too_short" or next(inner, None) is None:
            yield _line(item)


def _line(item: Any) -> str:
    """One line of what pydantic found."""
    path = dotted(item["loc"]) or "the ledger"
    if item["type"] == "value_error":
        return f"{path}: {item['ctx']['error']}"
    if item["type"] == "missing":
        return f"{path}: missing; make the file again: {COMMAND}"
    if item["type"] == "extra_forbidden":
        return f"{path}: unknown key; remove it"
    wanted = item["msg"].replace("Input should", "it should")
    return f"{path}: got {shown(item['input'])}; {wanted}; correct it"
