"""Links of all kinds, as hypothesis draws them: every preset, valid settings, steps taken, batches, looks."""

import json
from typing import Any

from hypothesis import strategies as st

from sim.config import Config
from sim.errors import InvalidInput
from sim.link import LOOKS, TOKEN, Link
from sim.override import override, settings
from sim.presets import Preset, builtin, names
from sim.sentences import node_at
from sim.timeline import Moment, Path

OWN = Preset(title="Mine & <b>yours</b>", lesson="Two; three=4%.", try_=("Draw «again».",), config=Config(seed=7))
_SCHEMA = Config.model_json_schema()


def values(key: str) -> st.SearchStrategy[Any]:
    """What a setting may be, also what is allowed only beside other settings."""
    node = node_at(_SCHEMA, tuple(key.split(".")))
    if "enum" in node:
        return st.sampled_from(node["enum"])
    if node["type"] == "boolean":
        return st.booleans()
    if node["type"] == "integer":
        return st.integers(node["minimum"], node["maximum"])
    return st.floats(node["minimum"], node["maximum"])


@st.composite
def configs(draw: st.DrawFn, base: Config) -> Config:
    """Settings of which some few are not those of `base`."""
    for key in draw(st.lists(st.sampled_from(settings()), max_size=5, unique=True)):
        try:
            base = override(base, [f"{key}={json.dumps(draw(values(key)))}"])
        except InvalidInput:
            # Not beside the others.
            continue
    return base


@st.composite
def moments(draw: st.DrawFn, base: Config) -> Moment:
    """A moment under settings near to some, after steps that were alike or not."""
    config, path = draw(configs(base)), Path()
    if draw(st.booleans()):
        path = path.then(config, 0, draw(st.integers(0, 1000)))
    else:
        for _ in range(draw(st.integers(0, 3))):
            path = path.then(draw(configs(base)), draw(st.integers(0, 3)), draw(st.integers(1, 5)))
    return Moment(config, path, draw(st.integers(0, 1_000_000_000) | st.integers(0, 9)))


@st.composite
def looks(draw: st.DrawFn) -> dict[str, str]:
    """Looks, without what goes without saying."""
    look = {key: draw(st.sampled_from(allowed)) for key, allowed in LOOKS.items()}
    look = {key: value for key, value in look.items() if value != LOOKS[key][0]}
    token = draw(st.none() | st.integers(0, 2000))
    return look if token is None else {**look, TOKEN: str(token)}


@st.composite
def links(draw: st.DrawFn) -> Link:
    """Links to moments of shipped presets and of one that does not ship, without a log."""
    name = draw(st.none() | st.sampled_from(names()))
    preset = OWN if name is None else builtin(name)
    return Link(preset, name, draw(moments(preset.config)), draw(looks()))
