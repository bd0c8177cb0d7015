"""A visitor's place in the guided tours, and the way to where each step leads."""

from functools import cache
from typing import Any

import param

from app.look import TOUR
from app.session import Session
from sim.override import override
from sim.presets import builtin
from sim.timeline import Moment
from sim.tours import Step, Tour, builtin_tour, names, stops


@cache
def _told(level: str) -> tuple[Tour, tuple[Moment, ...]]:
    tour = builtin_tour(level)
    return tour, stops(tour)


class Guide(param.Parameterized):
    """Leads one visitor. Views watch the params.

    What a step does is done by the session, as events of its log like any other, so that everything can be returned to.
    """

    level: Any = param.Selector(objects=list(names()), doc="which tour")
    place = param.Integer(default=0, bounds=(0, None), doc="which of its steps, from 0")
    here = param.Boolean(default=False, doc="whether the page shows the moment to which the step leads")

    def __init__(self, session: Session, **params: Any) -> None:
        super().__init__(**params)
        self.session = session
        self._events: dict[tuple[str, int], int] = {}
        self._spotlight = ""
        session.param.watch(self._look_around, "logged")
        session.look.param.watch(self._turned_to, "side")
        self._look_around()

    @property
    def tour(self) -> Tour:
        """The tour of the level."""
        return _told(self.level)[0]

    @property
    def step(self) -> Step:
        """The step that is told."""
        return self.tour.steps[self.place]

    @property
    def harder(self) -> str:
        """The level after this one; "" after the last."""
        levels = names()
        after = levels.index(self.level) + 1
        return levels[after] if after < len(levels) else ""

    def choose(self, level: str) -> None:
        """Turn to the first step of a tour; nothing is done yet."""
        if level in names():
            self.param.update(level=level, place=0)
            self._look_around()
            self.point("")

    def go(self, place: int) -> None:
        """Turn to a step and do what it does; past the end, the next level's first."""
        if place == len(self.tour.steps) and self.harder:
            self.choose(self.harder)
            place = 0
        if 0 <= place < len(self.tour.steps):
            self.place = place
            self.show()

    def show(self) -> None:
        """Do what the step does, from wherever the visitor is, and point at what it is about."""
        if not self._there(self.place):
            self._arrive(self.place)
        self._look_around()
        self.point(self.step.look)

    def point(self, look: str) -> None:
        """Point at a dial or a reading, or at nothing."""
        self._spotlight = look
        if self.session.look.side == TOUR:
            self.session.look.spotlight = look

    def _there(self, place: int) -> bool:
        return bool(_told(self.level)[1][place].key == self.session.timeline.current.moment.key)

    def _arrive(self, place: int) -> None:
        """Take the shortest way to a step: on from the one before it, back to where one was, or from a preset on."""
        if self._returned(place):
            return
        steps = self.tour.steps
        if steps[place].preset is None and not self._there(place - 1):
            self._arrive(place - 1)
        self._do(steps[place])
        self._events[self.level, place] = self.session.timeline.current.index

    def _returned(self, place: int) -> bool:
        """Whether the log still has the event with which the step ended; then it is returned to."""
        index, timeline = self._events.get((self.level, place)), self.session.timeline
        wanted = _told(self.level)[1][place].key
        if index is None or not any(each.index == index and each.moment.key == wanted for each in timeline.events):
            return False
        self.session.rewind(index)
        return True

    def _do(self, step: Step) -> None:
        session = self.session
        if step.preset is not None:
            session.open(builtin(step.preset), step.preset)
        if step.settings:
            session.dials.load(override(session.timeline.current.moment.config, step.settings))
        for act in step.acts:
            {"draw": session.draw, "step": session.step}[act]()

    def _look_around(self, *_: Any) -> None:
        self.here = self._there(self.place)

    def _turned_to(self, *_: Any) -> None:
        """What a tour points at is pointed at only while the tour is in sight."""
        look = self.session.look
        look.spotlight = self._spotlight if look.side == TOUR else ""
