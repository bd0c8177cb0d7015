"""The picture as tables, on frames whose arrows are set by hand, and the component that shows them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app import table
from app.frames import Frames
from app.picture import Radius
from app.views.table import PictureTable
from sim.config import Plane
from sim.frame import NO_UPDATE, PENDING, Frame
from tests.app.conftest import begun, run, sample, settled


def with_arrows(count: int) -> Frame:
    """The sample with `count` arrows of lengths 1, 2, ... to the right, and all others zero."""
    size = len(sample().sites.text)
    x = np.zeros(size)
    x[:count] = np.arange(1, count + 1)
    return replace(sample(), sites=replace(sample().sites, x=x, y=np.zeros(size)))


def cells(it: table.Table) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in it.rows}


def test_the_arrows_are_told_from_the_longest_to_the_shortest_a_page_at_a_time() -> None:
    frame = with_arrows(60)
    first, last = table.page(frame, 0), table.page(frame, 2)
    assert [row[0] for row in first.table.rows] == [str(n) for n in range(1, 26)]
    assert [row[6] for row in first.table.rows[:2]] == ["60.0", "59.0"]
    assert [row[6] for row in last.table.rows] == [f"{n:.1f}" if n >= 10 else f"{n:.2f}" for n in range(10, 0, -1)]
    assert (first.pages, last.number) == (3, 2)
    total = len(frame.sites.text)
    left = f"{total - 60} of {total} tokens are zero or weaker, and not drawn"
    assert last.where == f"arrows 51 to 60 of 60 drawn; {left}"


@pytest.mark.parametrize(("asked", "given"), [(-5, 0), (99, 2), (10**12, 2)])
def test_a_page_beyond_the_ends_is_the_nearest_one(asked: int, given: int) -> None:
    assert table.page(with_arrows(60), asked).number == given


def test_a_picture_without_an_arrow_has_one_page_that_says_so() -> None:
    page = table.page(with_arrows(0), 0)
    assert (page.table.rows, page.pages) == ((), 1)
    assert page.where.startswith("no arrow is drawn")


def test_an_arrow_says_its_word_its_place_its_length_its_angle_and_what_the_clip_took() -> None:
    size = len(sample().sites.text)
    x, y, share, before = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    x[3], y[3], share[3], before[3] = 3.0, -3.0, -0.025, 12.5
    clipped = np.zeros(size, bool)
    clipped[3] = True
    frame = replace(
        sample(),
        sites=replace(
            sample().sites, x=x, y=y, share=share, unclipped_x=before, unclipped_y=np.zeros(size), clipped=clipped,
            norm=np.full(size, 0.5), text=("<eos>",) * size, raised=("wait",) * size, prefix=("then 3 * 8 =",) * size,
        ),
    )  # fmt: skip
    (row,) = table.page(frame, 0).table.rows
    assert row == (
        "1", "(end)", "then 3 * 8 =", "wait", "3.00", "−3.00", "4.24", "−45.0", "12.5", "−2.50 %", "0.500"
    )  # fmt: skip
    assert len(row) == len(table.page(frame, 0).table.columns)
    plain = replace(frame.sites, clipped=np.zeros(size, bool), norm=None, share=np.full(size, np.nan))
    assert table.page(replace(frame, sites=plain), 0).table.rows[0][-3:] == ("not clipped", "–", "computing")


def test_the_update_is_told_in_the_plane_and_whole() -> None:
    update = replace(sample().update, x=0.3, y=0.4, norm=0.2, safe_radius=0.1, ratio=2.0)
    told = cells(table.update(replace(sample(), update=update)))
    assert told["x in the plane"] == ("0.300", "safe radii")
    assert told["length in the plane"] == ("0.500", "safe radii")
    assert told["angle in the plane"][0] == "53.1"
    assert told["whole length over the safe radius"] == ("2.00", "safe radii")
    assert told["whole length"][0] == "0.200"


def test_an_update_that_there_is_not_has_its_reason_in_the_table() -> None:
    update = replace(sample().update, x=NO_UPDATE, y=NO_UPDATE, ratio=NO_UPDATE)
    told = cells(table.update(replace(sample(), update=update)))
    assert told["length in the plane"] == ("–", NO_UPDATE.reason)
    assert told["angle in the plane"] == ("–", "no direction")


def test_a_ring_that_is_a_circle_has_a_radius_and_one_that_is_not_two_half_axes() -> None:
    circle = replace(sample(), plane=replace(sample().plane, safe_ellipse=np.eye(2)))
    assert cells(table.ring(circle))["radius"] == ("1.00", "safe radii: a circle")
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    bent = replace(sample(), plane=replace(sample().plane, safe_ellipse=turn @ np.diag([3.0, 0.5])))
    told = cells(table.ring(bent))
    assert told["longer half axis"][0] == "3.00"
    assert told["shorter half axis"][0] == "0.500"
    assert told["angle of the longer one"][0] == "90.0"


@pytest.mark.parametrize(
    ("kind", "how"),
    [("linear", "in proportion"), ("log", "logarithmically, as asinh(length / 0.01) / asinh(1 / 0.01)")],
)
def test_the_scale_says_how_lengths_are_drawn_and_where_one_lies(kind: str, how: str) -> None:
    told = table.scale(sample(), Radius(kind))
    assert told.caption == f"The scale: lengths are drawn {how}"
    assert cells(told)["1.00"] == ("1.00",)


def test_the_plane_says_what_its_lengths_are_counted_in() -> None:
    assert table.unit(sample()) == "safe radii"
    assert table.unit(replace(sample(), step=2)) == "safe radii of the start"
    random = replace(sample(), plane=replace(sample().plane, basis=Plane(basis="random").basis))
    assert table.unit(random) == "mean radii of the safe region"


def test_each_reading_has_its_number_its_unit_and_its_rule_and_a_missing_one_its_reason() -> None:
    frame = replace(sample(), measures=replace(sample().measures, mean_norm=PENDING))
    told = table.readings(frame)
    assert all(len(row) == len(told.columns) for row in told.rows)
    assert cells(told)["Mean norm"] == ("computing", "computing", PENDING.reason, PENDING.reason)
    assert cells(told)["Update"][0] == frame.verdict.word
    assert cells(told)["Update"][3] == frame.verdict.rule


def test_the_trail_stands_in_the_tables_where_there_is_one() -> None:
    radius = Radius("log")
    assert [each.caption[:9] for each in table.tables(sample(), radius, [])] == [
        "The avera", "The safe ", "The scale", "The readi"
    ]  # fmt: skip
    trail = table.tables(sample(), radius, [(3.0, 4.0), (1.0, 0.0)])[1]
    assert trail.rows == (("2", "3.00", "4.00", "5.00"), ("1", "1.00", "0", "1.00"))


def test_the_tables_are_filled_when_they_are_opened_and_not_before(paced_frames: Frames) -> None:
    async def main() -> None:
        session = begun(paced_frames)
        await settled(session)
        view = PictureTable(session)
        assert (view.tables, view.arrows) == ([], {})
        view._handle_msg({"open": True})
        assert view.arrows == _as_sent(table.page(sample(), 0))
        view._handle_msg({"page": 2})
        assert view.arrows == _as_sent(table.page(sample(), 2))
        view._handle_msg({"open": False})
        view.arrows = {}
        session.look.radius = "linear"
        assert view.arrows == {}
        session.close()

    run(main())


def test_the_open_tables_are_filled_once_for_a_frame_and_lose_the_trail_with_the_log(
    paced_frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        session = begun(paced_frames)
        await settled(session)
        view = PictureTable(session)
        view._handle_msg({"open": True})
        filled: list[int] = []
        made = table.tables
        monkeypatch.setattr(table, "tables", lambda frame, *rest: filled.append(frame.draw) or made(frame, *rest))
        for _ in range(2):
            session.draw()
            await settled(session)
        assert filled == [1, 2]
        assert any(each["caption"].startswith("The trail") for each in view.tables)
        session.clear()
        assert not any(each["caption"].startswith("The trail") for each in view.tables)
        assert filled == [1, 2, 2]
        session.close()

    run(main())


@pytest.mark.parametrize("message", [None, [], "page", {"page": "1"}, {"page": True}, {"page": 1.5}, {"open": 1}])
def test_a_message_that_means_nothing_changes_nothing(paced_frames: Frames, message: Any) -> None:
    async def main() -> None:
        session = begun(paced_frames)
        await settled(session)
        view = PictureTable(session)
        view._handle_msg(message)
        assert view.arrows == {}
        view._handle_msg({"open": True})
        before = view.arrows
        view._handle_msg(message)
        assert view.arrows == before
        session.close()

    run(main())


def _as_sent(page: table.Page) -> dict[str, Any]:
    return {
        "table": {"caption": page.table.caption, "columns": page.table.columns, "rows": page.table.rows},
        "number": page.number,
        "pages": page.pages,
        "where": page.where,
    }
