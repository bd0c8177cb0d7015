"""Sessions side by side under one clock: whatever moves one through time moves all."""

from collections.abc import Callable, Sequence
from typing import Any

from app.abreast import Abreast
from app.cell import Cell
from app.compare import FEWEST, LETTERS, MOST, filled, imposed
from app.fields import describe
from app.frames import Frames
from app.look import Look
from app.session import LINKED, SAMPLING
from sim.config import Config
from sim.presets import Preset, builtin
from sim.timeline import Event, Kind, Moment, Path

WEIGHING = "Weighing the same words anew"


class Comparison(Abreast):
    """Two to four cells. Views watch the params; every act is a method, and moves all cells or one cell's settings.

    The logs of the cells have the same events at the same places, so that going back takes all of them to one instant.
    The settings that cells share are the same in all, wherever they are turned.

    Args:
        frames: the process's frames.
        names: the cells' presets.
        document: the visitor's document, where there is one.
        look: how he looks at it.
        moments: where the cells begin, one for each; by default where their presets do.
    """

    def __init__(
        self,
        frames: Frames,
        names: Sequence[str],
        document: Any = None,
        look: Look | None = None,
        moments: Sequence[Moment] = (),
    ) -> None:
        super().__init__(frames, document)
        self.look, self._document, self._picking = look or Look(), document, False
        self.look.param.watch(self._looked, ["theme", "radius"])
        shared = builtin(names[0]).config
        #: All cells that there may be, so that one more is but shown: the browser has known it from the start.
        self.every = tuple(self._made(i, name, shared) for i, name in enumerate(filled(names, MOST)))
        self.cells = list(self.every[: len(names)])
        if any(cell.moment.key != moment.key for cell, moment in zip(self.cells, moments, strict=False)):
            there = dict(zip(self.cells, moments, strict=True))
            self._act("step" if moments[0].step else "control", LINKED, lambda cell: there[cell])

    def draw(self) -> None:
        """Another batch in every cell."""
        self._drawn()
        self._bring("Sampling other answers")

    def step(self) -> None:
        """Take in every cell the update that is on show there."""
        step = self.cells[0].moment.step + 1
        self._act("step", f"step {step} taken", lambda cell: cell.moment.next_step())
        self._bring("Taking the step")

    def back(self) -> None:
        """Return to the event before this one, in all cells."""
        self._rewind(lambda cell: cell.timeline.back())

    def first(self) -> None:
        """Return to where the presets on show began."""
        self._rewind(lambda cell: cell.timeline.rewind(cell.timeline.root(cell.timeline.current).index))

    def newest(self) -> None:
        """Return to the last thing that was done."""
        self._rewind(lambda cell: cell.timeline.newest())

    def reset(self) -> None:
        """Begin all presets anew, their settings and the checkpoint."""
        shared = self.cells[0].preset.config
        self._start([(cell.preset_name, imposed(cell.preset.config, shared)) for cell in self.cells], draw=0)
        self._bring(SAMPLING)

    def play(self) -> None:
        """Draw batch after batch in all cells, each when the slowest has shown the one before it."""
        self._run(self._playing, playing=True)

    def pause(self) -> None:
        """Stop drawing; what is on show gets its missing numbers."""
        self._bring("")

    def choose(self, place: int, name: str) -> None:
        """Put a preset into a cell; all begin at the checkpoint, with the batch that was on show there.

        Raises:
            InvalidInput: if there is no such preset.
        """
        chosen = builtin(name).config
        if place >= len(self.cells):
            return
        entries = [(cell.preset_name, cell.moment.config) for cell in self.cells]
        entries[place] = (name, chosen)
        self._start([(each, imposed(config, entries[0][1])) for each, config in entries], self._draw_kept())
        self._bring(SAMPLING)

    def resize(self, count: int) -> None:
        """Have more cells, or fewer; all begin at the checkpoint, with an empty log."""
        if not FEWEST <= count <= MOST or count == len(self.cells):
            return
        self._stop()
        draw, shared = self._draw_kept(), self.cells[0].moment.config
        self.cells = list(self.every[:count])
        self._start([(cell.preset_name, imposed(cell.moment.config, shared)) for cell in self.cells], draw)
        for cell in self.cells:
            cell.clear()
        self._bring(SAMPLING)

    def close(self) -> None:
        """Stop for good; for when the visitor has left."""
        super().close()
        for cell in self.every:
            cell.close()

    def refuse(self, problems: list[str]) -> None:
        """Tell what was wrong with an input; nothing else changes."""
        self.problems = problems

    def _made(self, place: int, name: str, shared: Config) -> Cell:
        # What is picked out is picked out in one cell; theme and scale are those of all.
        look = Look(theme=self.look.theme, radius=self.look.radius)
        look.param.watch(self._picked, "selected")
        preset = _under(builtin(name), shared)
        return Cell(LETTERS[place], self._turned, self._frames, preset, name, self._document, look)

    def _draw_kept(self) -> int:
        """The batch that a new beginning is seen with: the one on show, if no step has been taken."""
        moment = self.cells[0].moment
        return 0 if moment.step else moment.draw

    def _start(self, entries: Sequence[tuple[str, Config]], draw: int) -> None:
        """Begin anew at the checkpoint with a preset's name and settings for each cell."""
        self.problems = []
        for cell, (name, config) in zip(self.cells, entries, strict=True):
            preset = _under(builtin(name), config)
            cell.go(cell.timeline.act("preset", preset.title, Moment(config, Path(), draw)), preset, name)

    def _act(self, kind: Kind, label: str, moved: Callable[[Cell], Moment]) -> None:
        self.problems = []
        for cell in self.cells:
            cell.go(cell.timeline.act(kind, label, moved(cell)))

    def _drawn(self) -> None:
        self._act("draw", f"batch {self.cells[0].moment.draw + 1} drawn", lambda cell: cell.moment.next_draw())

    def _rewind(self, moved: Callable[[Cell], Event]) -> None:
        self.problems = []
        for cell in self.cells:
            cell.go(moved(cell))
        self._bring("Going back")

    def _looked(self, *_: Any) -> None:
        for cell in self.every:
            cell.look.param.update(theme=self.look.theme, radius=self.look.radius)

    def _picked(self, change: Any) -> None:
        """Pick the same word out in every cell that reads the same answers, and none in the others."""
        if self._picking:
            return
        read = next((_words(cell) for cell in self.cells if cell.look is change.obj), None)
        self._picking = True
        try:
            for cell in self.cells:
                if cell.look is not change.obj:
                    cell.look.selected = change.new if read is not None and _words(cell) == read else None
        finally:
            self._picking = False

    def _turned(self, turned: Cell) -> None:
        """A dial of a cell has moved: show what it does, and log it once it is let go."""
        before, after = turned.moment.config, turned.dials.config
        if turned not in self.cells:
            return
        if turned.dials.dragging:
            # A shared one would move this cell's batch alone, and one on the way its clock.
            if self._here and imposed(after, before) == after:
                self._stop()
                turned.preview(after, WEIGHING)
        elif after != before:
            label = f"{turned.letter}: {describe(before, after)}"
            configs = {cell: imposed(cell.moment.config, after) for cell in self.cells} | {turned: after}
            self._act("control", label, lambda cell: cell.moment.with_config(configs[cell]))
            self._bring(WEIGHING)
        elif turned.previewing:
            self._bring(WEIGHING)


def _words(cell: Cell) -> Any:
    """Every word on show in a cell, and what stands before it."""
    return None if cell.frame is None else (cell.frame.sites.text, cell.frame.sites.prefix)


def _under(preset: Preset, shared: Config) -> Preset:
    """A preset with the settings that all cells share."""
    return preset.model_copy(update={"config": imposed(preset.config, shared)})
