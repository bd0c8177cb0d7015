"""Cells under one clock, without a browser: they are shown together, share their settings, and fail alone."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from app.compare import LETTERS
from app.frames import Frames
from app.linked import Comparison
from app.views.compare_cell import CellHead
from app.views.compare_table import CompareTable
from sim.frame import Frame
from sim.timeline import Moment
from tests.app.conftest import Paced, run, simulator, until

PAIR = ["opsd-collapse", "opsd-clipped"]
FOUR = [*PAIR, "opd-same-family", "rl-noise-cancels"]
Clock = tuple[int, int]


def shown(comparison: Comparison) -> list[Clock]:
    return [(cell.frame.step, cell.frame.draw) for cell in comparison.cells if cell.frame is not None]


def begun(frames: Frames, chosen: list[str] = FOUR) -> Comparison:
    comparison = Comparison(frames, chosen)
    comparison.begin()
    return comparison


async def settled(comparison: Comparison) -> None:
    await until(lambda: comparison.settled)


class Watch:
    """Notes the clocks that the cells show, whenever the comparison tells of a change and at every turn of the loop."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.seen: list[list[Clock]] = []
        comparison.param.watch(self._note, ["changed", "frame", "busy", "settled"])
        self._task = asyncio.get_running_loop().create_task(self._every_turn())

    @property
    def apart(self) -> list[list[Clock]]:
        return [clocks for clocks in self.seen if len(set(clocks)) > 1 or len(clocks) < len(self._comparison.cells)]

    def end(self) -> None:
        self._task.cancel()

    def _note(self, *_: Any) -> None:
        clocks = shown(self._comparison)
        if clocks and (not self.seen or self.seen[-1] != clocks):
            self.seen.append(clocks)

    async def _every_turn(self) -> None:
        while True:
            self._note()
            await asyncio.sleep(0)


def stumbling(paced: Paced, comparison: Callable[[], Comparison]) -> None:
    """Makes each cell's frame take another time, the first cell's the longest."""
    render = paced.frame

    def slowly(moment: Moment, *rest: Any) -> Frame:
        configs = [cell.moment.config for cell in comparison().cells]
        time.sleep(0.004 * (len(configs) - configs.index(moment.config)) if moment.config in configs else 0)
        return render(moment, *rest)

    paced.frame = slowly  # type: ignore[method-assign]


