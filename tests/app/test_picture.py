import re
from dataclasses import replace

import numpy as np
import pytest

from app import marks, picture
from app.numbers import html, percent, significant
from app.picture import Radius
from app.shared import Shared
from app.views.caption import caption, short
from app.views.gauges import gauges
from app.views.lessons import lesson
from sim.config import Clip, Update
from sim.config import Plane as Axes
from sim.frame import PENDING, Frame, Reading, Undetermined
from sim.presets import Preset
from sim.projection import held
from sim.timeline import Moment
from tests.app.conftest import SMALL, sample, simulator

HOSTILE = "<img src=x onerror=alert(1)>"


def with_tips(x: list[float], y: list[float]) -> Frame:
    """The sample frame with its first sites' arrows moved and all others zero."""
    sites = sample().sites
    tips_x, tips_y = np.zeros(len(sites.text)), np.zeros(len(sites.text))
    tips_x[: len(x)], tips_y[: len(y)] = x, y
    return replace(sample(), sites=replace(sites, x=tips_x, y=tips_y))


def test_the_logarithmic_radius_keeps_directions_and_the_ring() -> None:
    x, y = Radius("log").points(np.array([0.6, 60.0, 0.0]), np.array([0.8, 80.0, 0.0]))
    assert (x[0], y[0]) == pytest.approx((0.6, 0.8))
    assert y[1] / x[1] == pytest.approx(4 / 3)
    assert np.hypot(x[1], y[1]) == pytest.approx(np.arcsinh(10_000) / np.arcsinh(100))
    assert (x[2], y[2]) == (0, 0)


@pytest.mark.parametrize("half", [1e-300, 0.3, 1 - 1e-16, 1000 * (1 + 1e-15), 1e15, 1e300, np.nextafter(1000, 2000)])
def test_any_picture_has_marks(half: float) -> None:
    assert len(Radius("linear").marks(half)) > 1


def test_what_is_not_known_is_sent_as_a_number_that_stands_for_it() -> None:
    frame = sample()
    gone = replace(frame.sites, norm=None, teacher_p=np.full(len(frame.sites.text), np.nan))
    columns = picture.arrows(replace(frame, sites=gone), Radius("log"))
    for name in ("norm", "teacher"):
        assert (columns[name] == np.float32(picture.MISSING)).all()
    assert (columns["student"] >= 0).all()


def test_the_linear_radius_changes_nothing() -> None:
    x, y = Radius("linear").points(np.array([3.0]), np.array([-4.0]))
    assert (x[0], y[0]) == (3, -4)


def test_exact_zeros_are_not_drawn_and_the_strongest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "MOST", 2)
    frame = with_tips([3, 0, 1, 2], [0, 0, 0, 0])
    assert picture.order(frame).tolist() == [3, 0]
    assert f"2 of {len(frame.sites.text):,} arrows shown" in caption(frame, "log")


def test_the_words_are_of_the_arrow_that_is_picked_out_and_of_the_strongest_in_that_order() -> None:
    frame = with_tips([5, 4, 3, 2, 1], [0, 0, 0, 0, 0])
    x = [5.0, 4.0, 3.0]
    assert picture.words(frame, Radius("linear"))["x"].tolist() == x
    assert picture.words(frame, Radius("linear"), selected=4)["x"].tolist() == [1.0, *x]
    assert picture.words(frame, Radius("linear"), selected=1)["x"].tolist() == [4.0, 5.0, 3.0]
    assert picture.words(frame, Radius("linear"), count=1)["x"].tolist() == [5.0]


def test_an_arrow_that_is_exactly_zero_is_not_picked_out() -> None:
    frame = with_tips([5], [0])
    assert marks.selected(frame, Radius("linear"), 0)["x"].tolist() == [5.0]
    for site in (1, None, len(frame.sites.text), -1):
        assert marks.selected(frame, Radius("linear"), site)["x"] == []
    assert len(picture.words(frame, Radius("linear"), selected=1)["text"]) == 1


