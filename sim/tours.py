"""Guided tours: steps that load a preset, turn a dial, draw or step, and say in words what to look at then."""

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from sim import resources
from sim.codec import MAX_BYTES, parse_object
from sim.config import Settings
from sim.errors import InvalidInput
from sim.override import override
from sim.presets import Suggestion, Title, builtin
from sim.presets import names as presets
from sim.sentences import nearest, shown, validated
from sim.timeline import Moment

SCHEMA_VERSION = 1
#: The levels at which the same thing is told, the easiest first; a file each.
LEVELS = ("child", "high-school", "college", "practitioner", "phd", "researcher")
#: Characters that a step's text may have, to fit beside the picture.
TEXT = 900

Act = Literal["draw", "step"]


def _known(name: str) -> str:
    if name not in presets():
        meant = nearest(name, presets())
        raise ValueError(f"no preset is called {shown(name)}" + (f'; did you mean "{meant}"?' if meant else ""))
    return name


Words = Annotated[str, Field(min_length=1, max_length=TEXT)]


class Step(Settings):
    """One step of a tour: what is done, and what is said of it; in JSON, `settings` is ``set``.

    `settings` are assignments as sim.override takes them; `acts` follow them. `look` names the dial or the reading that
    the text is about, or "picture". Numbers in `text` are marked with what they are; see sim.quotes.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    title: Title
    text: Words
    preset: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_known)] | None = None
    settings: tuple[Suggestion, ...] = Field(
        (), max_length=8, strict=False, validation_alias="set", serialization_alias="set"
    )
    acts: tuple[Act, ...] = Field((), max_length=8, strict=False)
    look: Annotated[str, Field(max_length=40)] = ""
    formula: Annotated[str, Field(max_length=400)] = ""


class Tour(Settings):
    """A tour at one level; `level` is whom it is for."""

    schema_version: int = Field(ge=1, le=1)
    level: Title
    title: Title
    steps: tuple[Step, ...] = Field(max_length=12, strict=False)


def parse_tour(data: str | bytes, origin: str = "tour") -> Tour:
    """The tour in a JSON text.

    Raises:
        InvalidInput: with a line for each problem: the field, what came, what is allowed, what to do.
    """
    value = parse_object(data, origin, list(Tour.model_fields))
    tour = validated(Tour, value, json_schema(), origin=origin)
    stops(tour)
    return tour


def stops(tour: Tour) -> tuple[Moment, ...]:
    """The moment to which each step of a tour leads, one from the other.

    Raises:
        InvalidInput: if the first step loads no preset, or a setting is unknown, not allowed, or changes nothing.
    """
    first = tour.steps[0].preset if tour.steps else None
    if first is None:
        raise InvalidInput(["steps.0.preset: missing; a tour begins with a preset, name one"])
    found: list[Moment] = []
    moment = Moment(builtin(first).config)
    for place, step in enumerate(tour.steps):
        if step.preset is not None:
            moment = Moment(builtin(step.preset).config)
        moment = _set(moment, step.settings, f"steps.{place}.set")
        for act in step.acts:
            moment = moment.next_draw() if act == "draw" else moment.next_step()
        found.append(moment)
    return tuple(found)


def names() -> tuple[str, ...]:
    """The levels that come with the program, the easiest first."""
    return tuple(name for name in LEVELS if _path(name).is_file())


def builtin_tour(name: str) -> Tour:
    """The tour of a level; no other file is ever read.

    Raises:
        InvalidInput: if there is none.
    """
    if name not in names():
        raise InvalidInput([f"no tour is called {shown(name)}; tours: {', '.join(names())}"])
    with _path(name).open("rb") as file:
        return parse_tour(file.read(MAX_BYTES + 1), f"{name}.json")


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema of a tour's file."""
    return Tour.model_json_schema(by_alias=True)


def _path(name: str) -> Path:
    return resources.presets() / "tours" / f"{name}.json"


def _set(moment: Moment, assignments: tuple[str, ...], where: str) -> Moment:
    if not assignments:
        return moment
    try:
        config = override(moment.config, assignments)
    except InvalidInput as error:
        raise InvalidInput([f"{where}: {problem}" for problem in error.problems]) from None
    for each in assignments:
        if override(moment.config, [each]) == moment.config:
            raise InvalidInput([f"{where}: {shown(each)} changes nothing; it stands so already, remove it"])
    return moment.with_config(config)
