"""A timeline as rows that name settings, steps and presets by their place in a list, so that each is written once."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from sim.config import Config
from sim.presets import Preset, builtin, names
from sim.timeline import Event, Path, Timeline

Presets = Mapping[int, tuple[str | None, Preset]]


def rows(timeline: Timeline, presets: Presets) -> dict[str, Any]:
    """What a session's file has beside its version, as sim.session_file.SessionFile says."""
    settings, own = _Settings(), list[Any]()
    moments = [event.moment for event in timeline.events if event.kind != "rewind"]
    paths, ends = _paths([moment.path for moment in moments], settings)
    events = []
    for event in timeline.events:
        row: dict[str, Any] = {"index": event.index, "kind": event.kind, "label": event.label}
        if event.parent is not None:
            row["parent"] = event.parent
        if event.kind != "rewind":
            row["branch"] = event.branch
            if event.kind == "preset":
                row |= _opened(*presets[event.index], own)
            row |= {"settings": settings.place(event.moment.config), "draw": event.moment.draw}
            if event.moment.path.parent is not None:
                row["path"] = ends[event.moment.path.key]
        events.append(row)
    return {
        "branches": timeline.branches,
        "followed": sorted(timeline.followed - followed(timeline.events)),
        "own_presets": own,
        "settings": settings.rows,
        "paths": paths,
        "events": events,
    }


def followed(events: Iterable[Event]) -> set[int]:
    """The events that some of these grew out of."""
    return {event.parent for event in events if event.kind != "rewind" and event.parent is not None}


@cache
def shipped(name: str) -> Preset:
    """The preset of that name that comes with the program, read once; InvalidInput if there is none."""
    return builtin(name)


class _Settings:
    """The settings that were named so far, each once."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._places: dict[str, int] = {}
        self._known: dict[int, int] = {}

    def place(self, config: Config) -> int:
        """Where these settings stand."""
        # By their text, for 0.0 and -0.0 are equal and lead to other keys; by identity first, since most are alike.
        known = self._known.get(id(config))
        if known is None:
            text = config.model_dump_json()
            if text not in self._places:
                self._places[text] = len(self.rows)
                self.rows.append(config.model_dump(mode="json"))
            known = self._known[id(config)] = self._places[text]
        return known


def _opened(name: str | None, preset: Preset, own: list[Any]) -> dict[str, Any]:
    if name is not None and name in names() and shipped(name) == preset:
        return {"preset": name}
    value = preset.model_dump(mode="json", by_alias=True)
    if value not in own:
        own.append(value)
    return {"own_preset": own.index(value)}


def _paths(ends: list[Path], settings: _Settings) -> tuple[list[dict[str, int]], dict[str, int]]:
    """Runs of equal steps that lead to each end, and where the run is, by an end's key, that it is the last of."""
    nodes = dict[str, Path]()
    for end in ends:
        chain, node = [], end
        while node.parent is not None and node.key not in nodes:
            chain.append(node)
            node = node.parent
        nodes |= {each.key: each for each in reversed(chain)}
    onward = Counter(node.parent.key for node in nodes.values() if node.parent is not None)
    cut = {end.key for end in ends} | {key for key, count in onward.items() if count > 1}
    found: list[dict[str, int]] = []
    places = dict[str, int]()
    for key, node in nodes.items():
        assert node.parent is not None
        assert node.config is not None
        before = places.get(node.parent.key)
        step = {"settings": settings.place(node.config), "draw": node.draw}
        if before is not None and node.parent.key not in cut and found[before].items() >= step.items():
            found[before]["steps"] += 1
            places[key] = before
        else:
            places[key] = len(found)
            found.append(({} if before is None else {"after": before}) | step | {"steps": 1})
    return found, places
