"""Time: an append-only log, exact rewinds, branches, and keys that tell frames apart."""

import gc

import pytest

from sim.config import Clip, Config, Plane, Reward, Safety, Source, Teacher, Update
from sim.timeline import LABEL, Moment, Path, Timeline

CONFIG = Config()
CLIPPED = Config(clip=Clip(on=True))


def walk(steps: int, config: Config = CONFIG) -> Moment:
    moment = Moment(config)
    for _ in range(steps):
        moment = moment.next_step()
    return moment


def played() -> Timeline:
    """A preset, two draws, a step, a control."""
    timeline = Timeline(CONFIG, "first")
    for kind in ("draw", "draw", "step"):
        moment = timeline.current.moment
        timeline.act(kind, kind, moment.next_draw() if kind == "draw" else moment.next_step())  # type: ignore[arg-type]
    timeline.act("control", "clip on", timeline.current.moment.with_config(CLIPPED))
    return timeline


def test_a_run_begins_at_the_checkpoint() -> None:
    timeline = Timeline(CONFIG, "first")
    event = timeline.current
    assert (event.index, event.kind, event.label, event.parent, event.branch) == (0, "preset", "first", None, 0)
    assert (event.moment.step, event.moment.draw, event.moment.config) == (0, 0, CONFIG)


def test_everything_is_appended_and_nothing_changes() -> None:
    timeline = played()
    before = list(timeline.events)
    timeline.rewind(1)
    timeline.act("draw", "draw", timeline.current.moment.next_draw())
    timeline.back()
    timeline.start("again", CLIPPED)
    assert list(timeline.events[: len(before)]) == before
    assert [event.index for event in timeline.events] == list(range(len(before) + 4))


def test_a_long_log_forgets_its_oldest_events_and_everything_kept_can_still_be_returned_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sim.timeline.LIMIT", 20)
    timeline = played()
    timeline.start("again", CLIPPED)
    for _ in range(100):
        timeline.act("draw", "draw", timeline.current.moment.next_draw())
    timeline.rewind(90)
    assert len(timeline.events) == 20
    assert timeline.forgotten == 107 - 20
    assert [event.index for event in timeline.events] == [5, *range(88, 107)]
    assert timeline.root(timeline.current).label == "again"
    assert timeline.at(100).draw == 95
    with pytest.raises(IndexError, match="event 40 does not exist"):
        timeline.rewind(40)
    kept = {event.index for event in timeline.events}
    assert all(event.parent in kept for event in timeline.events if event.index != 5)
    assert timeline.newest().moment == timeline.at(105)
    for _ in range(50):
        timeline.back()
    assert timeline.current.moment == timeline.at(5)


def test_a_return_is_forgotten_with_what_it_returned_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.timeline.LIMIT", 20)
    timeline = played()
    timeline.rewind(1)
    for _ in range(15):
        timeline.act("draw", "draw", timeline.current.moment.next_draw())
    assert [event.index for event in timeline.events] == [0, 2, 3, 4, *range(6, 21)]
    for i in range(60):
        timeline.rewind(timeline.events[i % 7].index)
        timeline.act("draw", "draw", timeline.current.moment.next_draw())
        for event in timeline.events:
            if event.kind == "rewind":
                assert event.parent is not None
                assert timeline.at(event.parent) == event.moment


def test_a_long_label_is_cut() -> None:
    timeline = Timeline(CONFIG, "x" * 1000)
    assert len(timeline.current.label) == LABEL
    assert timeline.act("draw", "y" * LABEL, Moment(CONFIG)).label == "y" * LABEL


def test_many_presets_are_forgotten_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.timeline.LIMIT", 20)
    timeline = played()
    for _ in range(100):
        timeline.start("again", CLIPPED)
    assert len(timeline.events) == 20


def test_a_cleared_log_begins_with_what_was_on_show() -> None:
    timeline = played()
    moment = timeline.current.moment
    timeline.clear("from here on")
    assert [(event.index, event.kind, event.moment) for event in timeline.events] == [(0, "preset", moment)]
    timeline.act("draw", "draw", moment.next_draw())
    assert [(event.index, event.branch) for event in timeline.events] == [(0, 0), (1, 0)]
    assert timeline.back().moment == moment


def test_the_log_cannot_be_changed_through_what_it_hands_out() -> None:
    timeline = played()
    with pytest.raises((TypeError, AttributeError)):
        timeline.events.append(None)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        timeline.current.label = "other"  # type: ignore[misc]


def test_a_draw_keeps_the_parameters_and_a_step_starts_with_its_first_batch() -> None:
    moment = Moment(CONFIG).next_draw().next_draw()
    assert (moment.step, moment.draw) == (0, 2)
    after = moment.next_step()
    assert (after.step, after.draw) == (1, 0)
    assert after.path.draw == 2
    assert after.next_draw().path == after.path


def test_a_control_keeps_step_and_draw() -> None:
    moment = Moment(CONFIG).next_step().next_draw()
    changed = moment.with_config(CLIPPED)
    assert (changed.step, changed.draw, changed.config) == (1, 1, CLIPPED)
    assert changed.path == moment.path


