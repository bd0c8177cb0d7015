"""A link gives back the very moment that it was made of, and whatever is wrong with one is named, the rest kept."""

import dataclasses
import json

import pytest
from hypothesis import HealthCheck, given, settings

from sim.errors import InvalidInput
from sim.link import LOOKS, Link, fits, parse_link
from sim.link_items import MAX_SESSION, packed_log, written
from sim.override import override
from sim.presets import builtin, names
from sim.session_file import Kept
from sim.timeline import Moment, Path, Timeline
from tests.links import OWN, links, looks
from tests.sim.test_session_file import ACTS, Played

HERE = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read(query: str) -> Link:
    """The link of a query with nothing wrong in it."""
    link, problems = parse_link(query)
    assert problems == []
    return link


def same(one: Link, other: Link) -> None:
    assert (one.name, one.preset, one.look) == (other.name, other.preset, other.look)
    assert one.moment.key == other.moment.key
    assert one.moment.step == other.moment.step
    assert (one.kept is None) == (other.kept is None)
    if one.kept is not None and other.kept is not None:
        assert packed_log(one.kept) == packed_log(other.kept)
    assert one.query() == other.query()


def kept(acts: list[tuple[str, int]]) -> Link:
    """The link of a session in which this was done, with its log."""
    played = Played().all(acts)
    timeline, presets = played.timeline, played.kept()
    name, preset = presets[timeline.root(timeline.current).index]
    return Link(preset, name, timeline.current.moment, {}, Kept(timeline, presets))


@given(links())
@HERE
def test_a_link_is_the_moment_that_it_was_made_of(link: Link) -> None:
    query = link.query()
    assert query.isascii()
    assert not set(query) & set(" \"'<>#?\\")
    for text in (query, f"?{query}", f"http://localhost:5006/app?embed=1&{query}&hide=log#term-clip"):
        same(read(text), link)


@pytest.mark.parametrize("name", names())
def test_every_presets_own_moment_is_its_name_alone(name: str) -> None:
    preset = builtin(name)
    link = Link(preset, name, Moment(preset.config))
    assert link.query() == f"preset={name}"
    same(read(link.query()), link)
    own = dataclasses.replace(link, name=None)
    same(read(own.query()), own)


@given(ACTS, looks())
@HERE
def test_a_link_with_a_log_is_the_session_that_it_was_made_of(
    acts: list[tuple[str, int]], look: dict[str, str]
) -> None:
    link = dataclasses.replace(kept(acts), look=look)
    same(read(link.query()), link)


def test_a_link_says_what_differs_in_words_that_can_be_read() -> None:
    preset = builtin("opsd-collapse")
    config = override(preset.config, ["clip.on=true", "alpha=0.5", "teacher.context=rule"])
    link = Link(preset, "opsd-collapse", Moment(config, Path().then(config, 0, 2), 3), {"theme": "dark", "token": "17"})
    query = "preset=opsd-collapse&view=1;source.alpha=0.5;teacher.context=rule;clip.on=true;step=2;draw=3"
    query += ";theme=dark;token=17"
    assert link.query() == query
    assert fits(query)


def test_steps_that_were_not_all_alike_are_packed_without_what_is_said_beside_them() -> None:
    preset = builtin("rl-small-batch")
    path = Path().then(preset.config, 4).then(override(preset.config, ["update.step_size=0.1"]), 0, 9)
    short = Link(preset, "rl-small-batch", Moment(preset.config, path))
    far = Link(preset, "rl-small-batch", Moment(override(preset.config, ["seed=5"]), path, 7))
    assert len(far.query()) == len(short.query()) + len(";seed=5;draw=7")
    assert short.query().endswith(";step=10")
    assert ";path=" in short.query()
    assert len(short.query()) < 120
    same(read(far.query()), far)


def test_a_thousand_steps_fit_into_a_link() -> None:
    preset = builtin("opsd-clipped")
    link = Link(preset, "opsd-clipped", Moment(preset.config, Path().then(preset.config, 0, 1000)))
    assert link.query() == "preset=opsd-clipped&view=1;step=1000"
    same(read(link.query()), link)


def test_what_an_own_preset_and_its_log_share_is_said_once() -> None:
    timeline = Timeline(OWN.config, OWN.title)
    timeline.act("draw", "batch 1 drawn", timeline.current.moment.next_draw())
    link = Link(OWN, None, timeline.current.moment, {}, Kept(timeline, {0: (None, OWN)}))
    assert "own=" not in link.query()
    same(read(link.query()), link)
    assert fits(link.query())
    assert len(link.query()) < 500


def test_a_long_session_fits_into_no_link_and_one_that_is_too_long_is_refused() -> None:
    timeline = Timeline(OWN.config, OWN.title)
    for i in range(990):
        timeline.act("draw", f"batch {i} drawn", timeline.current.moment.next_draw())
    link = Link(OWN, None, timeline.current.moment, {}, Kept(timeline, {0: (None, OWN)}))
    assert not fits(link.query())
    same(read(link.query()), link)
    for i in range(990):
        timeline.act("draw", "x" * 290 + str(i), timeline.current.moment.next_draw())
    with pytest.raises(InvalidInput, match=f"log: over {MAX_SESSION} bytes"):
        link.query()


def test_the_settings_of_a_link_are_never_left_without_a_key() -> None:
    link = read("preset=opsd-collapse&view=1;alpha=0;lambda=0.25;theme=light")
    assert json.loads(written(link.moment.config.source.alpha)) == 0
    assert link.query() == "preset=opsd-collapse&view=1;source.alpha=0.0;teacher.weight=0.25"
    assert list(LOOKS) == ["theme", "scale", "side"]