def test_four_cells_show_one_clock_at_every_instant_of_ten_draws_and_steps(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = Comparison(paced_frames, FOUR)
        stumbling(paced, lambda: comparison)
        watch = Watch(comparison)
        comparison.begin()
        await settled(comparison)
        for act in [comparison.draw, comparison.step] * 5 + [comparison.back, comparison.first, comparison.newest]:
            act()
            await settled(comparison)
        watch.end()
        assert watch.apart == []
        assert [clocks[0] for clocks in watch.seen] == [
            (0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1), (5, 0),
            (4, 1), (0, 0), (5, 0),
        ]  # fmt: skip
        comparison.close()

    run(scene())


def test_the_latest_of_many_acts_wins_and_no_cell_shows_what_it_overtook(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames)
        await settled(comparison)
        watch = Watch(comparison)
        paced.open.clear()
        for _ in range(3):
            comparison.draw()
            await asyncio.sleep(0.02)
        paced.open.set()
        await settled(comparison)
        watch.end()
        assert [clocks[0] for clocks in watch.seen] == [(0, 0), (0, 3)]
        assert watch.apart == []
        assert 1 in paced.cancelled
        comparison.close()

    run(scene())


def test_play_waits_for_the_slowest_cell(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames)
        await settled(comparison)
        slow = comparison.cells[2].moment.config
        held, render = asyncio.Event(), paced.frame
        loop = asyncio.get_running_loop()

        def frame(moment: Moment, *rest: Any) -> Frame:
            if moment.config == slow and moment.draw == 2:
                asyncio.run_coroutine_threadsafe(held.wait(), loop).result(60)
            return render(moment, *rest)

        paced.frame = frame  # type: ignore[method-assign]
        watch = Watch(comparison)
        comparison.speed = 10
        comparison.play()
        await asyncio.sleep(0.8)
        assert comparison.playing
        assert shown(comparison) == [(0, 1)] * 4
        assert all(cell.moment.draw == 2 for cell in comparison.cells)
        held.set()
        await until(lambda: comparison.cells[0].moment.draw >= 5)
        comparison.pause()
        await settled(comparison)
        watch.end()
        assert not comparison.playing
        assert watch.apart == []
        assert len(set(shown(comparison))) == 1
        comparison.close()

    run(scene())


def test_a_cell_that_fails_says_so_in_its_place_and_the_others_go_on(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames)
        await settled(comparison)
        broken = comparison.cells[1].moment.config
        paced.fails = lambda moment: moment.config == broken and moment.draw == 1
        comparison.draw()
        await settled(comparison)
        assert comparison.cells[1].failure.startswith("Step 0, draw 1 could not be computed: rollout")
        assert [cell.failure for i, cell in enumerate(comparison.cells) if i != 1] == ["", "", ""]
        assert shown(comparison) == [(0, 1), (0, 0), (0, 1), (0, 1)]
        table = CompareTable(comparison)
        for row in table.rows:
            assert row["values"][1]["text"] == "–"
            assert "not finite" in row["values"][1]["why"]
            assert "not finite" not in row["values"][2]["why"]
        assert CellHead(comparison, 1, lambda _: None).failure == comparison.cells[1].failure
        comparison.draw()
        await settled(comparison)
        assert shown(comparison) == [(0, 2)] * 4
        assert comparison.cells[1].failure == ""
        comparison.close()

    run(scene())


def test_play_ends_where_no_cell_has_a_frame_any_more(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames, PAIR)
        await settled(comparison)
        paced.fails = lambda moment: moment.draw > 0
        comparison.play()
        await until(lambda: not comparison.playing)
        assert all(cell.failure for cell in comparison.cells)
        assert shown(comparison) == [(0, 0), (0, 0)]
        comparison.close()

    run(scene())


def test_nothing_is_computed_any_more_once_the_visitor_has_left(paced: Paced, paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames)
        await settled(comparison)
        paced.open.clear()
        comparison.draw()
        await asyncio.sleep(0.02)
        comparison.close()
        await until(lambda: paced.cancelled)
        paced.open.set()
        await asyncio.sleep(0.05)
        assert shown(comparison) == [(0, 0)] * 4

    run(scene())


def test_a_dial_of_one_cell_changes_that_cell_alone_and_going_back_undoes_it(paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames, PAIR)
        comparison.draw()
        await settled(comparison)
        first, second = comparison.cells
        before = first.moment, second.moment
        second.dials.clip = False
        await settled(comparison)
        assert first.moment == before[0]
        assert not second.moment.config.clip.on
        assert shown(comparison) == [(0, 1)] * 2
        assert second.frame is not None
        assert not second.frame.config.clip.on
        assert second.timeline.current.label == first.timeline.current.label == "B: clip off"
        comparison.back()
        await settled(comparison)
        assert (first.moment, second.moment) == before
        assert second.dials.clip
        comparison.close()

    run(scene())


@pytest.mark.parametrize("place", [0, 1])
def test_a_shared_dial_turns_in_every_cell_wherever_it_is_turned(paced_frames: Frames, place: int) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames, FOUR)
        await settled(comparison)
        comparison.cells[place].dials.seed = 7
        await settled(comparison)
        assert [cell.moment.config.seed for cell in comparison.cells] == [7] * 4
        assert [cell.dials.seed for cell in comparison.cells] == [7] * 4
        comparison.close()

    run(scene())


def test_a_slider_that_is_held_is_seen_in_its_cell_and_logged_once_it_is_let_go(paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames, PAIR)
        await settled(comparison)
        first, second = comparison.cells
        other = first.frame
        second.dials.param.update(alpha=0.5, dragging=True)
        await until(lambda: second.frame is not None and second.frame.config.source.alpha == 0.5)
        assert first.frame is other
        assert len(second.timeline.events) == 1
        second.dials.param.update(alpha=0.5, dragging=False)
        await settled(comparison)
        assert len(second.timeline.events) == len(first.timeline.events) == 2
        assert second.frame.config.source.alpha == 0.5
        comparison.close()

    run(scene())


def test_a_shared_slider_that_is_held_moves_no_cell_ahead_of_the_others(paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames, PAIR)
        await settled(comparison)
        comparison.cells[0].dials.param.update(prompts=4, dragging=True)
        await asyncio.sleep(0.1)
        assert [cell.frame and cell.frame.config.source.prompts for cell in comparison.cells] == [16, 16]
        comparison.cells[0].dials.param.update(prompts=4, dragging=False)
        await settled(comparison)
        assert [cell.frame and cell.frame.config.source.prompts for cell in comparison.cells] == [4, 4]
        comparison.close()

    run(scene())


