"""A session, a preset with what was done from it on, as versioned JSON that anybody may have written."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from sim.codec import parse_object
from sim.config import MAX_ROLLOUTS, Config, Settings
from sim.errors import InvalidInput
from sim.presets import Preset, check_version, printable, published
from sim.sentences import limited, validated
from sim.session_rows import Presets, rows, shipped
from sim.session_rows import followed as followed_by
from sim.timeline import LABEL, LIMIT, Event, Moment, Path, Timeline

__all__ = [
    "MAX_BYTES", "MAX_STEPS", "MAX_WORK", "VERSION", "Kept", "Presets", "dumps_session", "json_schema",
    "parse_session", "read_session",
]  # fmt: skip

#: The version of the format, bytes that a file may have, and steps that all its paths may have together.
VERSION = 1
MAX_BYTES = 2_000_000
MAX_STEPS = 20_000
#: Rollouts that the steps of any one path may ask for in all: who comes back waits until each is sampled anew.
MAX_WORK = 1000 * MAX_ROLLOUTS
#: The largest number of a batch, an event or a token that a file, a link or a command may have.
LARGEST = 1_000_000_000
_NONE = -1

Place = Annotated[int, Field(ge=0, le=LARGEST)]


def _left_out() -> int:
    return _NONE


class Steps(Settings):
    """Equal steps, one after the other."""

    after: Place = Field(
        default_factory=_left_out, description="the entry of `paths` that they go on from; left out at the checkpoint"
    )
    settings: Place = Field(description="the entry of `settings` that each was taken under")
    draw: Place = Field(description="the batch that each took the update of")
    steps: int = Field(ge=1, le=MAX_STEPS, description="how many there are")


class Entry(Settings):
    """An event; a rewind has the moment and the branch of its parent, and says no more of them."""

    index: Place
    kind: Literal["preset", "control", "draw", "step", "rewind"]
    label: Annotated[str, Field(min_length=1, max_length=LABEL), AfterValidator(printable)]
    parent: Place = Field(default_factory=_left_out, description="the index of the event that it grew out of")
    branch: Place = Field(default_factory=_left_out, description="the number of its branch")
    preset: Annotated[str, Field(min_length=1, max_length=80)] = Field(
        default_factory=str, description="what it opened, by the name of a preset that comes with the program"
    )
    own_preset: Place = Field(default_factory=_left_out, description="or as an entry of `own_presets`")
    settings: Place = Field(default_factory=_left_out, description="its settings, as an entry of `settings`")
    path: Place = Field(
        default_factory=_left_out, description="the entry of `paths` that led there; left out at the checkpoint"
    )
    draw: Place = Field(default_factory=_left_out, description="its batch")


class SessionFile(Settings):
    """The events of a session, oldest first, and what they name by its place in the other lists."""

    schema_version: int = Field(ge=VERSION, le=VERSION)
    branches: int = Field(ge=1, le=LARGEST, description="how many branches there have been")
    followed: tuple[Place, ...] = Field(
        (), max_length=LIMIT, strict=False, description="events of which all that grew out of them is forgotten"
    )
    own_presets: tuple[Preset, ...] = Field((), max_length=LIMIT, strict=False)
    settings: tuple[Config, ...] = Field(max_length=MAX_STEPS, strict=False)
    paths: tuple[Steps, ...] = Field((), max_length=MAX_STEPS, strict=False)
    events: tuple[Entry, ...] = Field(max_length=LIMIT, strict=False)


@dataclass(frozen=True)
class Kept:
    """A timeline, and the preset that each of its preset events opened, by index, with its name if it has one."""

    timeline: Timeline
    presets: dict[int, tuple[str | None, Preset]]


def dumps_session(timeline: Timeline, presets: Presets) -> str:
    """The session as JSON text, the same bytes each time; parse_session gives the same timeline back.

    Args:
        timeline: the log.
        presets: for each of its preset events, by index, the preset and its name.

    Raises:
        InvalidInput: if it is more than a file may hold.
    """
    value = {"schema_version": VERSION, **rows(timeline, presets)}
    file = validated(SessionFile, value, json_schema())
    _bounded(file)
    _affordable(file)
    text = "{\n" + ",\n".join(f"{json.dumps(key)}: {_laid_out(each)}" for key, each in value.items()) + "\n}\n"
    if len(text.encode()) > MAX_BYTES:
        raise InvalidInput([f"session: over {MAX_BYTES} bytes, allowed at most {MAX_BYTES}; clear the log"])
    return text


def parse_session(data: str | bytes, origin: str = "session") -> Kept:
    """The session in a JSON text that need not be trusted.

    Args:
        data: the text, or its bytes.
        origin: what messages about the text as a whole call it.

    Raises:
        InvalidInput: with a line for each problem: the field, what came, what is allowed, what to do.
    """
    return read_session(parse_object(data, origin, list(json_schema()["properties"]), MAX_BYTES))


def read_session(value: dict[str, Any]) -> Kept:
    """The session that a JSON object is; InvalidInput as parse_session raises it."""
    check_version(value, VERSION)
    file = validated(SessionFile, value, json_schema())
    _bounded(file)
    if problems := [*_misplaced_steps(file), *_misplaced_events(file)]:
        raise InvalidInput(limited(problems))
    _affordable(file)
    return _built(file)


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema of a session's file."""
    schema = SessionFile.model_json_schema(by_alias=True)
    return published("session", VERSION, schema)