def test_the_whole_length_lies_beyond_the_ring_exactly_when_the_ratio_is_over_one() -> None:
    frame = sample()
    ellipse = np.array([[2.0, 0.3], [0.0, 0.5]])
    for ratio in (0.9, 1.1):
        update = replace(frame.update, x=0.2, y=0.1, ratio=ratio)
        bent = replace(frame, update=update, plane=replace(frame.plane, safe_ellipse=ellipse))
        mark = marks.whole(bent, Radius("linear"))
        back = np.linalg.solve(ellipse, [mark["x"][0], mark["y"][0]])
        assert np.linalg.norm(back) == pytest.approx(ratio, rel=1e-6)


def test_arrows_update_and_ring_share_one_scale() -> None:
    frame = with_tips([1.0], [0.0])
    frame = replace(frame, update=replace(frame.update, x=1.0, y=0.0))
    frame = replace(frame, plane=replace(frame.plane, safe_ellipse=np.eye(2)))
    for radius in (Radius("log"), Radius("linear")):
        assert picture.arrows(frame, radius)["x"][-1] == pytest.approx(1)
        assert marks.update(frame, radius)["x"][0] == pytest.approx(1)
        ring = marks.ring(frame, radius)
        assert np.hypot(ring["x"], ring["y"]) == pytest.approx(1)


def test_an_update_that_is_undetermined_is_not_drawn() -> None:
    none = Undetermined("every reward is equal")
    frame = replace(sample(), update=replace(sample().update, x=none, y=none, ratio=none))
    assert marks.update(frame, Radius("log")) == {"x": [], "y": []}
    assert marks.whole(frame, Radius("log"))["x"] == []


def test_the_picture_reaches_to_the_ring_and_to_the_whole_update() -> None:
    frame = replace(sample(), update=replace(sample().update, x=1.0, y=0.0, ratio=50.0))
    for kind in ("log", "linear"):
        assert marks.reach(frame, Radius(kind)) > marks.must_reach(frame, Radius(kind)) > 1


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1.0, "1.00"), (0.0254, "0.0254"), (38.26, "38.3"), (1760.4, "1760"), (-0.5, "−0.500"),
     (9.999, "10.0"), (5.68e-4, "5.68 × 10⁻⁴"), (1.5e6, "1.50 × 10⁶")],
)  # fmt: skip
def test_numbers_have_three_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text


def test_a_share_that_is_not_zero_never_reads_as_zero() -> None:
    assert [percent(each) for each in (0.0, 0.001, 0.46, -0.2)] == ["0 %", "< 1 %", "46 %", "−20 %"]


def test_a_number_that_is_missing_says_why() -> None:
    assert "computing" in html(PENDING)
    dash = html(Undetermined('no "signal" <here>'))
    assert "–" in dash
    assert "no &quot;signal&quot; &lt;here&gt;" in dash


def test_every_reading_shows_its_number_its_word_and_its_rule() -> None:
    shown = gauges(sample())
    for name in ("Update", "KL of the step", "Density", "Bias", "Concentration", "Spread", "Mean norm"):
        assert f">{name}</" in shown
    assert shown.count('role="tooltip"') == 8
    assert sample().verdict.word in shown


def test_readings_of_other_settings_give_no_verdict() -> None:
    shown = gauges(sample(), stale=True)
    assert "<h2>measuring</h2>" in shown
    assert "readings stale" in shown


@pytest.mark.parametrize(("on", "words"), [(False, "a clip would leave"), (True, "the clip leaves")])
def test_a_clip_that_is_off_only_would_leave(on: bool, words: str) -> None:
    config = SMALL.model_copy(update={"clip": Clip(on=on)})
    assert words in gauges(replace(sample(), config=config))


