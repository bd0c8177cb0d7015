import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from app.charts import CHARTS, columns, labels, marks, nearest, reach
from app.frames import Frames
from app.lengths import Lengths
from app.lookahead import CLIP, NOTHING, PRESET, TEACHER, LookAhead, comparisons, entrants, sentence
from app.race import Run
from app.runners import Runners
from app.session import Session
from app.views.ahead import Ahead, AheadPanel, far
from sim.config import Clip, Config, Teacher
from sim.errors import Cancelled, InvalidInput, NonFinite
from sim.presets import builtin
from sim.timeline import Moment
from sim.train import Record, collapse_step, rule_in_words, train
from tests.app import conftest
from tests.app.conftest import PRESET as LESSON
from tests.app.conftest import SMALL, begun, run, settled, simulator

until = partial(conftest.until, within=240)
HINTED = SMALL.model_copy(update={"teacher": Teacher(policy="self", context="hint", divergence="forward")})
CHART = {chart.column: chart for chart in CHARTS}


def record(step: int, accuracy: float = 0.5, **changes: Any) -> Record:
    values: dict[str, Any] = {
        "entropy": 0.4, "kl_from_start": 0.0, "kept_skills": {"facts": 1.0, "copying": 1.0}, "answer_length": 18.0,
        "update_ratio": 0.5, "density": 0.9, "bias": 0.1, "concentration": 0.3, "collapsed": False, "verdict": "inside",
    }  # fmt: skip
    return Record(step=step, task_accuracy=accuracy, **(values | changes))


