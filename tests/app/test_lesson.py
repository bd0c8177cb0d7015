"""A recording, and the one file that it becomes: what stands in it, that it is the same each time, and its size."""

import json
import re
from dataclasses import replace
from functools import cache

import bokeh.models
import pytest
from bokeh.model import Model

from app import picture
from app.lesson import clouds
from app.lesson.export import export_lesson
from app.lesson.figure import figure
from app.lesson.page import page
from app.lesson.recording import Recording, recorded
from app.palette import DARK, LIGHT
from app.picture import Radius
from sim.config import Clip, Config, Source, Teacher
from sim.errors import Cancelled
from sim.frame import Frame
from sim.link import Link
from sim.opening import parse_file
from sim.presets import Preset, builtin
from sim.timeline import Moment
from tests.app.conftest import sample, simulator

HOSTILE = "</script><script>x()</script><!-- <img src=x onerror='x()'> & \"q\" $title"
COLLAPSE = builtin("opsd-collapse").config
CONFIG = COLLAPSE.model_copy(update={"source": Source(prompts=1, group_size=4)})
PRESET = Preset(title=HOSTILE, lesson=HOSTILE, try_=(HOSTILE,), config=CONFIG)
LINK = Link(PRESET, None, Moment(CONFIG), {"theme": "dark"})


@cache
def measured(moment: Moment) -> Frame:
    return simulator().frame(moment)


def exported(link: Link = LINK, frames: int = 2) -> str:
    return export_lesson(link, frames, measured, lambda *_: None, lambda: False)


@cache
def text() -> str:
    return exported()


def record(html: str, mark: str) -> str:
    found = re.search(rf'<script type="application/json" id="{mark}">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return found[1]


class Asked:
    """Gives one frame for every moment, and notes the moments."""

    def __init__(self) -> None:
        self.moments: list[Moment] = []

    def __call__(self, moment: Moment) -> Frame:
        self.moments.append(moment)
        return replace(sample(), config=moment.config, step=moment.step, draw=moment.draw)


def test_along_draws_each_batch_is_measured_with_the_clip_off_and_on() -> None:
    asked, start = Asked(), Moment(CONFIG, draw=5)
    recorded(start, 3, asked)
    assert [(moment.draw, moment.step, moment.config.clip.on) for moment in asked.moments] == [
        (draw, 0, on) for draw in (5, 6, 7) for on in (False, True)
    ]


def test_along_steps_the_two_runs_each_take_their_own_updates() -> None:
    asked, start = Asked(), Moment(CONFIG)
    recorded(start, 3, asked, "steps")
    for on in (False, True):
        track = [moment for moment in asked.moments if moment.config.clip.on == on]
        assert [moment.step for moment in track] == [0, 1, 2]
        assert track[1] == track[0].next_step()
        assert track[2] == track[1].next_step()


def test_a_clip_that_changes_nothing_is_found_out_and_one_that_does_is_not() -> None:
    rewarded = Config(source=Source(prompts=2, group_size=4), teacher=Teacher(weight=0))
    assert recorded(Moment(rewarded), 1, measured).idle
    assert not recorded(Moment(CONFIG), 1, measured).idle


def test_where_the_clip_changes_nothing_the_settings_as_they_are_are_recorded() -> None:
    on = CONFIG.model_copy(update={"clip": Clip(on=True)})
    recording = recorded(Moment(on), 2, Asked())
    assert recording.idle
    assert [frame.config.clip.on for frame in recording.frames] == [True] * 4


def test_progress_counts_every_frame_and_cancelling_stops_before_the_next() -> None:
    asked, told = Asked(), list[tuple[int, int]]()
    with pytest.raises(Cancelled, match="before frame 3 of 4"):
        recorded(
            Moment(CONFIG),
            2,
            asked,
            progress=lambda *each: told.append(each),
            cancelled=lambda: len(asked.moments) == 2,
        )
    assert told == [(1, 4), (2, 4)]


def test_the_same_command_gives_the_same_bytes_whatever_the_process_drew_before() -> None:
    figure(2.0)
    assert exported() == text()


def test_the_record_inside_opens_as_the_moment_that_was_recorded() -> None:
    found = parse_file(text().encode(), "lesson.html")
    assert found.preset == PRESET
    assert found.moment == LINK.moment


def test_no_text_of_a_preset_becomes_markup_or_ends_a_script() -> None:
    code = re.sub(r"<script>.*?</script>", "", text(), flags=re.DOTALL)
    assert "x()</script>" not in code
    assert "<img" not in code
    assert "&lt;/script&gt;&lt;script&gt;x()" in code
    assert json.loads(record(text(), "gradcloud"))["preset"]["title"] == HOSTILE


def test_nothing_in_the_file_names_another_file_or_host_to_fetch() -> None:
    code = re.sub(r"<script>.*?</script>", "", text(), flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="([^"]*)"', code) == ["data:,"]
    assert "url(" not in re.sub(r"<script.*?</script>", "", code, flags=re.DOTALL)
    assert "@import" not in code
    assert "default-src 'none'" in code