def test_pending_readings_say_that_they_are_being_computed() -> None:
    measures = replace(sample().measures, mean_norm=PENDING)
    assert "computing" in gauges(replace(sample(), measures=measures))


def test_a_lesson_is_text_whatever_it_holds() -> None:
    shown = lesson(Preset(title=HOSTILE, lesson=HOSTILE, try_=(HOSTILE,), config=SMALL))
    assert "<img" not in shown
    assert shown.count("&lt;img src=x onerror=alert(1)&gt;") == 3


def test_an_arrows_whole_length_is_its_drawn_one_over_the_root_of_its_share() -> None:
    frame = sample()
    share = held(frame)
    assert isinstance(share, np.ndarray)
    columns = picture.arrows(frame, Radius("linear"))
    drawn, whole = np.hypot(columns["x"], columns["y"]), np.hypot(columns["whole_x"], columns["whole_y"])
    np.testing.assert_allclose(whole, drawn / np.sqrt(share[picture.order(frame)]), rtol=1e-4)
    assert columns["held"][-1] == percent(share[picture.order(frame)[-1]])
    np.testing.assert_allclose(columns["whole_x"] * columns["y"], columns["whole_y"] * columns["x"], rtol=1e-3)


def test_a_whole_length_that_is_not_known_is_not_drawn_and_says_why() -> None:
    pending = replace(sample(), sites=replace(sample().sites, norm=None))
    adam = replace(sample(), config=SMALL.model_copy(update={"update": Update(optimiser="adam")}))
    for frame, why in ((pending, "computing"), (adam, "undetermined: Adam rescales it")):
        late = picture.late(frame, Radius("log"))
        assert (late["whole_x"] == np.float32(picture.MISSING)).all()
        assert set(late["held"]) == {why}
        site = int(picture.order(frame)[-1])
        assert np.isnan(marks.selected(frame, Radius("log"), site)["whole_x"]).all()


def test_former_tips_are_those_of_clipped_arrows_and_the_caption_counts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = with_tips([1, 1, 1, 1], [0, 0, 0, 0])
    sites = frame.sites
    former, clipped = sites.x.copy(), np.zeros(len(sites.x), bool)
    former[:4], clipped[:3] = [3, 1, 2, 5], True
    frame = replace(frame, sites=replace(sites, unclipped_x=former, unclipped_y=sites.y, clipped=clipped))
    assert picture.moved(frame).tolist() == [2, 0]
    assert picture.unclipped(frame, Radius("linear"))["x1"].tolist() == [2, 3]
    assert "former tips" not in caption(frame, "log")
    assert "tip before the clip" in caption(frame, "log")
    monkeypatch.setattr(picture, "MOST_UNCLIPPED", 1)
    assert picture.unclipped(frame, Radius("linear"))["x1"].tolist() == [3]
    assert "1 of 2 former tips shown" in caption(frame, "log")


def test_a_trail_is_of_the_draws_before_at_the_same_parameters_whose_updates_are_arrows() -> None:
    def drawn(x: Reading, draw: int, step: int = 0) -> Frame:
        frame = sample()
        return replace(frame, update=replace(frame.update, x=x, y=0.0), draw=draw, step=step)

    before = [drawn(1.0, 0), drawn(0.0, 1), drawn(PENDING, 2), drawn(2.0, 3), drawn(5.0, 4, step=1)]
    assert marks.tips(before, drawn(9.0, 4)) == [(1.0, 0.0), (2.0, 0.0)]
    assert marks.tips(before, drawn(9.0, 3)) == [(1.0, 0.0)]
    assert marks.tips([], drawn(9.0, 0)) == []
    many = [drawn(float(draw + 1), draw) for draw in range(30)]
    assert marks.tips(many, drawn(9.0, 30))[0] == (30.0 - marks.TRAIL + 1, 0.0)


