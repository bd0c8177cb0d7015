"""A frame: everything the picture shows of one batch, as an immutable value, and its JSON."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.config import SCHEMA_VERSION, Config

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Undetermined:
    """A number that could not be had, with the reason; in JSON it is null."""

    reason: str

    @property
    def pending(self) -> bool:
        """Whether it is only not computed yet."""
        return self is PENDING


PENDING = Undetermined("still being computed")
NO_UPDATE = Undetermined("the update is zero: no token of this batch carries a signal")
Reading = float | Undetermined


@dataclass(frozen=True)
class Sites:
    """The N token sites of a batch, an entry a site in each field.

    `x`, `y` are the plane's coordinates of step_size * g_n: the step that this token alone would take, in
    the plane's units. `norm` is |g_n|, without the step size; `signal` in nats;
    `share` the site's signed share <a_n g_n, G> / |G|^2 of the mean gradient G = sum_n a_n g_n; the shares
    add up to 1. `kl` is the site's divergence from student to teacher in the configured direction, before
    the clip. `sequence` and `position` say where the token stands: position counts the answer's tokens from
    0. `raised` is the word whose logit the site's own step raises most, argmax_v of w[v] - pi[v] sum w ("" for a
    site without weights), with what student and teacher give it. NaN in `teacher_p`, `raised_teacher_p`, `kl` or
    `share` means undetermined, for the reason in `reasons`.
    """

    text: tuple[str, ...]
    raised: tuple[str, ...]
    raised_student_p: Floats
    raised_teacher_p: Floats
    prefix: tuple[str, ...]
    sequence: Integers
    position: Integers
    x: Floats
    y: Floats
    norm: Floats | None
    signal: Floats
    share: Floats
    student_p: Floats
    teacher_p: Floats
    kl: Floats
    clipped: Flags
    on_policy: Flags
    unclipped_x: Floats
    unclipped_y: Floats


@dataclass(frozen=True)
class Rollout:
    """One sequence of the batch as text, with its reward and its group; `kept` is False where rejection dropped it.

    Where a teacher continues, `prompt` ends with the student's own words and `answer` is what the teacher wrote.
    """

    prompt: str
    answer: str
    reward: float
    advantage: float
    group: int
    on_policy: bool
    kept: bool


@dataclass(frozen=True)
class UpdateReadings:
    """The step that this batch would take.

    `x`, `y` in the plane's units; `norm` is |step|, step size included (for Adam, the step Adam would take);
    `safe_radius` r = sqrt(2 delta / u'Fu) along it; `ratio` = norm / safe_radius; `kl_predicted` = u'Fu
    norm^2 / 2 and `kl_measured` the mean KL(before || after) over the batch's sites, in nats a token;
    `clip_ratio` is the step's length with the clip over its length without.
    """

    x: Reading
    y: Reading
    norm: Reading
    step_size: float
    kl_predicted: Reading
    kl_measured: Reading
    safe_radius: Reading
    ratio: Reading
    reward_cosine: Reading
    clip_ratio: Reading


@dataclass(frozen=True)
class Density:
    """How much of the signal tells tokens of a rollout apart."""

    within_share: Reading
    active_share: Reading
    silent_groups: Reading


@dataclass(frozen=True)
class Bias:
    """Whether the expected gradient points one fixed way, and where."""

    coherence: Reading
    noise_scale: Reading
    reward_cosine: Reading


@dataclass(frozen=True)
class Concentration:
    """Whether the update is piled on few tokens; the angle is in degrees."""

    effective_share: Reading
    top1_share: Reading
    leave_out_angle: Reading


@dataclass(frozen=True)
class Spread:
    """How many directions the rollouts' gradients span."""

    participation_ratio: Reading


@dataclass(frozen=True)
class Measures:
    """What is read off the cloud."""

    density: Density
    bias: Bias
    concentration: Concentration
    spread: Spread
    mean_norm: Reading


@dataclass(frozen=True)
class PlaneReadings:
    """The plane of the picture.

    `captured_share` is the share of the sites' squared length that lies in the plane, `update_share` that of
    the update. `to_units` [2, 2] maps coordinates on the orthonormal basis to the picture's units, and
    `safe_ellipse` [2, 2] the unit circle to the current rim of the safe region in these units. The checkpoint's plane
    has units in which its own safe region is the unit disc: the rim is a circle before the first step and an ellipse
    after it. In the other planes lengths are those of parameter space over the mean radius of the rim, an ellipse.
    """

    basis: str
    captured_share: Reading
    update_share: Reading
    to_units: Floats
    safe_ellipse: Floats


@dataclass(frozen=True)
class Verdict:
    """One step's safety: `level` is none, inside, near or past."""

    level: str
    word: str
    rule: str


@dataclass(frozen=True)
class Frame:
    """A pure function of (config, seed, step, draw) and of the steps that led there."""

    config: Config
    step: int
    draw: int
    sites: Sites
    rollouts: tuple[Rollout, ...]
    update: UpdateReadings
    measures: Measures
    plane: PlaneReadings
    verdict: Verdict

    @property
    def complete(self) -> bool:
        """Whether nothing is pending."""
        return not any(value is PENDING for _, value in readings(self))

    def columns(self) -> dict[str, NDArray[Any]]:
        """The sites as a table: an array for each field of `Sites`, a row a site; norms that are pending are NaN."""
        count = len(self.sites.text)
        columns = {field.name: getattr(self.sites, field.name) for field in fields(Sites)}
        return {
            name: np.full(count, np.nan) if column is None else np.array(column) for name, column in columns.items()
        }

    def __repr__(self) -> str:
        """The moment and the verdict: the whole is thousands of numbers."""
        return f"<Frame of {self.when}: {self.verdict.word}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: verdict, readings and strongest tokens."""
        from sim.report import frame_html

        return frame_html(self)

    @property
    def when(self) -> str:
        """Which batch this is, in words."""
        return f"seed {self.config.seed}, step {self.step}, draw {self.draw}"

    def to_json(self) -> dict[str, Any]:
        """The frame as JSON values: no NaN; what is null has its path in ``reasons``."""
        sites, reasons = _columns(self.sites, self.config)
        body: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "config": self.config.model_dump(mode="json"),
            "seed": self.config.seed,
            "step": self.step,
            "draw": self.draw,
            "sites": sites,
            "rollouts": [vars(rollout) for rollout in self.rollouts],
            "update": _plain(self.update),
            "measures": _plain(self.measures),
            "plane": _plain(self.plane),
            "verdict": _plain(self.verdict),
        }
        reasons |= {path: value.reason for path, value in readings(self) if isinstance(value, Undetermined)}
        return body | {"reasons": reasons}

    def dumps(self) -> str:
        """The frame as JSON text, the same bytes each time."""
        return json.dumps(self.to_json(), allow_nan=False, ensure_ascii=False, indent=1) + "\n"