def test_rewinding_returns_to_the_very_moment() -> None:
    timeline = played()
    for index, event in enumerate(timeline.events):
        found = timeline.rewind(index)
        assert found.kind == "rewind"
        assert found.moment == event.moment
        assert found.moment.key == event.moment.key
        assert timeline.at(index).key == event.moment.key


def test_back_goes_one_event_up_and_stays_at_the_first() -> None:
    timeline = played()
    seen = [timeline.back().moment for _ in range(6)]
    first = timeline.events
    assert seen == [first[i].moment for i in (3, 2, 1, 0, 0, 0)]


def test_back_after_a_rewind_goes_up_from_where_it_went() -> None:
    timeline = played()
    timeline.rewind(2)
    assert timeline.back().moment == timeline.at(1)


def test_rewinding_to_a_rewind_goes_where_that_went() -> None:
    timeline = played()
    there = timeline.rewind(1)
    timeline.rewind(3)
    again = timeline.rewind(there.index)
    assert again.moment == timeline.at(1)
    assert again.parent == 1


def test_acting_at_the_end_goes_on_and_acting_from_the_past_starts_a_branch() -> None:
    timeline = played()
    assert {event.branch for event in timeline.events} == {0}
    timeline.rewind(1)
    new = timeline.act("draw", "draw", timeline.current.moment.next_draw())
    assert (new.parent, new.branch) == (1, 1)
    more = timeline.act("draw", "draw", timeline.current.moment.next_draw())
    assert (more.parent, more.branch) == (new.index, 1)
    timeline.rewind(1)
    third = timeline.act("draw", "draw", timeline.current.moment.next_draw())
    assert (third.parent, third.branch) == (1, 2)
    timeline.rewind(4)
    assert timeline.current.branch == 0
    last = timeline.act("draw", "draw", timeline.current.moment.next_draw())
    assert (last.parent, last.branch) == (4, 0)


def test_the_old_branch_stays_reachable() -> None:
    timeline = played()
    old = timeline.current.moment
    timeline.rewind(0)
    timeline.act("control", "clip on", timeline.current.moment.with_config(CLIPPED))
    assert timeline.rewind(4).moment == old


def test_a_preset_starts_again_at_the_checkpoint() -> None:
    timeline = played()
    event = timeline.start("again", CLIPPED)
    assert (event.kind, event.moment.step, event.moment.draw) == ("preset", 0, 0)
    assert timeline.back().moment == timeline.at(4)


@pytest.mark.parametrize("index", [-1, 5, 10**9])
def test_an_event_that_does_not_exist_is_named_with_those_that_do(index: int) -> None:
    with pytest.raises(IndexError, match=rf"{index}.*0 to 4"):
        played().at(index)
    with pytest.raises(IndexError):
        played().rewind(index)


def test_moments_of_the_same_steps_have_equal_keys() -> None:
    one, two = walk(3).next_draw(), walk(3).next_draw()
    assert one == two
    assert one.key == two.key
    assert hash(one) == hash(two)


@pytest.mark.parametrize(
    "other",
    [
        walk(2),
        walk(4),
        walk(3).next_draw(),
        walk(3, CLIPPED),
        walk(3).with_config(CLIPPED),
        walk(2).next_draw().next_step(),
        walk(3, Config(seed=1)),
        walk(3, Config(source=Source(prompts=4))),
        walk(3).with_config(Config(safety=Safety(delta=0.02))),
        walk(3).with_config(Config(plane=Plane(basis="random"))),
    ],
)
def test_whatever_changes_the_frame_changes_the_key(other: Moment) -> None:
    assert other.key != walk(3).key
    assert other != walk(3)


@pytest.mark.parametrize(
    "other",
    [
        Config(seed=1),
        Config(source=Source(temperature=2.0)),
        Config(teacher=Teacher(weight=0.5)),
        CLIPPED,
        Config(reward=Reward(normalise=True)),
        Config(update=Update(step_size=0.5)),
    ],
)
def test_whatever_changes_a_step_changes_where_it_leads(other: Config) -> None:
    there, here = (Moment(config).next_step().with_config(CONFIG) for config in (other, CONFIG))
    assert there.path != here.path
    assert there.key != here.key


def test_a_gauge_or_a_view_changes_the_frame_but_not_where_the_step_leads() -> None:
    looked = Moment(Config(safety=Safety(delta=0.02), plane=Plane(basis="random"))).next_step()
    assert looked.path == Moment(CONFIG).next_step().path


def test_two_thousand_steps_overflow_no_recursion() -> None:
    long, same = walk(2000), walk(2000)
    assert long.step == 2000
    assert long == same
    assert hash(long) == hash(same)
    assert long.key == same.key
    assert long.path != walk(1999).path
    assert len(repr(long)) < 10_000
    del long
    gc.collect()


def test_two_thousand_events_can_be_gone_back_through() -> None:
    timeline = Timeline(CONFIG, "first")
    for _ in range(2000):
        timeline.act("step", "step", timeline.current.moment.next_step())
    for _ in range(2000):
        timeline.back()
    assert timeline.current.moment == timeline.at(0)


def test_a_path_counts_its_steps_and_knows_where_it_came_from() -> None:
    path = Path().then(CONFIG, 0).then(CLIPPED, 3)
    assert (path.length, path.config, path.draw) == (2, CLIPPED, 3)
    assert path.parent == Path().then(CONFIG, 0)
    assert path != "path"