class Steps:
    """Stands for training: notes whose records were asked for, and takes steps when the test lets it."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.order: list[tuple[Config, int]] = []
        self.fails_at: dict[Config, tuple[int, Exception]] = {}

    def __call__(
        self, _: object, config: Config, steps: int, *, every: int, progress: Any, cancel: Any, **__: Any
    ) -> Iterator[Record]:
        for step in range(steps + 1):
            while not self.open.wait(0.002):
                if cancel():
                    break
            if cancel():
                raise Cancelled("stopped")
            if config in self.fails_at and step == self.fails_at[config][0]:
                raise self.fails_at[config][1]
            if step:
                progress(step)
            if step % every == 0 or step == steps:
                self.order.append((config, step))
                yield record(step)


@pytest.fixture
def steps() -> Steps:
    return Steps()


@pytest.fixture
def runners(real_frames: Frames, steps: Steps) -> Iterator[Runners]:
    made = Runners(real_frames, threads=1)
    yield made
    steps.open.set()
    made.close()


def opened(frames: Frames, config: Config = HINTED) -> Session:
    return begun(frames, LESSON.model_copy(update={"config": config}))


async def over(ahead: LookAhead) -> None:
    await until(lambda: not ahead.running)


def test_a_look_ahead_has_the_records_of_the_run_that_a_shell_takes_and_opens_any_of_them(
    real_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.lookahead.FEWEST", 3)

    async def scene() -> None:
        session = opened(real_frames)
        await settled(session)
        session.step()
        begin = session.timeline.current.moment
        await settled(session)
        runners = Runners(real_frames)
        ahead = LookAhead(session, runners)
        ahead.start(3, TEACHER)
        await over(ahead)
        live, frozen = ahead.runs
        assert [live.failure, frozen.failure] == ["", ""]
        assert live.records == list(train(simulator(), HINTED, 3, begin=begin.path))
        teacher = HINTED.teacher.model_copy(update={"parameters": "frozen"})
        assert frozen.records[0].task_accuracy == live.records[0].task_accuracy
        assert frozen.moment.config == HINTED.model_copy(update={"teacher": teacher})
        ahead.open(1, 2)
        frame = await settled(session)
        assert frame.step == 3
        assert frame.config == frozen.moment.config
        assert frame.update.ratio == frozen.records[2].update_ratio
        event = session.timeline.current
        assert (event.kind, event.label) == ("step", "step 2 of the look-ahead, with a frozen teacher")
        assert ahead.opened == (1, 2)
        session.draw()
        await settled(session)
        assert ahead.opened is None
        ahead.close()
        session.close()
        runners.close()

    run(scene())


def test_two_runs_advance_in_turn(real_frames: Frames, runners: Runners, steps: Steps) -> None:
    async def scene() -> None:
        session = opened(real_frames)
        ahead = LookAhead(session, runners, take=steps)
        ahead.start(10, CLIP)
        await over(ahead)
        clipped = HINTED.model_copy(update={"clip": Clip(on=True)})
        assert steps.order == [(config, step) for step in range(11) for config in (HINTED, clipped)]
        assert [run.taken for run in ahead.runs] == [10, 10]
        ahead.close()
        session.close()

    run(scene())


def test_a_stopped_look_ahead_keeps_its_records_and_another_replaces_it(
    real_frames: Frames, runners: Runners, steps: Steps
) -> None:
    async def scene() -> None:
        session = opened(real_frames)
        ahead = LookAhead(session, runners, take=slowly)
        ahead.start(1000, NOTHING)
        await until(lambda: len(ahead.runs[0].records) >= 2)
        ahead.stop()
        assert not ahead.running
        await until(lambda: ahead.runs[0].over)
        kept = list(ahead.runs[0].records)
        assert 2 <= len(kept) < 26
        assert ahead.runs[0].stopped
        assert "stopped" in ahead.summary()
        ahead.start(10, NOTHING)
        assert ahead.runs[0].records != kept
        await over(ahead)
        assert [each.step for each in ahead.runs[0].records] == list(range(11))
        ahead.close()
        session.close()

    def slowly(*args: Any, **kwargs: Any) -> Iterator[Record]:
        for each in steps(*args, **kwargs):
            threading.Event().wait(0.01)
            yield each

    run(scene())


@pytest.mark.parametrize("failure", [NonFinite("advance: theta is not finite"), ZeroDivisionError("by zero")])
def test_a_run_that_fails_says_why_and_keeps_its_records_while_the_other_goes_on(
    real_frames: Frames, runners: Runners, steps: Steps, failure: Exception
) -> None:
    async def scene() -> None:
        session = opened(real_frames)
        ahead = LookAhead(session, runners, take=steps)
        steps.fails_at[HINTED] = (4, failure)
        ahead.start(10, CLIP)
        await over(ahead)
        fails, holds = ahead.runs
        assert str(failure) in fails.failure
        assert len(fails.records) == 4
        assert len(holds.records) == 11
        assert str(failure) in ahead.summary()
        assert str(failure) in far(fails, False)
        session.draw()
        await settled(session)
        assert session.failure == ""
        ahead.close()
        session.close()

    run(scene())


def test_who_comes_later_waits_his_turn_and_is_told_so(real_frames: Frames, runners: Runners, steps: Steps) -> None:
    async def scene() -> None:
        session = opened(real_frames)
        first, second, third = (LookAhead(session, runners, take=steps) for _ in range(3))
        steps.open.clear()
        for each in (first, second, third):
            each.start(10, NOTHING)
        await until(lambda: first.running and not first.waiting)
        assert second.waiting
        assert "waiting" in Ahead(second).runs[0]["far"]
        second.stop()
        assert not second.waiting
        assert second.runs[0].over
        steps.open.set()
        await over(first)
        await over(third)
        assert len(third.runs[0].records) == 11
        assert second.runs[0].records == []
        for each in (first, second, third):
            each.close()
        session.close()

    run(scene())


def test_a_visitor_who_leaves_frees_the_thread(real_frames: Frames, runners: Runners, steps: Steps) -> None:
    async def scene() -> None:
        session = opened(real_frames)
        leaving, staying = LookAhead(session, runners, take=steps), LookAhead(session, runners, take=steps)
        steps.open.clear()
        leaving.start(10, NOTHING)
        staying.start(10, NOTHING)
        leaving.close()
        await until(lambda: not staying.waiting)
        assert leaving.runs[0].stopped
        staying.close()
        session.close()

    run(scene())


def test_nothing_that_is_under_way_or_waits_keeps_the_threads_from_ending(
    real_frames: Frames, runners: Runners, steps: Steps
) -> None:
    async def scene() -> None:
        session = opened(real_frames)
        under_way, waits = (LookAhead(session, runners, take=steps) for _ in range(2))
        steps.open.clear()
        for each in (under_way, waits):
            each.start(1000, NOTHING)
        await until(lambda: not under_way.waiting)
        await asyncio.to_thread(runners.close)
        assert [each.runs[0].over for each in (under_way, waits)] == [True, True]
        session.close()

    run(scene())


def test_steps_wait_while_somebody_waits_for_a_picture(
    real_frames: Frames, runners: Runners, steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        session = opened(real_frames)
        await settled(session)
        ahead = LookAhead(session, runners, take=steps)
        awaited = threading.Event()
        awaited.set()
        monkeypatch.setattr(Frames, "awaited", property(lambda _: awaited.is_set()))
        monkeypatch.setattr("app.runners.COURTESY", 60.0)
        ahead.start(10, NOTHING)
        await until(lambda: ahead.runs[0].taken == 1)
        await asyncio.sleep(0.1)
        assert ahead.runs[0].taken == 1
        awaited.clear()
        await over(ahead)
        assert ahead.runs[0].taken == 10
        ahead.close()
        session.close()

    run(scene())


def test_another_share_marks_the_same_records_anew(real_frames: Frames, runners: Runners, steps: Steps) -> None:
    async def scene() -> None:
        session = opened(real_frames)
        ahead = LookAhead(session, runners, take=steps)
        ahead.start(10, NOTHING)
        await over(ahead)
        kept = ahead.runs[0].records
        kept[6:] = [record(6, accuracy=0.3), record(7, accuracy=0.2)]
        panel = Ahead(ahead)
        panel._handle_msg({"share": 0.5})
        assert "collapsed by step 7" in panel.summary
        panel._handle_msg({"share": 0.7})
        assert "collapsed by step 6" in panel.summary
        assert panel.rule == rule_in_words(0.7)
        for wrong in (0.95, 0.05, "0.6", None, 1):
            panel._handle_msg({"share": wrong})
            assert ahead.share == 0.7
        ahead.close()
        session.close()

    run(scene())


@pytest.mark.parametrize("steps_asked", [9, 1001, -1, 12.5, None])
def test_an_order_out_of_bounds_is_refused_and_what_ran_before_stays(
    real_frames: Frames, runners: Runners, steps: Steps, steps_asked: Any
) -> None:
    async def scene() -> None:
        session = opened(real_frames)
        ahead = LookAhead(session, runners, take=steps)
        panel = Ahead(ahead)
        panel._handle_msg({"steps": 10, "compared": NOTHING})
        before = ahead.runs
        panel._handle_msg({"steps": steps_asked, "compared": NOTHING})
        assert "allowed 10 to 1,000" in panel.problem
        panel._handle_msg({"steps": 10, "compared": "preset:nowhere"})
        assert "choose another" in panel.problem
        assert ahead.runs is before
        for nonsense in ({"run": 7, "record": 0}, {"run": 0, "record": 500}, {"run": -1, "record": -1}, {}, None, []):
            panel._handle_msg(nonsense)
        assert len(session.timeline.events) == 1
        ahead.close()
        session.close()

    run(scene())


def test_curves_come_with_the_first_run(real_frames: Frames, runners: Runners, steps: Steps) -> None:
    async def scene() -> None:
        session = opened(real_frames)
        ahead = LookAhead(session, runners, take=steps)
        layout = AheadPanel(ahead, Lengths(session, runners)).__panel__()
        assert len(layout) == 2
        ahead.start(10, TEACHER)
        await over(ahead)
        ahead.start(10, NOTHING)
        await over(ahead)
        assert len(layout) == 3
        figures = [pane.object for pane in layout[1]]
        assert [figure.name for figure in figures] == [f"curve {chart.column}" for chart in CHARTS]
        first, second = (figures[0].select_one({"name": f"run {letter}"}) for letter in "AB")
        # The run is over before the page has been told.
        await until(lambda: list(first.data["step"]) == list(range(11)))
        assert list(second.data["step"]) == []
        ahead.close()
        session.close()

    run(scene())


def test_only_comparisons_that_make_a_difference_are_offered() -> None:
    reward = SMALL.model_copy(update={"teacher": Teacher(weight=0.0)})
    family = SMALL.model_copy(update={"teacher": Teacher(policy="same-family")})
    frozen = HINTED.model_copy(update={"teacher": HINTED.teacher.model_copy(update={"parameters": "frozen"})})
    assert {CLIP, TEACHER}.isdisjoint(comparisons(reward))
    assert CLIP in comparisons(family)
    assert TEACHER not in comparisons(family)
    assert "frozen" in comparisons(HINTED)[TEACHER]
    assert "live" in comparisons(frozen)[TEACHER]
    assert "without the clip" in comparisons(HINTED.model_copy(update={"clip": Clip(on=True)}))[CLIP]
    with pytest.raises(InvalidInput):
        entrants(Moment(family), TEACHER, "mine")


def test_both_runs_begin_at_the_moment_on_show_with_the_same_seed() -> None:
    moment = Moment(HINTED.model_copy(update={"seed": 7}), draw=3).next_step()
    wanted = builtin("rl-small-batch")
    (name, one), (other_name, other) = entrants(moment, f"{PRESET}rl-small-batch", "mine")
    assert (name, other_name) == ("mine", wanted.title)
    assert one.path == other.path == moment.path
    assert one.config == moment.config
    assert other.config == wanted.config.model_copy(update={"seed": 7})
    assert [name for name, _ in entrants(moment, CLIP, "mine")] == ["without the clip", "with the clip"]
    assert [name for name, _ in entrants(moment, TEACHER, "mine")] == ["with a live teacher", "with a frozen teacher"]
    assert len(entrants(moment, NOTHING, "mine")) == 1


@pytest.mark.parametrize(("steps_asked", "records"), [(10, 11), (25, 26), (49, 50), (50, 26), (100, 26), (1000, 26)])
def test_a_run_has_some_dozens_of_records(steps_asked: int, records: int) -> None:
    asked = Run("one", Moment(SMALL), steps_asked)
    assert len({*range(0, steps_asked + 1, asked.every), steps_asked}) == records


def test_the_summary_says_what_each_run_came_to() -> None:
    done = Run("with a frozen teacher", Moment(SMALL), 10, [record(0), record(10, 0.934)], over=True)
    assert sentence(done, 0.5) == "With a frozen teacher: accuracy 0.93 after 10 steps."
    fell = Run("with a live teacher", Moment(SMALL), 10, [record(0), record(4, 0.2), record(8, 0.6)], over=True)
    assert sentence(fell, 0.5) == "With a live teacher: collapsed by step 4."
    assert sentence(fell, 0.3) == "With a live teacher: accuracy 0.60 after 8 steps."
    stopped = Run("these settings", Moment(SMALL), 10, over=True, stopped=True)
    assert sentence(stopped, 0.5) == "These settings: nothing measured; stopped."


def test_the_time_left_follows_from_the_steps_taken() -> None:
    running = Run("one", Moment(SMALL), 100, taken=25, seconds=50.0)
    assert running.left == 150
    assert far(running, False) == "step 25 of 100, about 2 min left"
    assert far(Run("one", Moment(SMALL), 100), False) == "step 0 of 100"


def test_what_is_undetermined_is_a_gap_and_zero_none_on_a_logarithmic_axis() -> None:
    read = columns([record(0, update_ratio=0.0, bias=None), record(1, update_ratio=2.0)])
    assert read["step"] == [0, 1]
    assert [value != value for value in read["ratio"]] == [True, False]
    assert [value != value for value in read["bias"]] == [True, False]
    low, high = reach(CHART["ratio"], [[record(0, update_ratio=20.0)]])
    assert 0 < low < 1
    assert high > 20


def test_numbers_at_the_ends_of_curves_stand_apart_in_their_curves_order() -> None:
    chart = CHART["accuracy"]
    kept = [[record(10, 0.90)], [record(10, 0.91)]]
    low, high = reach(chart, kept)
    said = labels(chart, kept, low, high)
    assert said["text"] == ["A 0.90", "B 0.91"]
    assert said["y"][1] - said["y"][0] == pytest.approx(0.16 * (high - low))
    assert said["at"] == [0.90, 0.91]
    far_apart = labels(chart, [[record(10, 0.1)], [record(10, 0.9)]], low, high)
    assert far_apart["y"] == pytest.approx([0.1, 0.9])


def test_a_dead_policys_update_leaves_the_picture_at_its_lower_edge() -> None:
    chart = CHART["ratio"]
    kept = [[record(0, update_ratio=2.0), record(10, update_ratio=2.7e-12)]]
    low, high = reach(chart, kept)
    assert low == 0.01
    said = labels(chart, kept, low, high)
    assert said["text"] == ["A < 0.01"]
    assert low < said["y"][0] < 0.03
    assert said["at"] == [2.7e-12]


def test_the_words_of_a_collapse_stand_on_the_side_that_has_room() -> None:
    early = [record(0, 0.9), record(20, 0.1)]
    late = [record(0, 0.9), record(96, 0.1)]
    assert marks(early, 0.5, 100, 0.5)["align"] == ["left"]
    assert marks(late, 0.5, 100, 0.5)["align"] == ["right"]
    assert marks(late, 0.5, 100, 0.5)["text"] == ["collapsed\nstep 96"]
    assert marks(early, 0.1, 100, 0.5)["x"] == []


def test_a_tap_means_the_nearest_step_of_the_nearest_curve() -> None:
    chart = CHART["accuracy"]
    kept = [[record(0, 0.4), record(4, 0.9), record(8, 0.9)], [record(0, 0.4), record(4, 0.2)]]
    assert nearest(chart, kept, 4.4, 0.8) == (0, 1)
    assert nearest(chart, kept, 4.4, 0.3) == (1, 1)
    assert nearest(chart, [[], []], 1, 1) is None
    assert nearest(CHART["bias"], [[record(0, bias=None)]], 0, 0) == (0, 0)


def test_a_collapse_is_measured_against_where_the_run_began() -> None:
    kept = [record(0, 0.9), record(5, 0.46), record(10, 0.44)]
    assert collapse_step(kept) == 10
    lost = [record(0, 0.9), record(5, 0.9, kept_skills={"facts": 0.49, "copying": 1.0})]
    assert collapse_step(lost) == 5
