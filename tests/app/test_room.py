"""Where words stand: clear of each other, of captions and of the picture's edge."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from app.room import Box, places

AREA: Box = (0.0, 0.0, 400.0, 300.0)
ZERO = (200.0, 150.0)
NONE = np.zeros((0, 2))
points = st.lists(st.tuples(st.floats(0, 400), st.floats(0, 300)), min_size=1, max_size=8)


def place(tips: list[tuple[float, float]], taken: list[Box] | None = None, arrows: np.ndarray = NONE,
          heavy: np.ndarray = NONE, width: float = 60) -> list[Box | None]:  # fmt: skip
    return places(np.array(tips), [width] * len(tips), 18, AREA, taken or [], ZERO, arrows, heavy)


def meet(one: Box, other: Box) -> bool:
    return one[2] > other[0] and one[0] < other[2] and one[3] > other[1] and one[1] < other[3]


@settings(deadline=None, max_examples=40)
@given(points)
def test_no_word_covers_another_a_caption_or_the_edge(tips: list[tuple[float, float]]) -> None:
    caption = (0.0, 0.0, 150.0, 80.0)
    found = [box for box in place(tips, [caption]) if box is not None]
    for i, box in enumerate(found):
        assert box[0] >= 0
        assert box[1] >= 0
        assert box[2] <= 400
        assert box[3] <= 300
        assert not any(meet(box, other) for other in [caption, *found[:i]])


def test_a_word_with_room_stands_outward_of_its_tip_at_its_height() -> None:
    right, left = place([(300, 150), (100, 150)])
    assert right == (308, 141, 368, 159)
    assert left == (32, 141, 92, 159)


def test_a_word_gives_way_to_the_update_before_it_gives_way_to_an_arrow() -> None:
    tip = [(250.0, 150.0)]
    (free,) = place(tip)
    (beside,) = place(tip, heavy=np.array([[350.0, 150.0]]))
    (over,) = place(tip, arrows=np.array([[350.0, 150.0]]))
    assert free is not None
    assert beside is not None
    assert over == free
    assert not beside[1] <= 150 <= beside[3]


def test_a_word_without_room_is_left_out() -> None:
    assert place([(300, 150)], width=500) == [None]
    assert place([(300, 150)], [AREA]) == [None]