def test_the_figure_is_made_of_bokehs_own_models_alone() -> None:
    # As the page's button does it, in a process where Panel has registered its own.
    item = json.dumps(figure(2.0)["item"])
    assert json.loads(item)["doc"]["defs"] == []
    used = set(re.findall(r'"type": "object", "name": "([^"]+)"', item))
    assert used <= {name for name, model in Model.model_class_reverse_map.items() if ours(model)}
    assert "Segment" in used


def ours(model: type) -> bool:
    return model.__module__.split(".")[0] == bokeh.models.__name__.split(".")[0]


def test_the_figure_has_the_colours_of_each_theme() -> None:
    made = figure(2.0)
    for name, palette in (("light", LIGHT), ("dark", DARK)):
        values = dict(made["themes"][name]["values"])
        assert values[made["models"]["plane"]]["background_fill_color"] == palette.paper
        assert values[made["models"]["shaft"]]["line_color"] == palette.update


def test_the_picture_reaches_as_far_as_every_frame_needs() -> None:
    recording = recorded(Moment(CONFIG), 2, measured)
    radius = Radius("linear")
    half = clouds.reach(recording, radius)
    assert all(half >= clouds.marks.must_reach(frame, radius) for frame in recording.frames)


def test_the_page_says_that_it_is_a_recording_of_what_and_how_to_see_it_live() -> None:
    assert "a recording: 2 draws" in text()
    assert "2 batches drawn at the checkpoint; each with the clip off and with it on." in text()
    assert "gradcloud serve" in text()
    named = exported(Link(builtin("opsd-collapse"), "opsd-collapse", Moment(CONFIG)), 1)
    assert "?preset=opsd-collapse&amp;view=1;" in named
    assert "a recording: one draw" in named
    assert "This is a recording: 1 batch drawn at the checkpoint" in named


@pytest.mark.parametrize(
    ("frames", "told"),
    [
        (1, ("0 steps of a run", "1 frame of a run")), (2, ("1 step of a run", "2 frames of a run")),
        (3, ("2 steps of a run", "3 frames of a run")),
    ],
)  # fmt: skip
def test_a_run_is_called_one(frames: int, told: tuple[str, str]) -> None:
    frame = measured(Moment(CONFIG))
    recording = Recording("steps", ((frame, frame),) * frames, False)
    html = page(LINK, recording, figure(2.0), b"")
    assert f'<span class="kind">a recording: {told[0]}</span>' in html
    assert f"This is a recording: {told[1]} that begins at the checkpoint" in html
    assert "two runs: one with the clip off in every step, and one with it on" in html


def test_sixty_frames_of_five_hundred_arrows_stay_under_four_megabytes() -> None:
    # One batch stands for sixty: what is common to several takes less room, not more.
    config = COLLAPSE.model_copy(update={"source": Source(prompts=4, group_size=7)})
    recording = recorded(Moment(config), 1, measured)
    assert all(len(picture.order(frame)) > 450 for frame in recording.frames)
    radius = Radius("log")
    packed = clouds.packed(recording, radius, clouds.reach(recording, radius))
    without = len(page(LINK, recording, figure(2.0), b"").encode())
    assert without + 60 * len(packed) * 4 / 3 < 4_000_000
