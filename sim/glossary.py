"""The glossary: what each word and symbol of the page means."""

from functools import cache
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sim import resources
from sim.codec import MAX_BYTES, parse_object
from sim.config import Settings
from sim.sentences import shown, validated

FILE = "glossary.json"

Key = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", min_length=1, max_length=60)]
Term = Annotated[str, Field(min_length=1, max_length=80)]


class Entry(Settings):
    """A term.

    `key` names it in addresses; `also` are the other words and symbols that it explains; `where` says where it stands
    on the page; `source` names the text that a fact or a definition is from.
    """

    key: Key
    term: Term
    also: tuple[Term, ...] = Field((), max_length=12, strict=False)
    text: Annotated[str, Field(min_length=1, max_length=500)]
    formula: Annotated[str, Field(max_length=300)] = ""
    unit: Annotated[str, Field(max_length=60)] = ""
    where: Annotated[str, Field(min_length=1, max_length=120)]
    source: Annotated[str, Field(max_length=160)] = ""


class Glossary(Settings):
    """All entries; no key and no word is explained twice."""

    schema_version: Literal[1]
    entries: tuple[Entry, ...] = Field(max_length=400, strict=False)

    @model_validator(mode="after")
    def _each_once(self) -> "Glossary":
        for what, words in (
            ("key", [entry.key for entry in self.entries]),
            ("word", [word for entry in self.entries for word in (entry.term, *entry.also)]),
        ):
            if twice := sorted({word for word in words if words.count(word) > 1}):
                raise ValueError(f"the {what} {shown(twice[0])} comes more than once; keep one")
        return self


def parse_glossary(data: str | bytes, origin: str = FILE) -> Glossary:
    """The glossary in a JSON text.

    Raises:
        InvalidInput: with a line for each problem: the field, what came, what is allowed, what to do.
    """
    value = parse_object(data, origin, list(Glossary.model_fields))
    return validated(Glossary, value, Glossary.model_json_schema(), origin=origin)


@cache
def glossary() -> Glossary:
    """The glossary that ships."""
    with (resources.assets() / FILE).open("rb") as file:
        return parse_glossary(file.read(MAX_BYTES + 1))