def _laid_out(value: Any) -> str:
    """A value as JSON; a list with an entry a line."""
    if not isinstance(value, list):
        return json.dumps(value)
    lines = [json.dumps(each, allow_nan=False, ensure_ascii=False) for each in value]
    return "[\n  " + ",\n  ".join(lines) + "\n]" if lines else "[]"


def _bounded(file: SessionFile) -> None:
    steps = sum(each.steps for each in file.paths)
    if steps > MAX_STEPS:
        raise InvalidInput([f"paths: {steps} steps in all, allowed at most {MAX_STEPS}; clear the log"])


def _affordable(file: SessionFile) -> None:
    """Refuse paths that would keep whoever replays them too long; every entry that they name must be there."""
    work, problems = list[int](), list[str]()
    for i, each in enumerate(file.paths):
        before = 0 if each.after == _NONE else work[each.after]
        work.append(before + each.steps * file.settings[each.settings].source.rollouts)
        if work[i] > MAX_WORK:
            problems.append(
                f"paths.{i}: {work[i]} rollouts from the checkpoint to its end, allowed at most {MAX_WORK}; "
                "leave it out, or give it fewer steps, prompts or answers"
            )
    if problems:
        raise InvalidInput(limited(problems))


def _misplaced_steps(file: SessionFile) -> Iterator[str]:
    for i, each in enumerate(file.paths):
        yield from _place(f"paths.{i}.settings", each.settings, file.settings)
        if each.after != _NONE:
            yield from _place(f"paths.{i}.after", each.after, file.paths[:i])


def _misplaced_events(file: SessionFile) -> Iterator[str]:
    if not file.events:
        yield "events: got a list of 0, allowed 1 and more; begin with a preset's"
    if file.events and (file.events[0].kind != "preset" or file.events[0].parent != _NONE):
        yield "events.0.kind: the first event has no parent and is a preset's; begin with one"
    last, begun = _NONE, set[int]()
    for i, event in enumerate(file.events):
        if event.index <= last:
            yield f"events.{i}.index: got {event.index}, allowed are numbers above the one before, {last}; sort them"
        if (event.parent != _NONE or event.kind != "preset") and event.parent not in begun:
            came = "missing" if event.parent == _NONE else f"got {event.parent}"
            yield f"events.{i}.parent: {came}, allowed is the index of an earlier event that is no rewind; name one"
        yield from _moment(i, event, file)
        last = event.index
        begun |= set() if event.kind == "rewind" else {event.index}
    for i, index in enumerate(file.followed):
        if index not in begun:
            yield f"followed.{i}: got {index}, allowed is the index of an event that is no rewind; leave it out"


def _moment(i: int, event: Entry, file: SessionFile) -> Iterator[str]:
    """What is wrong with the fields that an event has by its kind."""
    opens = {"preset", "own_preset"} & event.model_fields_set
    if event.kind == "rewind":
        extra = {"branch", "settings", "path", "draw", *opens} & event.model_fields_set
        yield from (f"events.{i}.{name}: a rewind has its parent's; leave it out" for name in sorted(extra))
        return
    if (event.kind == "preset") != (len(opens) == 1):
        one = "either preset or own_preset, for it is" if event.kind == "preset" else "neither, for it is not"
        yield f"events.{i}.preset: allowed is {one} a preset's; correct it"
    for name in ("branch", "settings", "draw"):
        if name not in event.model_fields_set:
            yield f"events.{i}.{name}: missing; add it: a whole number, 0 and more"
    if event.branch >= file.branches:
        yield f"events.{i}.branch: got {event.branch}, allowed 0 to {file.branches - 1}, as `branches` says"
    for name, entries in (("settings", file.settings), ("path", file.paths), ("own_preset", file.own_presets)):
        if name in event.model_fields_set:
            yield from _place(f"events.{i}.{name}", getattr(event, name), entries)
    if "preset" in event.model_fields_set:
        try:
            shipped(event.preset)
        except InvalidInput as error:
            yield from (f"events.{i}.preset: {problem}" for problem in error.problems)


def _place(field: str, place: int, entries: Sequence[object]) -> Iterator[str]:
    if place >= len(entries):
        which = f"0 to {len(entries) - 1}" if entries else "none, for there is no such entry before it"
        yield f"{field}: got {place}, allowed {which}; name an entry that there is"


def _built(file: SessionFile) -> Kept:
    paths: list[Path] = []
    for steps in file.paths:
        before = Path() if steps.after == _NONE else paths[steps.after]
        paths.append(before.then(file.settings[steps.settings], steps.draw, steps.steps))
    events, presets = dict[int, Event](), dict[int, tuple[str | None, Preset]]()
    for each in file.events:
        parent = None if each.parent == _NONE else each.parent
        if each.kind == "rewind":
            moment, branch = events[each.parent].moment, events[each.parent].branch
        else:
            path = Path() if each.path == _NONE else paths[each.path]
            moment, branch = Moment(file.settings[each.settings], path, each.draw), each.branch
        if each.kind == "preset":
            presets[each.index] = (
                (each.preset, shipped(each.preset)) if each.preset else (None, file.own_presets[each.own_preset])
            )
        events[each.index] = Event(each.index, each.kind, each.label, moment, parent, branch)
    followed = {*file.followed, *followed_by(events.values())}
    return Kept(Timeline.restored(list(events.values()), file.branches, followed), presets)
