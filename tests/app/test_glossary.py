"""The glossary has an entry for every word and symbol of the page."""

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from app import legend, shading
from app.charts import CHARTS
from app.fields import FIELDS
from app.formula import mathml
from app.quoting import POINTED
from app.views import controls, gauges
from app.views.glossary import Glossary, entries
from sim import safety, words
from sim.errors import InvalidInput
from sim.glossary import glossary, parse_glossary

#: Each term, and each other word that its entry explains, with the entry.
WORDS = {word: entry for entry in glossary().entries for word in (entry.term, *entry.also)}
#: What the page writes beyond what can be read off the program: symbols, the two clocks, the sections below.
SYMBOLS = "α λ β δ τ θ π π_T π_ref nats KL MMD Z".split()
CLOCKS = ("Draw", "Step", "Play", "Pause", "Back", "First", "Preset", "event log", "branch", "step.draw")
SECTIONS = """Look ahead, Run ahead, Collapse rule, collapsed, Batch law, noise scale, Implicit target, reference,
student now, target, J now, The best, By the identity, Claims, Theme""".replace("\n", " ").split(", ")
CARD = """verdict, student, Teacher, token, prefix, rollout, group, reward, advantage, signal, plane,
its step raises most, captured share, update turns, the top 1 % pull, clip leaves, coherence""".replace(
    "\n", " "
).split(", ")


def of_fields() -> Iterator[str]:
    """All labels, choices, ends, symbols and units of the dials."""
    for field in (*FIELDS, controls._RADIUS):
        yield from (field.label, *field.choices.values(), *(field.ends or ()))
        yield from filter(None, (field.symbol, field.unit, field.group))


def of_words() -> Iterator[str]:
    """The words for readings, from where they are chosen."""
    source = inspect.getsource(words) + inspect.getsource(safety)
    yield from re.findall(r'\((?:SPARSE|DENSE|DIFFUSE|CONCENTRATED|NARROW|BROAD|FAINT|STRONG), "([a-z ]+)"\)', source)
    yield from re.findall(r'\),\s+"([a-z]+)",\s+\(', source)
    yield from re.findall(r'Word\("([a-z ]+)", ', source)
    yield from re.findall(r'Verdict\("[a-z]+", "([a-z ]+)"', source)


def of_picture() -> Iterator[str]:
    """What the picture's key and axes say."""
    yield from legend.MARKS.values()
    for axes in legend.AXES.values():
        yield from axes


def all_terms() -> list[str]:
    readings = [name for key, name in POINTED.items() if key not in ("verdict", "picture")]
    charts = [chart.title for chart in CHARTS]
    quantities = [quantity.label for quantity in shading.QUANTITIES.values()]
    return sorted({
        *of_fields(), *of_words(), *of_picture(), *readings, *charts, *quantities, *SYMBOLS, *CLOCKS, *SECTIONS, *CARD,
    })  # fmt: skip


def test_words_are_found_where_they_are_written() -> None:
    found = set(of_words())
    assert {"sparse", "mixed", "dense", "diffuse", "fan", "strong", "mostly noise", "as predicted",
            "past the safe radius", "no signal"} <= found  # fmt: skip
    assert len(all_terms()) > 150


@pytest.mark.parametrize("term", all_terms())
def test_every_word_of_the_page_has_an_entry(term: str) -> None:
    assert term in WORDS


def test_a_reading_opens_an_entry_that_there_is() -> None:
    keys = {entry.key for entry in glossary().entries}
    assert {term for _, term in gauges.KEYS.values()} <= keys
    assert {name for name, _ in gauges.KEYS.values()} == set(POINTED) - {"verdict", "picture"}


def test_a_definition_is_a_sentence_or_two_that_a_person_reads() -> None:
    for entry in glossary().entries:
        assert entry.text.endswith("."), entry.key
        assert 1 <= len(re.findall(r"[.!?](?: |$)", entry.text)) <= 4, entry.key
        assert len(entry.text.split()) >= 8, entry.key


def test_the_rules_that_are_told_are_those_of_the_program() -> None:
    assert f"below {words.SPARSE:g}, dense above {words.DENSE:g}" in WORDS["Density"].text
    assert f"below {words.CONCENTRATED:g}, diffuse above {words.DIFFUSE:g}" in WORDS["Concentration"].text
    assert f"below {words.FAINT:g}, strong above {words.STRONG:g}" in WORDS["Mean norm"].text
    assert (words.NARROW, words.BROAD) == (1 / 20, 1 / 5)
    assert "a twentieth" in WORDS["Spread"].text
    assert "a fifth" in WORDS["Spread"].text


def test_the_dialog_gets_every_entry_with_its_formula_drawn() -> None:
    sent: list[Any] = []
    made = Glossary()
    made._send_msg = sent.append  # type: ignore[method-assign]
    for message in (None, {}, {"wanted": 1}, {"wanted": False}, ["wanted"]):
        made._handle_msg(message)
    assert sent == []
    made._handle_msg({"wanted": True})
    assert sent == [{"entries": entries()}]
    assert len(entries()) == len(glossary().entries)
    by_key = {each["key"]: each for each in entries()}
    for entry in glossary().entries:
        assert by_key[entry.key]["formula"] == mathml(entry.formula)
    terms = [each["term"].strip("“").lower() for each in entries()]
    assert terms == sorted(terms)


def test_a_broken_glossary_is_refused_with_what_to_do() -> None:
    entry = {"key": "a", "term": "A", "text": "What A is.", "where": "dials"}

    def refused(*entries: Any) -> str:
        with pytest.raises(InvalidInput) as caught:
            parse_glossary(json.dumps({"schema_version": 1, "entries": entries}))
        return "\n".join(caught.value.problems)

    assert 'the key "a" comes more than once' in refused(entry, entry | {"term": "B"})
    assert 'the word "A" comes more than once' in refused(entry, entry | {"key": "b", "also": ["A"]})
    assert "entries.0.kay: unknown key" in refused({**entry, "kay": 1})
    for text in ("[]", "{", '{"schema_version": 1}'):
        with pytest.raises(InvalidInput):
            parse_glossary(text)
