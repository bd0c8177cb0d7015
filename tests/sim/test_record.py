"""What a file carries is enough to measure it again, and is text that no kind of file takes for its own."""

import json
import random
import string
from importlib.metadata import version

import pytest
from hypothesis import given, settings

from sim.link import Link, parse_link
from sim.presets import builtin, names, read_preset
from sim.record import dumps_record, record
from sim.session_file import Kept
from sim.timeline import Moment, Timeline
from tests.links import OWN, links


@given(links())
@settings(max_examples=15, deadline=None)
def test_a_record_has_the_moment_twice_as_a_link_and_as_a_preset_with_its_settings(link: Link) -> None:
    told = record(link)
    there, problems = parse_link(told["link"])
    assert problems == []
    assert (there.moment.key, there.preset, there.look) == (link.moment.key, link.preset, link.look)
    preset = read_preset(told["preset"])
    assert preset.config == link.moment.config
    assert (preset.title, preset.lesson, preset.try_) == (link.preset.title, link.preset.lesson, link.preset.try_)
    assert (told["seed"], told["step"], told["draw"]) == (link.moment.config.seed, link.moment.step, link.moment.draw)


@pytest.mark.parametrize("name", [None, *names()])
def test_a_record_is_one_line_that_no_markup_ends(name: str | None) -> None:
    preset = OWN if name is None else builtin(name)
    link = Link(preset, name, Moment(preset.config))
    text = dumps_record(link)
    assert text.isascii()
    assert text.isprintable()
    assert not set(text) & set("<>&")
    assert json.loads(text) == record(link)
    assert text == dumps_record(link)


@pytest.mark.parametrize(("draws", "length"), [(3, 10), (800, 1), (800, 290)])
def test_a_log_that_does_not_fit_into_a_link_is_left_out(draws: int, length: int) -> None:
    timeline, letters = Timeline(OWN.config, OWN.title), random.Random(0)
    for _ in range(draws):
        label = "".join(letters.choices(string.ascii_letters + string.digits, k=length))
        timeline.act("draw", label, timeline.current.moment.next_draw())
    link = Link(OWN, None, timeline.current.moment, {}, Kept(timeline, {0: (None, OWN)}))
    there, problems = parse_link(record(link)["link"])
    assert problems == []
    assert (there.moment, there.preset) == (link.moment, OWN)
    assert (there.kept is not None) == (draws == 3)


def test_a_record_says_with_what_it_was_computed() -> None:
    told = record(Link(OWN, None, Moment(OWN.config)))
    assert told["gradcloud"] == version("gradcloud")
    assert told["versions"]["torch"] == version("torch")
    assert set(told["versions"]) == {"python", "torch", "numpy"}
