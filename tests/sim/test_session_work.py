"""What a session's text may ask to be computed again: as much as the longest look-ahead, however it is put."""

import json
from typing import Any

import pytest

from sim.config import MAX_ROLLOUTS, Config, Source
from sim.errors import InvalidInput
from sim.presets import builtin
from sim.session_file import MAX_STEPS, MAX_WORK, dumps_session, parse_session
from sim.timeline import Moment, Path, Timeline

LARGEST = Config(source=Source(prompts=64, group_size=8))
USUAL = Config(source=Source(prompts=16, group_size=8))
OPENED = {0: ("sft-fan", builtin("sft-fan"))}


def reached(path: Path) -> Timeline:
    """A log that ends where a path does."""
    timeline = Timeline(builtin("sft-fan").config, "A fan")
    timeline.act("step", "far", Moment(LARGEST, path))
    return timeline


def file() -> Any:
    return json.loads(dumps_session(reached(Path().then(LARGEST, 0)), OPENED))


def refused(value: Any) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        parse_session(json.dumps(value))
    return caught.value.problems


@pytest.mark.parametrize("path", [Path().then(LARGEST, 0, 1000), Path().then(USUAL, 0, 1000).then(USUAL, 3, 1000)])
def test_the_longest_look_ahead_with_the_most_answers_is_kept_and_comes_back(path: Path) -> None:
    timeline = reached(path)
    assert parse_session(dumps_session(timeline, OPENED)).timeline.current.moment == timeline.current.moment


def test_a_path_of_many_steps_with_many_answers_each_is_refused_by_name() -> None:
    value = file()
    assert LARGEST.source.rollouts == MAX_ROLLOUTS
    value["paths"][0]["steps"] = MAX_STEPS
    (problem,) = refused(value)
    assert problem.startswith(f"paths.0: {MAX_STEPS * MAX_ROLLOUTS} rollouts from the checkpoint to its end, allowed")
    assert str(MAX_WORK) in problem


def test_work_is_counted_along_a_path_and_not_for_each_of_its_parts() -> None:
    value = file()
    step = value["paths"][0] | {"steps": 600}
    # Two ways from the checkpoint are two waits, each short enough; one after the other they are one.
    value["paths"] = [step, step]
    assert parse_session(json.dumps(value)).timeline.current.moment.step == 600
    value["paths"] = [step, step | {"after": 0}]
    (problem,) = refused(value)
    assert problem.startswith("paths.1: 614400 rollouts")


def test_a_session_that_would_not_be_taken_back_is_not_written() -> None:
    with pytest.raises(InvalidInput, match=r"paths\.0: 512512 rollouts"):
        dumps_session(reached(Path().then(LARGEST, 0, 1001)), OPENED)