def test_a_trail_runs_from_the_oldest_tip_to_the_update_on_show_and_grows_toward_it() -> None:
    frame = replace(sample(), update=replace(sample().update, x=5.0, y=6.0))
    trail = marks.trail(frame, Radius("linear"), [(1.0, 2.0), (3.0, 4.0)])
    assert [trail[name].tolist() for name in ("x", "y", "x1", "y1")] == [[1, 3], [2, 4], [3, 5], [4, 6]]
    assert trail["alpha"][0] < trail["alpha"][1]
    assert trail["size"][0] < trail["size"][1]
    assert marks.trail(frame, Radius("linear"), [])["x"] == []
    words = "where it ended in the last draws"
    assert words in caption(frame, "log", trail=True)
    assert words not in caption(frame, "log")


@pytest.mark.parametrize(("share", "trace"), [(0.0099, True), (0.0101, False), (0.8, False)])
def test_an_update_that_the_plane_hardly_holds_is_drawn_and_called_a_trace(share: float, trace: bool) -> None:
    update = replace(sample().update, x=1.0, y=0.0)
    frame = replace(sample(), update=update, plane=replace(sample().plane, update_share=share))
    assert marks.is_trace(frame) is trace
    assert marks.noted(frame, Radius("log"))["text"] == (["1 % of the update"] if trace else [])
    assert ("its arrow shows only that" in caption(frame, "log")) is trace
    assert ("the little of the update" in caption(frame, "log")) is trace


@pytest.mark.parametrize("basis", ["checkpoint", "components", "random"])
@pytest.mark.parametrize("steps", [0, 1])
def test_in_every_plane_the_whole_mark_is_beyond_the_ring_exactly_when_the_update_is(basis: str, steps: int) -> None:
    config = SMALL.model_copy(update={"plane": Axes(basis=basis)})
    start = Moment(config).next_step() if steps else Moment(config)
    there = picture.number(simulator().frame(start, complete=False).update.ratio)
    assert there is not None
    for ratio in (0.5, 2.0):
        update = Update(step_size=config.update.step_size * ratio / there)
        moment = start.with_config(config.model_copy(update={"update": update}))
        frame = simulator().frame(moment, complete=False)
        assert frame.update.ratio == pytest.approx(ratio, rel=1e-4)
        whole, ring = marks.whole(frame, Radius("linear")), marks.ring(frame, Radius("linear"))
        at = np.arctan2(whole["y"][0], whole["x"][0])
        rim = np.interp(at, np.arctan2(ring["y"], ring["x"]), np.hypot(ring["x"], ring["y"]), period=2 * np.pi)
        assert np.hypot(whole["x"][0], whole["y"][0]) / rim == pytest.approx(ratio, rel=1e-2)


def test_what_adam_leaves_undetermined_is_said_in_sight() -> None:
    share = Undetermined("Adam rescales each coordinate")
    frame = replace(sample(), plane=replace(sample().plane, captured_share=share, update_share=0.4))
    shown = re.sub(r"<[^>]*>", "", caption(frame, "log"))
    assert "holds 40 % of the update" in shown
    assert "undetermined: Adam rescales each coordinate" in shown
    assert "undetermined: Adam" in re.sub(r"<[^>]*>", "", short(frame))


def test_the_caption_says_what_the_circles_count() -> None:
    assert "circles in safe radii, drawn logarithmically" in caption(sample(), "log")
    assert "circles in safe radii, drawn in proportion" in caption(sample(), "linear")
    other = replace(sample(), plane=replace(sample().plane, basis="random"))
    assert "mean radii" in caption(other, "log")


def test_planes_side_by_side_reach_as_far_as_the_one_that_needs_most() -> None:
    shared = Shared()
    shared.require("a", 2.0)
    shared.require("b", 3.0)
    assert (shared.half, shared.view.data["half"], shared.view.tags) == (3.0, [3.0], [3.0])
    shared.require("a", 2.5)
    assert shared.half == 3.0
    shared.release("b")
    assert (shared.half, shared.view.tags) == (2.5, [2.5])