def test_a_chosen_preset_begins_with_the_batch_on_show_and_at_the_checkpoint(paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames, PAIR)
        comparison.draw()
        await settled(comparison)
        comparison.choose(1, "rl-small-batch")
        await settled(comparison)
        assert shown(comparison) == [(0, 1)] * 2
        assert comparison.cells[1].preset_name == "rl-small-batch"
        assert comparison.cells[1].moment.config.source.prompts == 16
        comparison.step()
        await settled(comparison)
        comparison.choose(0, "rl-small-batch")
        await settled(comparison)
        assert shown(comparison) == [(0, 0)] * 2
        assert [cell.moment.config.source.prompts for cell in comparison.cells] == [2, 2]
        comparison.back()
        await settled(comparison)
        assert shown(comparison) == [(1, 0)] * 2
        assert [cell.preset_name for cell in comparison.cells] == ["opsd-collapse", "rl-small-batch"]
        comparison.close()

    run(scene())


def test_more_cells_and_fewer_stay_in_step(paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames, PAIR)
        comparison.draw()
        await settled(comparison)
        comparison.cells[1].dials.clip = False
        await settled(comparison)
        comparison.resize(4)
        await settled(comparison)
        assert [cell.letter for cell in comparison.cells] == list(LETTERS)
        assert shown(comparison) == [(0, 1)] * 4
        assert not comparison.cells[1].moment.config.clip.on
        comparison.draw()
        await settled(comparison)
        comparison.back()
        await settled(comparison)
        comparison.back()
        await settled(comparison)
        assert shown(comparison) == [(0, 1)] * 4
        comparison.resize(2)
        comparison.draw()
        await settled(comparison)
        assert shown(comparison) == [(0, 2)] * 2
        for count in (1, 5, 0):
            comparison.resize(count)
            assert len(comparison.cells) == 2
        comparison.close()

    run(scene())


def test_a_cell_that_is_not_on_show_takes_no_part(paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames, PAIR)
        await settled(comparison)
        before = [cell.moment for cell in comparison.every]
        comparison.choose(3, "sft-fan")
        comparison.every[3].dials.seed = 9
        await settled(comparison)
        assert [cell.moment for cell in comparison.every] == before
        assert [cell.frame for cell in comparison.every[2:]] == [None, None]
        comparison.resize(4)
        await settled(comparison)
        assert [cell.moment.config.seed for cell in comparison.cells] == [0] * 4
        assert [cell.dials.seed for cell in comparison.cells] == [0] * 4
        comparison.close()

    run(scene())


def test_resetting_takes_all_cells_to_their_presets_and_the_checkpoint(paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames, PAIR)
        begin = [cell.moment for cell in comparison.cells]
        comparison.step()
        comparison.draw()
        comparison.cells[0].dials.clip = True
        comparison.cells[1].dials.seed = 4
        await settled(comparison)
        comparison.reset()
        await settled(comparison)
        assert [cell.moment for cell in comparison.cells] == begin
        comparison.close()

    run(scene())


def test_a_word_is_picked_out_in_every_cell_that_reads_the_same_answers() -> None:
    async def scene() -> None:
        frames = Frames(simulator)
        comparison = begun(frames, ["opsd-collapse", "opsd-clipped", "sft-fan"])
        comparison.cells[0].dials.prompts = 2
        await settled(comparison)
        first, second, other = comparison.cells
        other.look.selected = 3
        first.look.selected = 5
        assert (second.look.selected, other.look.selected) == (5, None)
        comparison.draw()
        await settled(comparison)
        assert [cell.look.selected for cell in comparison.cells] == [None] * 3
        comparison.close()
        frames.close()

    run(scene())


def test_theme_and_scale_are_those_of_all_cells(paced_frames: Frames) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames)
        comparison.look.param.update(theme="dark", radius="linear")
        assert {(cell.look.theme, cell.look.radius) for cell in comparison.cells} == {("dark", "linear")}
        comparison.close()

    run(scene())


@pytest.mark.parametrize(
    "message", [None, [], {"open": "no-such"}, {"open": 3}, {"open": "../x"}, {"dials": "yes"}, {"count": True}]
)
def test_a_hostile_message_to_a_cell_changes_nothing(paced_frames: Frames, message: Any) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames, PAIR)
        await settled(comparison)
        head = CellHead(comparison, 1, lambda _: None)
        before = [cell.moment for cell in comparison.cells]
        head._handle_msg(message)
        assert [cell.moment for cell in comparison.cells] == before
        assert not head.open
        comparison.close()

    run(scene())
