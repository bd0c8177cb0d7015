"""Steps that were not all alike, in few characters: the settings of each by what differs from a preset's."""

from typing import Any

from sim.codec import parse_json
from sim.config import Config
from sim.errors import InvalidInput
from sim.link_items import differing, written
from sim.override import override
from sim.packed import pack, unpack
from sim.session_file import LARGEST, MAX_STEPS, MAX_WORK
from sim.timeline import Path

#: Bytes that steps in a link may have unpacked, and settings that they may be taken under.
MAX_BYTES = 100_000
MAX_SETTINGS = 1000


def packed_path(path: Path, base: Config) -> str:
    """The steps, packed, as ``[settings, [[place among the settings, draw, count], ...]]``.

    Args:
        path: the steps.
        base: the settings of the preset that the link names.

    Raises:
        InvalidInput: if they are more than a link may hold.
    """
    settings, runs = list[dict[str, Any]](), list[list[int]]()
    places, known = dict[str, int](), dict[int, int]()
    for step in path.steps:
        assert step.config is not None
        # By identity first, since most are alike.
        place = known.get(id(step.config))
        if place is None:
            place = places.setdefault(step.config.model_dump_json(), len(settings))
            if place == len(settings):
                settings.append(dict(differing(step.config, base)))
            known[id(step.config)] = place
        if runs and runs[-1][:2] == [place, step.draw]:
            runs[-1][2] += 1
        else:
            runs.append([place, step.draw, 1])
    packed = pack([settings, runs])
    unpacked_path(packed, base)
    return packed


def unpacked_path(text: str, base: Config) -> Path:
    """The steps that were packed; InvalidInput if they are none, or would take whoever replays them too long."""
    value = parse_json(unpack(text, "path", MAX_BYTES), "path")
    if not (isinstance(value, list) and len(value) == 2 and all(isinstance(each, list) for each in value)):
        raise _damaged()
    said, runs = value
    if len(said) > MAX_SETTINGS:
        raise InvalidInput([f"path: {len(said)} settings, allowed at most {MAX_SETTINGS}; take fewer steps"])
    settings = [_settings(each, base) for each in said]
    if not all(_is_run(run, len(settings)) for run in runs):
        raise _damaged()
    steps = sum(count for _, _, count in runs)
    work = sum(count * settings[place].source.rollouts for place, _, count in runs)
    if steps > MAX_STEPS or work > MAX_WORK:
        raise InvalidInput([
            f"path: {steps} steps of {work} answers in all, allowed at most {MAX_STEPS} of {MAX_WORK}; take fewer"
        ])  # fmt: skip
    path = Path()
    for place, draw, count in runs:
        path = path.then(settings[place], draw, count)
    return path


def _settings(said: Any, base: Config) -> Config:
    if not isinstance(said, dict):
        raise _damaged()
    try:
        return override(base, [f"{key}={written(value)}" for key, value in said.items()])
    except InvalidInput as error:
        raise InvalidInput([f"path: {problem}" for problem in error.problems]) from None


def _is_run(run: Any, settings: int) -> bool:
    """Whether this is a place among the settings, a batch, and how many steps it is."""
    return (
        isinstance(run, list)
        and len(run) == 3
        and all(type(each) is int for each in run)
        and 0 <= run[0] < settings
        and 0 <= run[1] <= LARGEST
        and 1 <= run[2] <= MAX_STEPS
    )


def _damaged() -> InvalidInput:
    return InvalidInput(["path: damaged; copy the whole link"])