def readings(frame: Frame) -> Iterator[tuple[str, Reading]]:
    """Every number of update, measures and plane with its dotted path."""
    for part in ("update", "measures", "plane"):
        yield from _leaves(part, getattr(frame, part))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Reading]]:
    if is_dataclass(value) and not isinstance(value, Undetermined):
        for field in fields(value):
            yield from _leaves(f"{path}.{field.name}", getattr(value, field.name))
    elif isinstance(value, float | Undetermined):
        yield path, value


def _plain(value: Any) -> Any:
    if isinstance(value, Undetermined):
        return None
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value.tolist() if isinstance(value, np.ndarray) else value


def site_reasons(config: Config) -> dict[str, str]:
    """Why a column of the sites may have gaps, by its name."""
    silent = "lambda is 0: no teacher speaks"
    unknown = "a label is known on data alone, not on an answer of the student's own"
    missing = silent if config.teacher.weight == 0 else unknown
    return {
        "norm": PENDING.reason,
        "share": "the update is zero, so no token has a share of it",
        "raised_teacher_p": missing,
        "teacher_p": missing,
        "kl": missing,
    }


def _columns(sites: Sites, config: Config) -> tuple[list[dict[str, Any]], dict[str, str]]:
    names = [field.name for field in fields(Sites)]
    count = len(sites.text)
    columns, reasons = {}, {}
    for name in names:
        column = getattr(sites, name)
        values = [None] * count if column is None else column if isinstance(column, tuple) else column.tolist()
        missing = [value is None or value != value for value in values]
        if any(missing):
            reasons[f"sites.{name}"] = site_reasons(config)[name]
            values = [None if gone else value for value, gone in zip(values, missing, strict=True)]
        columns[name] = values
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)], reasons
