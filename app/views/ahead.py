"""Look ahead: what to run and against what, how far it has come, and what it came to."""

from pathlib import Path
from typing import Any

import panel as pn
import param

from app import theme
from app.charts import LINES
from app.lengths import Lengths
from app.lookahead import FEWEST, MOST, NOTHING, LookAhead
from app.race import Run
from app.views.curves import Curves
from app.views.lengths import LawPanel
from app.views.messages import Component, said
from app.views.script import script
from sim.train import rule_in_words

_HERE = Path(__file__).with_suffix("")


class Ahead(Component):
    """The controls of a look-ahead, and its progress."""

    comparisons = param.List(default=[])
    compared = param.String(default=NOTHING)
    runs = param.List(default=[], doc="how far each run has come")
    running = param.Boolean(default=False)
    order = param.Integer(default=0, doc="counts the look-aheads")
    problem = param.String(default="")
    summary = param.String(default="")
    share = param.Number(default=0.5)
    rule = param.String(default="")
    fewest = param.Integer(default=FEWEST, constant=True)
    most = param.Integer(default=MOST, constant=True)

    _esm = script(_HERE)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, ahead: LookAhead, **params: Any) -> None:
        super().__init__(**params)
        self._ahead = ahead
        self._runs: tuple[Run, ...] = ()
        ahead.param.watch(self._follow, ["changed", "share", "problems"])
        self._follow()

    def _follow(self, *_: Any) -> None:
        ahead = self._ahead
        self.param.update(
            comparisons=[list(pair) for pair in ahead.comparisons().items()],
            runs=[_line(run, index, ahead.waiting, ahead.stopping) for index, run in enumerate(ahead.runs)],
            running=ahead.running,
            order=self.order + (ahead.runs is not self._runs),
            problem="; ".join(ahead.problems),
            summary=ahead.summary(),
            share=ahead.share,
            rule=rule_in_words(ahead.share),
        )
        self._runs = ahead.runs

    def _handle_msg(self, data: Any) -> None:
        ahead = self._ahead
        steps, compared = said(data, "steps", int), said(data, "compared", str)
        run, record = said(data, "run", int), said(data, "record", int)
        share = said(data, "share", float)
        if said(data, "stop", bool):
            ahead.stop()
        elif compared is not None:
            ahead.start(0 if steps is None else steps, compared)
        elif run is not None and record is not None:
            ahead.open(run, record)
        elif share is not None and 0.1 <= share <= 0.9:
            ahead.share = share


class AheadPanel(pn.viewable.Viewer):
    """The section of the page: controls, once something has been run the curves, and the batch law."""

    def __init__(self, ahead: LookAhead, lengths: Lengths) -> None:
        super().__init__()
        self._ahead = ahead
        self._layout = pn.Column(
            Ahead(ahead, sizing_mode="stretch_width", margin=0), LawPanel(lengths), css_classes=["ahead"],
            sizing_mode="stretch_width", margin=0, name="ahead",
        )  # fmt: skip
        # Ten figures cost every visitor, and most never look ahead: they come with the first run.
        self._watcher = ahead.param.watch(self._draw, "changed")

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def _draw(self, *_: Any) -> None:
        if self._ahead.runs:
            self._ahead.param.unwatch(self._watcher)
            self._layout.insert(1, Curves(self._ahead))


def _line(run: Run, index: int, waiting: bool, stopping: bool) -> dict[str, Any]:
    line = LINES[index]
    return {
        "letter": line.letter, "role": line.role, "dash": " ".join(map(str, line.dash)), "name": run.name,
        "steps": run.steps, "taken": run.taken, "far": far(run, waiting, stopping),
        "recorded": [record.step for record in run.records],
    }  # fmt: skip


def far(run: Run, waiting: bool, stopping: bool = False) -> str:
    """How far a run has come, in words."""
    if waiting:
        return "waiting for other runs to end"
    at = f"step {run.taken:,} of {run.steps:,}"
    if run.failure:
        return f"{at}, ended: {run.failure}"
    if run.over:
        return f"{at}, stopped" if run.stopped else at
    if stopping:
        return f"{at}, stopping"
    return at if run.left is None else f"{at}, {_duration(run.left)} left"


def _duration(seconds: float) -> str:
    if seconds >= 90:
        return f"about {seconds / 60:.0f} min"
    return f"about {max(5, 5 * round(seconds / 5))} s"
