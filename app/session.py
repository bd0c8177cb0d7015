"""One visitor: a timeline, the frame on show, and the computations on their way, off the event loop."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import param

from app.fields import describe
from app.frames import Frames
from app.push import Push
from app.state import Dials
from sim.config import Config
from sim.errors import GradcloudError
from sim.frame import Frame, Reading, Verdict
from sim.presets import Preset
from sim.timeline import Event, Moment, Timeline

#: The preset that the page opens with.
DEFAULT = "opsd-collapse"
#: Seconds after which a wait is worth a word.
BLINK = 0.15
#: Seconds that a frame stays while the page plays, at least.
PACE = 1.0
#: Characters that the title of a preset may have.
TITLE = 80
#: Ends the title of a preset that was saved with other settings than its own.
CHANGED = " (changed)"
SAMPLING = "Sampling answers and measuring their gradients"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What the log says of an event: its frame's ratio and verdict, or why there is no frame."""

    ratio: Reading | None = None
    verdict: Verdict | None = None
    failure: str = ""


class Session(param.Parameterized):
    """What one visitor sees and does. Views watch the params; every act is a method.

    Args:
        frames: the process's frames.
        preset: what to open with.
        name: the preset's name, None for one that came from a file.
        document: the visitor's document, where there is one: changes are pushed to it one message a frame.
    """

    frame = param.ClassSelector(class_=Frame, doc="the last frame that could be computed")
    preset: Any = param.ClassSelector(class_=Preset, doc="the preset that the current event grew out of")
    preset_name = param.String(default=None, allow_None=True)
    busy = param.String(default="", doc="what is being computed, once that takes longer than a blink")
    failure = param.String(default="", doc="what could not be computed, and where")
    problems = param.List(default=[], item_type=str, doc="what was wrong with an input, a line each")
    playing = param.Boolean(default=False)
    logged = param.Event(doc="the log, or what it says of an event, has changed")
    settled = param.Boolean(default=False, doc="nothing more is coming for the current moment")

    def __init__(self, frames: Frames, preset: Preset, name: str | None = None, document: Any = None) -> None:
        super().__init__(preset=preset, preset_name=name)
        self.timeline = Timeline(preset.config, preset.title)
        self.dials = Dials(preset.config)
        self._frames, self._push = frames, Push(document)
        self._presets = {0: (name, preset)}
        self._outcomes: dict[str, Outcome] = {}
        self._task: asyncio.Task[None] | None = None
        self._next: tuple[Moment, str] | None = None
        self._preview_shown = False
        self._previewing = False
        self.dials.param.watch(self._turned, ["config", "dragging"])

    def begin(self) -> None:
        """Show the first frame; one that is known already is there before the page is."""
        moment = self.timeline.current.moment
        known = self._frames.known(moment, complete=False)
        if known is not None:
            self._put(moment, known)
        self._show(moment, SAMPLING)

    def open(self, preset: Preset, name: str | None = None) -> None:
        """Start again at the checkpoint with a preset."""
        event = self.timeline.start(preset.title, preset.config)
        self._presets[event.index] = (name, preset)
        self._arrived(event, SAMPLING)

    def refuse(self, problems: list[str]) -> None:
        """Tell what was wrong with an input; nothing else changes."""
        self.problems = problems

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
        self.rewind(self._root(self.timeline.current).index)

    def rewind(self, index: int) -> None:
        """Return to an event, exactly."""
        self._arrived(self.timeline.rewind(index), "Going back")

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

    def close(self) -> None:
        """Stop for good; for when the visitor has left."""
        self._push.close()
        if self._task is not None:
            self._task.cancel()

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

    def _root(self, event: Event) -> Event:
        while event.kind != "preset" and event.parent is not None:
            event = self.timeline.events[event.parent]
        return event

    def _arrived(self, event: Event, work: str) -> None:
        """Turn everything to an event and show its frame."""
        self._turn_to(event)
        self._show(event.moment, work)

    def _turn_to(self, event: Event) -> None:
        name, preset = self._presets[self._root(event).index]
        self.param.update(preset_name=name, preset=preset, problems=[], logged=True)
        self.dials.load(event.moment.config)

    def _show(self, moment: Moment, work: str) -> None:
        self._start(lambda: self._shown(moment, work))

    def _preview(self, moment: Moment, work: str) -> None:
        """Show a moment while a slider is dragged: what is on its way is let through, or none ever would be."""
        self._next = (moment, work)
        if not self._previewing:
            self._start(self._previews, preview=True)

    def _start(self, work: Callable[[], Awaitable[None]], *, playing: bool = False, preview: bool = False) -> None:
        """Run a computation in place of the one on its way: the latest request wins."""
        if self._task is not None:
            self._task.cancel()
        self._previewing = self._preview_shown = preview
        self.param.update(playing=playing, settled=False, failure="")
        self._task = asyncio.get_running_loop().create_task(self._guarded(work))

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
            await self._push(lambda: self.param.update(settled=True, busy=""))
        except GradcloudError as error:
            await self._failed(str(error))
        except Exception as error:
            logger.exception("a frame could not be computed")
            await self._failed(f"{type(error).__name__}: {error}")

    async def _failed(self, why: str) -> None:
        # A drag that goes on after this starts anew.
        self._previewing = False
        if self._preview_shown:
            where = f"These settings could not be computed: {why}"
        else:
            event = self.timeline.current
            self._outcomes[event.moment.key] = Outcome(failure=why)
            where = f"Event #{event.index} ({event.label}) could not be computed: {why}"
        await self._push(lambda: self.param.update(failure=where, playing=False, busy="", settled=True, logged=True))

    async def _shown(self, moment: Moment, work: str) -> None:
        frame = await self._fast(moment, work)
        if not frame.complete:
            await self._rest(moment)

    async def _previews(self) -> None:
        while self._next is not None:
            (moment, work), self._next = self._next, None
            try:
                frame = await self._fast(moment, work)
            except Exception:
                if self._next is None:
                    raise
        self._previewing = False
        if not frame.complete:
            await self._rest(moment)

    async def _playing(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            event = self._drawn()
            await self._push(partial(self._turn_to, event))
            frame = await self._fast(event.moment, "Sampling other answers")
            try:
                async with asyncio.timeout_at(began + PACE):
                    if not frame.complete:
                        await self._rest(event.moment)
                    # Ahead of time; if it fails, that is told when it is that batch's turn.
                    with suppress(Exception):
                        await self._frames.get(event.moment.next_draw(), complete=False)
                    await asyncio.sleep(PACE)
            except TimeoutError:
                pass

    async def _fast(self, moment: Moment, work: str) -> Frame:
        """Show a moment's frame as soon as its picture is there, with a word if that takes long."""
        wanted = asyncio.ensure_future(self._frames.get(moment, complete=False))
        try:
            done, _ = await asyncio.wait({wanted}, timeout=BLINK)
            if not done and work:
                await self._push(lambda: self.param.update(busy=work))
            frame = await wanted
        finally:
            wanted.cancel()
        await self._push(lambda: self._put(moment, frame))
        return frame

    async def _rest(self, moment: Moment) -> None:
        frame = await self._frames.get(moment, complete=True)
        await self._push(lambda: self._put(moment, frame))

    def _put(self, moment: Moment, frame: Frame) -> None:
        self._outcomes[moment.key] = Outcome(frame.update.ratio, frame.verdict)
        self.param.update(frame=frame, busy="", logged=True)


def _work(shown: Frame | None, config: Config) -> str:
    """What a change of settings needs: other answers, or only other weights on the same ones."""
    if shown is None or shown.config.source != config.source or shown.config.seed != config.seed:
        return SAMPLING
    return "Weighing the same words anew"
