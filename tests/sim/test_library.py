"""The simulator as a library: three lines to a frame, the very one that the command line measures."""

import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch

import sim
from sim import Frame, InvalidInput, Undetermined, builtin, measure, names, place
from sim.frame import PENDING, Sites
from sim.library import simulator
from sim.report import frame_html
from sim.timeline import Moment

ROOT = Path(__file__).parents[2]
SMALL = ("source.prompts=2", "source.group_size=4")


@pytest.fixture(scope="module")
def frame() -> Frame:
    return measure("opsd-collapse", *SMALL, draw=1)


def test_the_package_loads_nothing_heavy_before_it_is_asked_for() -> None:
    program = "import sys, sim; dir(sim); print(*{'torch', 'numpy', 'pydantic', 'panel', 'typer'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout == "\n"


def test_all_that_the_package_offers_is_there_and_documented() -> None:
    for name in sim.__all__:
        assert getattr(sim, name).__doc__
        assert name in dir(sim)
    scope: dict[str, object] = {}
    exec("from sim import *", scope)
    assert set(sim.__all__) <= scope.keys()


def test_no_name_that_the_package_offers_is_a_modules() -> None:
    assert not {path.stem for path in (ROOT / "sim").glob("*.py")} & set(sim.__all__)


def test_another_name_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="module 'sim' has no attribute 'nothing'"):
        _ = sim.nothing


def test_a_frame_is_that_of_the_moment_and_complete(frame: Frame) -> None:
    moment = place("opsd-collapse", *SMALL, draw=1).moment
    assert (moment.draw, moment.config.source.prompts, moment.config.source.group_size) == (1, 2, 4)
    assert frame.complete
    assert frame.dumps() == simulator().frame(moment).dumps()


def test_a_link_is_measured_as_it_stands_and_may_be_changed(frame: Frame) -> None:
    query = place("opsd-collapse", *SMALL, draw=1).query()
    assert measure(f"http://localhost:5006/app?{query}").dumps() == frame.dumps()
    there = place(query, "clip.on=true")
    assert (there.moment.draw, there.moment.config.clip.on) == (1, True)
    assert there.query() == place("opsd-collapse", *SMALL, "clip.on=true", draw=1).query()


def test_steps_are_taken_from_where_it_starts() -> None:
    here = place("opsd-collapse", draw=2)
    there = place(here, step=2)
    assert there.moment == here.moment.next_step().next_step()
    assert place(here, step=2, draw=5).moment == replace(there.moment, draw=5)
    assert place(here) is here


def test_every_preset_is_a_place() -> None:
    for name in names():
        link, preset = place(name), builtin(name)
        assert (link.preset, link.name, link.moment) == (preset, name, Moment(preset.config))
        assert (link.look, link.kept) == ({}, None)


def test_the_callers_threads_are_left_as_they_were() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        measure("opsd-collapse", *SMALL, draw=1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("opsd-colapse",), 'no preset or file is called "opsd-colapse"; did you mean "opsd-collapse"?'),
        ((3,), "start: got 3, allowed is a preset's name, a file or a link, as text"),
        (("rl-grpo", "clip.onn=1"), 'clip.onn: unknown key; did you mean "clip.on"?'),
        (("rl-grpo", True), 'settings: got true, allowed is text such as "clip.on=true"; put it in quotes'),
        (("preset=rl-grpo&view=1;draw=x",), 'draw: got "x", allowed a whole number, 0 to 1000000000; correct it'),
    ],
)
def test_what_is_not_accepted_is_told_in_a_sentence(arguments: tuple[str, ...], problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        measure(*arguments)
    assert caught.value.problems == [problem]


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"draw": -1}, "draw: got -1, allowed a whole number, 0 to 1000000000; correct it"),
        ({"step": True}, "step: got true, allowed a whole number, 0 to 2000; correct it"),
        ({"step": 2001}, "step: got 2001, allowed a whole number, 0 to 2000; correct it"),
    ],
)
def test_a_moment_that_is_none_is_told_in_a_sentence(asked: dict[str, int], problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        place("rl-grpo", step=asked.get("step", 0), draw=asked.get("draw"))
    assert caught.value.problems == [problem]


def test_a_frames_columns_are_its_sites_as_arrays(frame: Frame) -> None:
    columns = frame.columns()
    assert list(columns) == [field.name for field in fields(Sites)]
    assert {column.shape for column in columns.values()} == {(len(frame.sites.text),)}
    assert columns["text"].tolist() == list(frame.sites.text)
    assert columns["x"].tolist() == frame.sites.x.tolist()
    columns["x"][:] = 0
    assert frame.sites.x.any()


def test_norms_that_are_pending_are_gaps_in_the_table(frame: Frame) -> None:
    unfinished = replace(frame, sites=replace(frame.sites, norm=None))
    assert np.isnan(unfinished.columns()["norm"]).all()


def test_a_frame_says_in_a_line_which_it_is(frame: Frame) -> None:
    assert repr(frame) == f"<Frame of seed 0, step 0, draw 1: {frame.verdict.word}>"


def test_a_notebook_shows_a_frames_verdict_readings_and_tokens(frame: Frame) -> None:
    shown = frame._repr_html_()
    assert shown == frame_html(frame)
    assert f"<b>{frame.verdict.word}</b>" in shown
    assert f">{frame.update.ratio:.3g}</td>" in shown
    assert shown.count("<table>") == 2
    assert not re.search(r"<(?!/?(div|p|b|br|table|tr|td|th)\b)", shown)


def test_no_word_of_a_frame_is_taken_for_html(frame: Frame) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    size = len(frame.sites.text)
    sites = replace(frame.sites, text=(hostile,) * size, raised=("",) * size, prefix=(hostile,) * size)
    update = replace(frame.update, ratio=Undetermined(hostile))
    verdict = replace(frame.verdict, word=hostile, rule=hostile)
    shown = frame_html(replace(frame, sites=sites, update=update, verdict=verdict))
    assert "<img" not in shown
    assert shown.count("&lt;img") > 10


def test_where_no_token_pulls_a_notebook_is_told_so(frame: Frame) -> None:
    still = replace(frame.sites, norm=np.zeros(len(frame.sites.text)))
    shown = frame_html(replace(frame, sites=still, measures=replace(frame.measures, mean_norm=PENDING)))
    assert "<p>no token pulls</p>" in shown
    assert PENDING.reason in shown
