"""What goes wrong beside the frames of a comparison is told, and it goes on from there."""

from typing import Any

import pytest

from app.frames import Frames
from app.views.compare_bar import CompareBar
from app.views.compare_cell import CellHead
from app.views.compare_table import CompareTable
from app.views.plane import Plane
from tests.app.conftest import Paced, run, simulator, until
from tests.app.test_linked import PAIR, begun, settled, shown


@pytest.mark.parametrize("watched", ["frame", "changed"])
def test_a_view_that_breaks_ends_play_in_words_and_the_next_act_is_shown(paced_frames: Frames, watched: str) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames, PAIR)
        await settled(comparison)
        bar, breaks = CompareBar(comparison, lambda _: None), True

        def broken(*_: Any) -> None:
            if breaks:
                raise RuntimeError("no room to draw in")

        comparison.param.watch(broken, watched)
        table = CompareTable(comparison)
        comparison.play()
        await until(lambda: not comparison.playing, within=20)
        assert comparison.settled
        assert comparison.busy == ""
        assert "RuntimeError: no room to draw in" in bar.problems[0]
        breaks = False
        rows: list[Any] = []
        table.param.watch(lambda change: rows.append(change.new), "rows")
        table.rows = []
        comparison.draw()
        await settled(comparison)
        assert shown(comparison) == [(0, 2)] * 2
        assert (comparison.problems, bar.problems) == ([], [])
        assert rows[-1]
        comparison.close()

    run(scene())


def test_a_cell_without_a_frame_of_its_clock_shows_no_verdict_no_clock_and_a_dimmed_picture(
    paced: Paced, paced_frames: Frames
) -> None:
    async def scene() -> None:
        comparison = begun(paced_frames, PAIR)
        await settled(comparison)
        broken = comparison.cells[1]
        head, plane = CellHead(comparison, 1, lambda _: None), Plane(broken).__panel__()
        before = (head.level, head.verdict, head.rule, head.ratio)
        assert (head.clock, "stale" in plane.css_classes) == ("step 0, draw 0", False)
        config = broken.moment.config
        paced.fails = lambda moment: moment.config == config and moment.draw == 1
        comparison.draw()
        await settled(comparison)
        assert (head.level, head.verdict, head.rule, head.ratio, head.clock) == ("none", "no frame", "", "", "")
        assert "draw 1 could not be computed" in head.failure
        assert "stale" in plane.css_classes
        assert not comparison.cells[0].stale
        comparison.draw()
        await settled(comparison)
        assert (head.level, head.verdict, head.rule, head.ratio) == before
        assert (head.clock, "stale" in plane.css_classes) == ("step 0, draw 2", False)
        comparison.close()

    run(scene())


def test_a_view_that_breaks_at_a_picked_word_takes_nothing_from_the_next_pick() -> None:
    async def scene() -> None:
        frames = Frames(simulator)
        comparison = begun(frames, PAIR)
        comparison.cells[0].dials.prompts = 2
        await settled(comparison)
        first, second = comparison.cells

        def broken(change: Any) -> None:
            if change.new == 5:
                raise RuntimeError("no room to draw in")

        second.look.param.watch(broken, "selected")
        with pytest.raises(RuntimeError):
            first.look.selected = 5
        first.look.selected = 6
        assert second.look.selected == 6
        comparison.close()
        frames.close()

    run(scene())
