"""What comes of taking a step again and again: one run, or two side by side, of what a visitor has on show."""

import asyncio
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import param

from app.numbers import significant
from app.push import Push
from app.race import Race, Run
from app.runners import Runners
from app.session import Session
from sim.config import Config
from sim.errors import InvalidInput
from sim.presets import builtin, names
from sim.timeline import Moment
from sim.train import COLLAPSE, Record, collapse_step, train

#: Steps that may be asked for.
FEWEST, MOST = 10, 1000
NOTHING, CLIP, TEACHER, PRESET = "nothing", "clip", "teacher", "preset:"


class LookAhead(param.Parameterized):
    """The look-ahead of a visitor: at most one at a time. Views watch `changed` and `share`.

    Args:
        session: what is on show.
        runners: the process's threads.
        document: the visitor's document, where there is one.
        take: takes the steps, as sim.train.train does.
    """

    changed = param.Event(doc="what the runs have come to, or what may be compared")
    share = param.Number(default=COLLAPSE, bounds=(0.1, 0.9), doc="of the start's: what has less has collapsed")
    problems = param.List(default=[], item_type=str, doc="what was wrong with an order")

    def __init__(
        self, session: Session, runners: Runners, document: Any = None, take: Callable[..., Iterator[Record]] = train
    ) -> None:
        super().__init__()
        self.runs: tuple[Run, ...] = ()
        self.session, self._runners, self._push = session, runners, Push(document)
        self._take = take
        self._race: Race | None = None
        self._task: asyncio.Task[None] | None = None
        self._opened: tuple[str, int, int] | None = None
        session.param.watch(lambda *_: self.param.trigger("changed"), "logged")

    @property
    def running(self) -> bool:
        """Whether more is coming."""
        return self._race is not None and not self._race.over and not self._race.stopping

    @property
    def stopping(self) -> bool:
        """Whether the runs were told to stop and have not done so yet."""
        return self._race is not None and self._race.stopping and not self._race.over

    @property
    def waiting(self) -> bool:
        """Whether the runs are in the queue."""
        return self.running and self._race is not None and not self._race.began

    @property
    def opened(self) -> tuple[int, int] | None:
        """The run and the record that are on the plane, by their indices."""
        if self._opened is None or self._opened[0] != self.session.timeline.current.moment.key:
            return None
        return self._opened[1:]

    def comparisons(self) -> dict[str, str]:
        """What the step on show may be compared with, in words."""
        return comparisons(self.session.timeline.current.moment.config)

    def start(self, steps: int, compared: str) -> None:
        """Run ahead from the moment on show, in place of what ran before."""
        moment = self.session.timeline.current.moment
        if not FEWEST <= steps <= MOST:
            wrong = f"steps: got {steps:,}, allowed {FEWEST:,} to {MOST:,}; ask for a number between them"
            self.problems = [wrong]
            return
        try:
            entries = entrants(moment, compared, self.session.current_preset().title)
        except InvalidInput as error:
            self.problems = error.problems
            return
        self.stop()
        self._opened, self.problems = None, []
        self.runs = tuple(Run(name, each, steps) for name, each in entries)
        self._race = Race(self.runs, self._take)
        self._runners.start(self._race)
        if self._task is not None:
            self._task.cancel()
        self._task = asyncio.get_running_loop().create_task(self._follow(self._race))
        self.param.trigger("changed")

    def stop(self) -> None:
        """Stop the runs; what they have come to stays."""
        if self._race is not None and not self._race.over:
            self._race.stop()
            self.param.trigger("changed")

    def open(self, run: int, record: int) -> None:
        """Show a step of a run on the plane, as an event of the log; what does not exist is ignored."""
        if not (0 <= run < len(self.runs) and 0 <= record < len(self.runs[run].records)):
            return
        chosen = self.runs[run]
        step = chosen.records[record].step
        moment = chosen.at(step)
        self._opened = (moment.key, run, record)
        whose = f", {chosen.name}" if len(self.runs) > 1 else ""
        self.session.visit(f"step {step} of the look-ahead{whose}", moment)

    def summary(self) -> str:
        """What the runs came to, in a sentence each."""
        return " ".join(sentence(run, self.share) for run in self.runs)

    def close(self) -> None:
        """Stop for good; for when the visitor has left."""
        self._push.close()
        if self._race is not None:
            self._race.stop()
        if self._task is not None:
            self._task.cancel()

    async def _follow(self, race: Race) -> None:
        await race.follow(
            lambda: [(len(run.records), run.taken, run.over) for run in race.runs],
            lambda: self._push(lambda: self.param.trigger("changed")),
        )


def comparisons(config: Config) -> dict[str, str]:
    """What settings may be compared with, as words by key."""
    found = {NOTHING: "nothing"}
    teacher = config.teacher
    if teacher.weight > 0:
        found[CLIP] = "the same without the clip" if config.clip.on else "the same with the clip"
    if teacher.weight > 0 and teacher.policy == "self":
        found[TEACHER] = f"the same with a {_other(config)} teacher"
    return found | _presets()


@cache
def _presets() -> dict[str, str]:
    return {PRESET + name: builtin(name).title for name in names()}


def entrants(moment: Moment, compared: str, called: str) -> list[tuple[str, Moment]]:
    """The runs that a comparison takes: a name and where each begins, all at the same parameters and seed.

    Settings that the comparison does not name keep the name that they are `called` by.

    Raises:
        InvalidInput: if these settings have no such comparison.
    """
    config, teacher = moment.config, moment.config.teacher
    if compared not in comparisons(config):
        raise InvalidInput(["compared with: no such comparison for these settings; choose another"])
    name, other, second = called, config, ""
    if compared == CLIP:
        name, second = ("with the clip", "without the clip")[:: 1 if config.clip.on else -1]
        other = config.model_copy(update={"clip": config.clip.model_copy(update={"on": not config.clip.on})})
    elif compared == TEACHER:
        name, second = _with(teacher.parameters), _with(_other(config))
        other = config.model_copy(update={"teacher": teacher.model_copy(update={"parameters": _other(config)})})
    elif compared != NOTHING:
        preset = builtin(compared.removeprefix(PRESET))
        second, other = preset.title, preset.config.model_copy(update={"seed": config.seed})
    both = [(name, config), (second, other)] if second else [(name, config)]
    return [(whose, Moment(each, moment.path)) for whose, each in both]


def sentence(run: Run, share: float) -> str:
    """What a run came to, or has come to so far, as a sentence."""
    fell = collapse_step(run.records, share)
    last = run.records[-1] if run.records else None
    if fell is not None:
        came = f"collapsed by step {fell}"
    elif not run.over:
        came = "under way"
    elif last is None:
        came = "nothing measured"
    else:
        came = f"accuracy {significant(last.task_accuracy, 2)} after {last.step:,} steps"
    if run.failure:
        came += f"; ended early: {run.failure}"
    elif run.stopped:
        came += "; stopped"
    return f"{run.name[0].upper()}{run.name[1:]}: {came}."


def _other(config: Config) -> Any:
    return "live" if config.teacher.parameters == "frozen" else "frozen"


def _with(parameters: str) -> str:
    return "with the teacher's moving average" if parameters == "average" else f"with a {parameters} teacher"
