"""One visitor: a timeline, what he has on show, and everything that he may do."""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

import param

from app.fields import describe
from app.frames import Frames
from app.look import Look
from app.marks import TRAIL
from app.outcome import Outcome
from app.seen import Seen
from app.showing import Showing
from app.state import Dials
from sim.config import Config
from sim.frame import Frame
from sim.presets import Preset
from sim.session_file import Kept, dumps_session
from sim.timeline import LIMIT, Event, Kind, Moment, Timeline

#: Seconds that a frame stays while the page plays, at least, at speed 1; and how much faster it may play.
PACE = 1.0
SPEEDS = (1, 2, 4, 10)
#: Characters that the title of a preset may have.
TITLE = 80
#: Ends the title of a preset that was saved with other settings than its own.
CHANGED = " (changed)"
SAMPLING = "Sampling answers and measuring their gradients"
#: What the log calls the way from a preset to where a link leads.
LINKED = "as the link has it"


class Session(Showing):
    """What one visitor sees and does. Views watch the params; every act is a method.

    Args:
        frames: the process's frames.
        preset: what to open with.
        name: the preset's name, None for one that came from a file.
        document: the visitor's document, where there is one.
        look: how he looks at it; by default a look of his own.
    """

    preset: Any = param.ClassSelector(class_=Preset, doc="the preset that the current event grew out of")
    preset_name = param.String(default=None, allow_None=True)
    problems = param.List(default=[], item_type=str, doc="what was wrong with an input, a line each")
    partly = param.Boolean(default=False, doc="whether what was right in that input was taken")
    speed: Any = param.Selector(default=1, objects=list(SPEEDS), doc="how fast it plays")
    logged = param.Event(doc="the log, or what it says of an event, has changed")
    anew = param.Event(doc="all begins anew: a view gives up what it has of its own, as a zoom")

    def __init__(
        self, frames: Frames, preset: Preset, name: str | None = None, document: Any = None, look: Look | None = None
    ) -> None:
        super().__init__(frames, document, preset=preset, preset_name=name)
        self.timeline = Timeline(preset.config, preset.title)
        self.dials, self.look, self.seen = Dials(preset.config), look or Look(), Seen()
        self._presets = {0: (name, preset)}
        self._outcomes: dict[str, Outcome] = {}
        self._there = ""
        self._wanted: int | None = None
        self.dials.param.watch(self._turned, ["config", "dragging"])

    def begin(self, moment: Moment | None = None, label: str = LINKED) -> None:
        """Show the first frame, or that of another moment; one that is known already is there before the page is."""
        self._go_on(self.timeline.current, moment, label)

    def open(self, preset: Preset, name: str | None = None, moment: Moment | None = None, label: str = LINKED) -> None:
        """Start again at the checkpoint with a preset, and go on to a moment if one is given, under a label."""
        event = self.timeline.start(preset.title, preset.config)
        self._presets[event.index] = (name, preset)
        self._go_on(event, moment, label)

    def pick(self, site: int) -> None:
        """Pick out a token of the current moment, as soon as its frame is there; one that it has not is refused."""
        self._wanted = site
        self._pick_wanted()

    @property
    def picked(self) -> int | None:
        """The token that is picked out, or that will be."""
        selected: int | None = self.look.selected
        return selected if self._wanted is None else self._wanted

    def refuse(self, problems: list[str], partly: bool = False) -> None:
        """Tell what was wrong with an input, of which the rest was taken or nothing; nothing else changes."""
        self.param.update(problems=problems, partly=partly)

    def draw(self) -> None:
        """Another batch at the same parameters."""
        self._arrived(self._drawn(), "Sampling other answers")

    def step(self) -> None:
        """Take the update that is on show."""
        moment = self.timeline.current.moment.next_step()
        self._arrived(self.timeline.act("step", f"step {moment.step} taken", moment), "Taking the step")

    def visit(self, label: str, moment: Moment) -> None:
        """Go to a moment that was reached elsewhere, as a step of the log."""
        self._arrived(self.timeline.act("step", label, moment), "Going to that step")

    def back(self) -> None:
        """Return to the event before this one."""
        self._arrived(self.timeline.back(), "Going back")

    def first(self) -> None:
        """Return to the preset that this event grew out of."""
        self.rewind(self.timeline.root(self.timeline.current).index)

    def newest(self) -> None:
        """Return to the last thing that was done, from wherever one went back to."""
        self._arrived(self.timeline.newest(), "Going forward")

    def reset(self) -> None:
        """Begin this preset anew, its settings and the checkpoint, with nothing picked out; the log goes on."""
        self.look.selected = None
        self.param.trigger("anew")
        self.open(self.preset, self.preset_name)

    def clear(self) -> None:
        """Empty the log; what is on show stays, as the first event of a new one."""
        self._presets = {0: (self.preset_name, self.preset)}
        moment = self.timeline.clear(f"from here on: {self.preset.title}").moment
        self._outcomes = {key: outcome for key, outcome in self._outcomes.items() if key == moment.key}
        self.param.trigger("logged")

    def rewind(self, index: int) -> None:
        """Return to an event, exactly."""
        self._arrived(self.timeline.rewind(index), "Going back")

    def kept(self) -> str:
        """The session as text that `restore` takes, once it was parsed; InvalidInput if it is too long for a file."""
        return dumps_session(self.timeline, self._presets)

    def so_far(self) -> Kept:
        """The session as a value of its own, which nothing that is done later changes."""
        line = self.timeline
        return Kept(Timeline.restored(line.events, line.branches, line.followed), dict(self._presets))

    def restore(self, kept: Kept) -> None:
        """Take a session up where it was left; what the process still has of its frames, the log says at once."""
        self.timeline, self._presets, self._outcomes = kept.timeline, dict(kept.presets), {}
        for moment in {event.moment.key: event.moment for event in self.timeline.events}.values():
            frame = self._frames.known(moment, complete=False)
            if frame is not None:
                self._outcomes[moment.key] = Outcome.of(frame)
        self._arrived(self.timeline.current, "Coming back")

    def play(self) -> None:
        """Draw batch after batch, each when the one before it has been seen, until paused."""
        self._start(self._playing, playing=True)

    def pause(self) -> None:
        """Stop drawing; what is on show gets its missing numbers."""
        self._show(self.timeline.current.moment, "")

    def outcome(self, event: Event) -> Outcome:
        """What came of an event; empty while nobody has waited for its frame."""
        return self._outcomes.get(event.moment.key, Outcome())

    @property
    def stale(self) -> bool:
        """Whether the frame on show is of other settings than the dials', and theirs takes longer than a blink."""
        return bool(self.busy) and self.frame is not None and self.frame.config != self.dials.config

    def current_preset(self) -> Preset:
        """What a save writes: the preset's texts, and the settings as they are now; its title tells changed ones."""
        config, title = self.timeline.current.moment.config, self.preset.title
        if config != self.preset.config and not title.endswith(CHANGED):
            title = title[: TITLE - len(CHANGED)] + CHANGED
        return self.preset.model_copy(update={"config": config, "title": title})

    def trail(self) -> list[tuple[float, float]]:
        """The tips of the updates of the last draws under the settings on show, oldest first, its own left out."""
        here, tips = self.timeline.current.moment, dict[int, tuple[float, float]]()
        for event in reversed(self.timeline.events):
            moment, tip = event.moment, self.outcome(event).tip
            alike = moment.path == here.path and moment.config == here.config
            if alike and tip is not None and moment.draw != here.draw:
                tips.setdefault(moment.draw, tip)
            if len(tips) == TRAIL:
                break
        return list(tips.values())[::-1]

    def _turned(self, *_: Any) -> None:
        """A dial has moved: show what it does, and log it once it is let go."""
        moment, config = self.timeline.current.moment, self.dials.config
        work = _work(self.frame, config)
        if self.dials.dragging:
            self._preview(moment.with_config(config), work)
        elif config != moment.config:
            event = self.timeline.act("control", describe(moment.config, config), moment.with_config(config))
            self._arrived(event, work)
        elif self._preview_shown:
            self._show(moment, work)

    def _drawn(self) -> Event:
        moment = self.timeline.current.moment.next_draw()
        return self.timeline.act("draw", f"batch {moment.draw} drawn", moment)

    def _go_on(self, event: Event, moment: Moment | None, label: str) -> None:
        """Show a preset's event, or the moment to which it leads; then no frame is computed for what is between."""
        here, work = event.moment, SAMPLING
        if moment is not None and moment.key != here.key:
            kind: Kind = "step" if moment.path != here.path else "control" if moment.config != here.config else "draw"
            event = self.timeline.act(kind, label, moment)
            steps = f"{moment.step:,} step{'s' * (moment.step != 1)}"
            work = f"Taking the {steps} that lead{'s' * (moment.step == 1)} there" if moment.step else SAMPLING
        self._arrived(event, work)

    def _arrived(self, event: Event, work: str) -> None:
        """Turn everything to an event and show its frame."""
        self._turn_to(event)
        self._show(event.moment, work)

    def _turn_to(self, event: Event) -> None:
        name, preset = self._presets[self.timeline.root(event).index]
        self._wanted = None
        self.param.update(preset_name=name, preset=preset, problems=[], logged=True)
        self.dials.load(event.moment.config)

    async def _playing(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            event = self._drawn()
            await self._push(partial(self._turn_to, event))
            frame = await self._fast(event.moment, "Sampling other answers")
            await self._push(self.seen.ask)
            try:
                async with asyncio.timeout_at(began + PACE / self.speed):
                    if not frame.complete:
                        await self._rest(event.moment)
                    # Ahead of time; if it fails, that is told when it is that batch's turn.
                    with suppress(Exception):
                        await self._frames.get(event.moment.next_draw(), complete=False)
                    await asyncio.sleep(PACE)
            except TimeoutError:
                pass
            await self.seen.wait()

    def _put(self, moment: Moment, frame: Frame) -> None:
        super()._put(moment, frame)
        self._there = moment.key
        self._pick_wanted()

    def _pick_wanted(self) -> None:
        site, frame = self._wanted, self.frame
        if site is None or frame is None or self._there != self.timeline.current.moment.key:
            return
        self._wanted = None
        count = len(frame.sites.text)
        if site < count:
            self.look.selected = site
        else:
            which = f"0 to {count - 1}" if count else "none, for there is no token"
            self.refuse([*self.problems, f"token: got {site}, allowed {which}; nothing is picked out"], partly=True)
            # Whoever took it for picked out, as the address does of one that is to come, looks again.
            self.look.param.trigger("selected")

    def _came(self, moment: Moment, frame: Frame) -> None:
        if self.frame is not None and self.frame.sites.prefix != frame.sites.prefix:
            self.look.selected = None
        self._outcomes[moment.key] = Outcome.of(frame)
        self._prune()
        self.param.trigger("logged")

    def _lost(self, why: str) -> str:
        event = self.timeline.current
        self._outcomes[event.moment.key] = Outcome(failure=why)
        self.param.trigger("logged")
        return f"Event #{event.index} ({event.label}) could not be computed: {why}"

    def _prune(self) -> None:
        """Keep no outcome and no preset of events that the log has forgotten, looking now and then."""
        if max(len(self._outcomes), len(self._presets)) > 2 * LIMIT:
            events = self.timeline.events
            keys, indices = {event.moment.key for event in events}, {event.index for event in events}
            self._outcomes = {key: each for key, each in self._outcomes.items() if key in keys}
            self._presets = {index: each for index, each in self._presets.items() if index in indices}


def _work(shown: Frame | None, config: Config) -> str:
    """What a change of settings needs: other answers, or only other weights on the same ones."""
    if shown is None or shown.config.source != config.source or shown.config.seed != config.seed:
        return SAMPLING
    return "Weighing the same words anew"
