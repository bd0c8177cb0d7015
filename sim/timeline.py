"""Time: a moment of a run, and the append-only log of what a person did."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from sim.config import Config

#: Events that a log keeps, and characters that the label of one may have.
LIMIT = 1000
LABEL = 300

Kind = Literal["preset", "control", "draw", "step", "rewind"]
#: What follows what in a sequence: batch after batch at the same parameters, or a run of steps that are really taken.
Along = Literal["draws", "steps"]


@dataclass(frozen=True, eq=False)
class Path:
    """The steps taken from the checkpoint, as a chain: each took the update of one frame.

    `length` counts them; `parent` is None at the checkpoint. Equal keys mean equal parameters.
    """

    parent: "Path | None" = field(default=None, repr=False)
    config: Config | None = None
    draw: int = 0
    length: int = 0
    key: str = ""

    @property
    def steps(self) -> "list[Path]":
        """The path after each of its steps, the first step first."""
        found, path = [], self
        while path.parent is not None:
            found.append(path)
            path = path.parent
        return found[::-1]

    def then(self, config: Config, draw: int, steps: int = 1) -> "Path":
        """The path with the update of one more frame taken, or of as many alike as there are `steps`."""
        # What only a view or a gauge reads does not change where a step leads.
        moving = config.model_dump_json(exclude={"plane", "safety"})
        path = self
        for _ in range(steps):
            key = hashlib.sha256(f"{path.key}|{draw}|{moving}".encode()).hexdigest()
            path = Path(path, config, draw, path.length + 1, key)
        return path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True)
class Moment:
    """A point in time: settings, the steps that led there, and the number of the batch.

    Equal keys give equal frames.
    """

    config: Config
    path: Path = Path()
    draw: int = 0

    @property
    def step(self) -> int:
        """Number of updates taken."""
        return self.path.length

    @cached_property
    def key(self) -> str:
        """A hash of all that determines the frame."""
        text = f"{self.path.key}|{self.draw}|{self.config.model_dump_json()}"
        return hashlib.sha256(text.encode()).hexdigest()

    def next_draw(self) -> "Moment":
        """Another batch at the same parameters."""
        return Moment(self.config, self.path, self.draw + 1)

    def next_step(self) -> "Moment":
        """The first batch after taking the update of this very frame."""
        return Moment(self.config, self.path.then(self.config, self.draw))

    def following(self, along: Along) -> "Moment":
        """The next of a sequence along draws or steps."""
        return self.next_draw() if along == "draws" else self.next_step()

    def with_config(self, config: Config) -> "Moment":
        """The same parameters and batch under other settings."""
        return Moment(config, self.path, self.draw)


@dataclass(frozen=True)
class Event:
    """One entry of the log.

    `parent` is the index of the event that it grew out of (None for the first); `branch` the number of the
    branch that it is on: acting from a moment that already has a successor starts a new one.
    """

    index: int
    kind: Kind
    label: str
    moment: Moment
    parent: int | None
    branch: int


class Timeline:
    """The append-only event log; every event that it keeps can be returned to, exactly.

    Beyond LIMIT events the oldest are forgotten, a preset's after all that grew out of it: what grew out of a forgotten
    event then hangs on the one before it, and the returns to it are forgotten with it. A label over LABEL characters
    is cut.
    """

    def __init__(self, config: Config, label: str) -> None:
        self._branches = 1
        self._begin(label, Moment(config))

    @classmethod
    def restored(cls, events: Sequence[Event], branches: int, followed: Iterable[int]) -> "Timeline":
        """The log that consists of these events, oldest first, with the other two as the properties below gave them.

        The first is a preset's. Each other one that is not a preset's has as its parent an earlier one, no rewind.
        """
        timeline = cls(events[0].moment.config, events[0].label)
        timeline._events = {event.index: event for event in events}
        timeline._next, timeline._branches, timeline._followed = events[-1].index + 1, branches, set(followed)
        return timeline

    @property
    def events(self) -> Sequence[Event]:
        """The events that are kept, oldest first."""
        return tuple(self._events.values())

    @property
    def current(self) -> Event:
        """The newest event."""
        return self._events[self._next - 1]

    @property
    def branches(self) -> int:
        """How many branches there have been: the number of the next."""
        return self._branches

    @property
    def followed(self) -> frozenset[int]:
        """The events that something was done from, by index, what came of it forgotten or not."""
        return frozenset(self._followed)

    @property
    def forgotten(self) -> int:
        """How many events are kept no more."""
        return self._next - len(self._events)

    def event(self, index: int) -> Event:
        """An event; IndexError says which events there are."""
        if index not in self._events:
            first = next(iter(self._events))
            raise IndexError(f"event {index} does not exist; the log has events {first} to {self._next - 1}")
        return self._events[index]

    def at(self, index: int) -> Moment:
        """The moment of an event; IndexError says which events there are."""
        return self.event(index).moment

    def root(self, event: Event) -> Event:
        """The preset's event that an event grew out of; the first of a log that was cleared begins one too."""
        while event.kind != "preset" and event.parent is not None:
            event = self._events[event.parent]
        return event

    def start(self, label: str, config: Config) -> Event:
        """Begin again from the checkpoint with a preset's settings."""
        return self.act("preset", label, Moment(config))

    def act(self, kind: Kind, label: str, moment: Moment) -> Event:
        """Append what was done and the moment that it led to."""
        parent = self._origin(self.current)
        branch = parent.branch
        if parent.index in self._followed:
            branch, self._branches = self._branches, self._branches + 1
        self._followed.add(parent.index)
        return self._append(kind, label, moment, parent.index, branch)

    def rewind(self, index: int) -> Event:
        """Return to an event; what comes after it stays in the log."""
        target = self._origin(self.event(index))
        return self._append("rewind", f"back to #{target.index}", target.moment, target.index, target.branch)

    def back(self) -> Event:
        """Return to the event before the current one; at the first event, to itself."""
        here = self._origin(self.current)
        return self.rewind(here.index if here.parent is None else here.parent)

    def newest(self) -> Event:
        """Return to the last thing that was done, from wherever one went back to."""
        return self.rewind(max(event.index for event in self.events if event.kind != "rewind"))

    def clear(self, label: str) -> Event:
        """Forget all events; the current moment is the first event of a new log."""
        self._begin(label, self.current.moment)
        return self.current

    def _begin(self, label: str, moment: Moment) -> None:
        self._events = {0: Event(0, "preset", _cut(label), moment, None, 0)}
        self._next = self._branches = 1
        self._followed: set[int] = set()

    def _append(self, kind: Kind, label: str, moment: Moment, parent: int, branch: int) -> Event:
        event = self._events[self._next] = Event(self._next, kind, _cut(label), moment, parent, branch)
        self._next += 1
        if len(self._events) > LIMIT:
            self._forget()
        return event

    def _forget(self) -> None:
        """Forget the oldest event that is not on show and that began nothing which is kept."""
        shown = {self.current.index, self._origin(self.current).index}
        began = {event.parent for event in self._events.values() if event.kind != "preset"}
        index = next(
            index for index, event in self._events.items()
            if index not in shown and not (event.kind == "preset" and index in began)
        )  # fmt: skip
        gone = self._events.pop(index)
        self._followed.discard(index)
        for event in [event for event in self._events.values() if event.parent == index]:
            if event.kind == "rewind":
                # It would return to the parent of what is gone, which is another moment than its own.
                del self._events[event.index]
            else:
                self._events[event.index] = replace(event, parent=gone.parent)

    def _origin(self, event: Event) -> Event:
        """The event whose moment a rewind repeats."""
        while event.kind == "rewind" and event.parent is not None:
            event = self._events[event.parent]
        return event


def _cut(label: str) -> str:
    return label if len(label) <= LABEL else label[: LABEL - 1] + "…"
