"""An address is what is on show: link -> session -> link is the same, and what is wrong is told by name."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs

import pytest
from hypothesis import HealthCheck, given, settings

from app import embed
from app.address import LONGEST, Asked, Place, asked, begun, follow, mark, origin, remembered, session_link
from app.frames import Frames
from app.look import RADII, Look
from app.palette import THEMES
from app.session import LINKED, Session
from sim.config import Config
from sim.errors import InvalidInput
from sim.link import LOOKS, Link, parse_link
from sim.link_items import DEFAULT
from sim.override import override
from sim.packed import pack
from sim.presets import builtin, names
from sim.timeline import Moment, Path
from tests.app.conftest import PRESET, SMALL, Paced, run, sample, settled, until
from tests.links import OWN, links

HERE = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
TOKENS = len(sample().sites.text)


def to(query: str) -> Asked:
    """What an address with this query asks for."""
    values = parse_qs(query, keep_blank_values=True)
    return asked({key: [value.encode() for value in given] for key, given in values.items()})


@contextmanager
def frames() -> Iterator[Frames]:
    found = Frames(Paced)
    yield found
    found.close()


def same(session: Session, link: Link) -> None:
    """Fail unless the link to what a session has on show is this one."""
    there = session_link(session)
    assert (there.preset, there.name, there.look) == (link.preset, link.name, link.look)
    assert there.moment.key == link.moment.key
    assert there.query() == dataclasses.replace(link, kept=None).query()


@given(links())
@HERE
def test_a_link_opens_as_itself_without_a_frame_of_the_way_there(link: Link) -> None:
    async def scene() -> None:
        with frames() as found:
            session = begun(found, to(link.query()))
            assert session.problems == []
            same(session, link)
            kinds = [event.kind for event in session.timeline.events]
            assert kinds[0] == "preset"
            assert len(kinds) == (1 if link.moment.key == Moment(link.preset.config).key else 2)
            logged = session_link(session, log=True)
            session.close()
            again = begun(found, to(logged.query()))
            assert again.problems == []
            same(again, link)
            assert again.kept() == session.kept()
            assert session_link(again, log=True).query() == logged.query()
            again.close()

    run(scene())


@pytest.mark.parametrize("name", names())
def test_every_preset_goes_from_link_to_page_to_link_also_with_what_was_done(name: str) -> None:
    async def scene() -> None:
        with frames() as found:
            session = begun(found, to(f"preset={name}"))
            same(session, Link(builtin(name), name, Moment(builtin(name).config)))
            for act in (session.draw, session.step, session.draw, session.back):
                act()
            session.dials.clip = not session.dials.clip
            session.open(OWN)
            session.rewind(2)
            session.look.param.update(theme="dark", radius="linear", side="tokens")
            for log in (False, True):
                query = session_link(session, log).query()
                again = begun(found, to(query))
                assert again.problems == []
                assert session_link(again, log).query() == query
                assert (again.kept() == session.kept()) == log
                again.close()
            session.close()

    run(scene())


def test_nothing_is_computed_on_the_way_to_where_a_link_leads(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames, to("preset=rl-small-batch&view=1;clip.on=true;step=2;draw=7"))
        frame = await settled(session)
        assert (frame.step, frame.draw, frame.config.clip.on) == (2, 7, True)
        assert {draw for draw, _ in paced.asked} == {7}
        assert [(event.kind, event.label) for event in session.timeline.events] == [
            ("preset", builtin("rl-small-batch").title), ("step", LINKED),
        ]  # fmt: skip
        session.first()
        assert (await settled(session)).config == builtin("rl-small-batch").config
        session.close()

    run(scene())


@pytest.mark.parametrize(("steps", "told"), [(0, "Sampling answers"), (1, "Taking the 1 step that leads there"),
                                             (1000, "Taking the 1,000 steps that lead there")])  # fmt: skip
def test_what_takes_long_is_said(paced: Paced, paced_frames: Frames, steps: int, told: str) -> None:
    async def scene() -> None:
        paced.open.clear()
        session = begun(paced_frames, to(f"preset=rl-small-batch&view=1;step={steps};draw=1"))
        said: list[str] = []
        session.param.watch(lambda change: said.append(change.new), "busy")
        await until(lambda: session.busy, within=20)
        assert session.busy.startswith(told)
        paced.open.set()
        await settled(session)
        assert said[-1] == ""
        session.close()

    run(scene())


def test_a_token_is_picked_out_when_its_frame_is_there_and_stays_in_the_address_until_then(
    paced: Paced, paced_frames: Frames
) -> None:
    async def scene() -> None:
        paced.open.clear()
        session = begun(paced_frames, to("preset=rl-small-batch&view=1;draw=2;token=3;side=tokens"))
        assert (session.look.selected, session.look.side) == (None, "tokens")
        assert session_link(session).query() == "preset=rl-small-batch&view=1;draw=2;side=tokens;token=3"
        paced.open.set()
        await settled(session)
        assert session.look.selected == 3
        assert session_link(session).query() == "preset=rl-small-batch&view=1;draw=2;side=tokens;token=3"
        # What is known already is picked out at once.
        follow(session, parse_link("preset=rl-small-batch&view=1;draw=2;token=5")[0], [])
        assert (session.look.selected, session.look.side) == (5, "tokens")
        session.close()

    run(scene())


def test_a_token_that_the_frame_has_not_is_named_beside_what_else_is_wrong(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames, to(f"preset=rl-small-batch&view=1;clip.on=maybe;token={TOKENS}"))
        assert session.problems == ['the address: clip.on: got "maybe", allowed true or false']
        await settled(session)
        assert session.problems[1:] == [f"token: got {TOKENS}, allowed 0 to {TOKENS - 1}; nothing is picked out"]
        assert session.look.selected is None
        assert session_link(session).look == {}
        session.close()

    run(scene())


def test_of_a_link_that_was_left_out_in_part_the_log_and_the_message_say_so(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames, to("preset=rl-small-batch&view=1;clip.on=maybe;draw=2"))
        assert (session.timeline.current.label, session.partly) == ("as the link has it, in part", True)
        session.refuse(["a file: no"])
        assert not session.partly
        follow(session, *parse_link("preset=rl-small-batch&view=1;draw=4;hue=1"))
        assert (session.timeline.current.label, session.partly) == ("as the link has it, in part", True)
        follow(session, *parse_link("preset=rl-small-batch&view=1;draw=5"))
        assert (session.timeline.current.label, session.problems) == (LINKED, [])
        session.pick(TOKENS)
        await settled(session)
        assert (len(session.problems), session.partly) == (1, True)
        session.close()

    run(scene())


def test_a_token_that_is_awaited_is_forgotten_with_the_next_act(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        paced.open.clear()
        session = begun(paced_frames, to("preset=rl-small-batch&view=1;token=3"))
        session.draw()
        paced.open.set()
        await settled(session)
        assert (session.look.selected, session.picked, session.problems) == (None, None, [])
        session.close()

    run(scene())


def test_bad_values_are_named_and_the_others_are_on_show(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames, to("preset=sft-fan&view=1;clip.on=maybe;draw=2;scale=sideways;seed=4&page=x&q=1"))
        assert session.problems == [
            'the address: unknown key "q"; allowed: preset, view, theme, page, embed, hide, with, view-a, view-b, '
            "view-c or view-d",
            'the address: unknown page "x"; allowed: claims or compare',
            'the address: clip.on: got "maybe", allowed true or false',
            'the address: scale: got "sideways"; allowed: log or linear',
        ]
        assert session_link(session).query() == "preset=sft-fan&view=1;seed=4;draw=2"
        session.close()

    run(scene())


@pytest.mark.parametrize(
    ("query", "now", "theme"),
    [
        ("", f"preset={DEFAULT}", ""), ("preset=sft-fan", "preset=sft-fan", ""),
        ("preset=sft-fan&theme=dark", "preset=sft-fan&view=1;theme=dark", "dark"),
        ("theme=projector", f"preset={DEFAULT}&view=1;theme=projector", "projector"),
        ("theme=light", f"preset={DEFAULT}", ""), ("theme=default&theme=", f"preset={DEFAULT}", ""),
        ("embed=1&hide=log&view=1;theme=dark", f"preset={DEFAULT}&view=1;theme=dark", "dark"),
    ],
)  # fmt: skip
def test_an_address_of_before_is_understood_and_written_as_it_is_now(query: str, now: str, theme: str) -> None:
    wanted = to(query)
    assert (wanted.problems, wanted.link.query(), wanted.theme, wanted.page) == ([], now, theme, "")


@pytest.mark.parametrize(
    "own", ["preset=sft-fan&view=1;draw=2", "with=rl-grpo,sft-fan&page=compare&view-b=1;clip.on=true"]
)
def test_an_address_copied_out_of_html_asks_for_the_same(own: str) -> None:
    query = f"{own}&embed=1&hide=log,menu"
    copied = {key: [each.encode() for each in given] for key, given in parse_qs(query.replace("&", "&amp;")).items()}
    assert asked(copied) == to(query)
    assert asked(copied).problems == []
    assert embed.asked(copied) == (embed.Embed(True, frozenset({"log", "menu"})), [])


def test_other_pages_have_their_own_part_of_the_address() -> None:
    wanted = to("page=compare&with=sft-fan,rl-grpo&theme=dark")
    assert (wanted.page, wanted.together, wanted.theme, wanted.problems) == (
        "compare", {"with": ["sft-fan,rl-grpo"]}, "dark", []
    )  # fmt: skip
    assert to("page=claims").together == {}


def test_what_another_page_has_is_left_out_and_told() -> None:
    wanted = to("page=compare&preset=sft-fan&view=1;theme=dark;what=1&with=sft-fan,rl-grpo")
    assert wanted.problems == [
        "the address: preset, view: left out, as the address has page=compare; say with, view-a, view-b, view-c or "
        "view-d instead"
    ]
    assert (wanted.together, wanted.theme, wanted.link.name) == ({"with": ["sft-fan,rl-grpo"]}, "", DEFAULT)
    wanted = to("page=claims&with=rl-grpo&theme=dark")
    assert wanted.problems == ["the address: with: left out, as the address has page=claims"]
    assert (wanted.together, wanted.theme) == ({}, "dark")
    wanted = to("preset=sft-fan&with=rl-grpo&view-a=1;draw=2")
    assert wanted.problems == [
        "the address: with, view-a: left out, as the address has no page=compare; say preset or view instead"
    ]
    assert (wanted.together, wanted.link.name) == ({}, "sft-fan")


@pytest.mark.parametrize(
    "arguments",
    [
        {"view": [b"1;draw=\xff\xfe"]}, {"view": [b"\x00"]}, {"preset": [b""]}, {"view": [b"1;draw=1", b"1;draw=2"]},
        {"view": [b"1;log=" + pack("x" * 3_000_000).encode()]}, {"view": [b"1;" + b"a=1;" * 20_000]},
        {"view": [b"1;draw=NaN"]}, {"view": [b"1;step=99999999999999999999"]}, {"\x00": [b"1"]}, {"view": [b"9"]},
        {"preset": [b"../../etc/passwd"]}, {"view": [b"1;source.prompts=" + b"[" * 3000]},
    ],
)  # fmt: skip
def test_a_hostile_address_is_told_and_opens_what_is_right_in_it(arguments: dict[str, list[bytes]]) -> None:
    wanted = asked(arguments)
    assert 1 <= len(wanted.problems) <= 21
    assert all(problem.startswith(("the address: ", "and ")) and problem.isprintable() for problem in wanted.problems)
    assert wanted.link.name == DEFAULT


def test_a_place_is_remembered_only_as_the_event_and_the_moment_that_it_was(paced_frames: Frames) -> None:
    async def scene() -> None:
        session = begun(paced_frames, to("preset=rl-small-batch"))
        session.draw()
        place = Place.of(session)
        told = place.said()
        assert told == {
            "query": "preset=rl-small-batch&view=1;draw=1",
            "event": 1,
            "moment": mark(place.link.moment.key),
        }
        session.first()
        session.rewind(1)
        assert Place.of(session).said() == told
        assert Place.of(session).is_at(place)
        event = remembered(session.timeline, 1, told["moment"])
        assert event is not None
        assert origin(session.timeline.current) == origin(event) == 1
        for index, moment in ((0, told["moment"]), (1, "x"), (99, told["moment"]), (None, None), (1, None), (-1, "")):
            assert remembered(session.timeline, index, moment) is None
        session.clear()
        assert remembered(session.timeline, 1, told["moment"]) is None
        session.close()

    run(scene())


@pytest.mark.parametrize("steps", [600, 1500])
def test_what_is_too_long_for_an_address_is_not_in_it(paced_frames: Frames, steps: int) -> None:
    async def scene() -> None:
        session, path = Session(paced_frames, OWN), Path()
        for i in range(steps):
            path = path.then(override(SMALL, [f"seed={i * 7919 % 10_007}"]), i * 31 % 977)
        session.begin(Moment(Config(), path))
        if steps > 1000:
            with pytest.raises(InvalidInput, match="path: over 100000 bytes"):
                session_link(session).query()
        else:
            assert len(session_link(session).query()) > LONGEST
        assert Place.of(session).said()["query"] == ""
        session.open(PRESET)
        assert "own=" in Place.of(session).said()["query"]
        session.close()

    run(scene())


def test_links_and_pages_know_the_same_looks() -> None:
    look = Look()
    assert tuple(THEMES) == LOOKS["theme"] == tuple(look.param.theme.objects)
    assert tuple(RADII) == LOOKS["scale"] == tuple(look.param.radius.objects)
    assert LOOKS["side"] == tuple(look.param.side.objects)
    assert (look.theme, look.radius, look.side) == tuple(values[0] for values in LOOKS.values())
