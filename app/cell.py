"""One of several sessions that stand side by side."""

import logging
from collections.abc import Callable
from typing import Any

from app.session import Session
from sim.config import Config
from sim.errors import GradcloudError
from sim.frame import Frame
from sim.presets import Preset
from sim.timeline import Event, Moment

#: A frame, or why there is none.
Came = Frame | BaseException

logger = logging.getLogger(__name__)


class Cell(Session):
    """One of the sessions. It is told what to show; when its own dials are turned, it tells its comparison."""

    def __init__(self, letter: str, told: Callable[["Cell"], None], *args: Any) -> None:
        super().__init__(*args)
        self.letter, self._told = letter, told

    @property
    def moment(self) -> Moment:
        """Where it is, whether or not the frame of that is on show yet."""
        return self.timeline.current.moment

    @property
    def previewing(self) -> bool:
        """Whether it shows what a slider that is held would do."""
        return self._preview_shown

    @property
    def stale(self) -> bool:
        """Whether the frame on show is not that of the dials and the clock: it is on its way, or there is none."""
        return bool(self.failure) or super().stale

    def go(self, event: Event, started: Preset | None = None, name: str | None = None) -> None:
        """Turn the dials to an event, which a preset may begin; its frame comes later."""
        if started is not None:
            self._presets[event.index] = (name, started)
        self._turn_to(event)

    def preview(self, config: Config, work: str) -> None:
        """Show the moment under other settings, as long as a slider is held."""
        self._preview(self.moment.with_config(config), work)

    def halt(self) -> None:
        """Stop whatever is on its way for this cell alone."""
        if self._task is not None:
            self._task.cancel()
        self._previewing = self._preview_shown = False

    def take(self, came: Came) -> None:
        """Show the moment's frame, or say why there is none."""
        if isinstance(came, Frame):
            self.param.update(failure="", busy="")
            if came is not self.frame:
                self._put(self.moment, came)
            return
        if not isinstance(came, GradcloudError):
            logger.error("a frame could not be computed", exc_info=came)
        why = str(came) if isinstance(came, GradcloudError) else f"{type(came).__name__}: {came}"
        self.param.update(failure=self._lost(why), busy="")

    def _lost(self, why: str) -> str:
        super()._lost(why)
        return f"Step {self.moment.step}, draw {self.moment.draw} could not be computed: {why}"

    def _turned(self, *_: Any) -> None:
        self._told(self)
