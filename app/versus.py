"""Readings side by side: a row for each, a value for each cell, and how it stands to the first cell's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.numbers import percent, significant
from sim.config import Config
from sim.frame import PENDING, Frame, Reading, Undetermined
from sim.words import words


@dataclass(frozen=True)
class Value:
    """What one cell has in a row: a number or a dash, a word for it, how it stands to A's, and why there is none."""

    text: str
    word: str = ""
    against: str = ""
    why: str = ""


@dataclass(frozen=True)
class Row:
    """One reading of all cells."""

    name: str
    help: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Column:
    """One cell: its letter, and its frame or why it has none."""

    letter: str
    frame: Frame | None
    failure: str = ""


@dataclass(frozen=True)
class _Line:
    """How a reading is read off a frame; `word` is its key among the words, `by` how it is set against another."""

    name: str
    help: str
    read: Callable[[Frame], Reading]
    by: Callable[[float, float], str]
    word: str = ""
    write: Callable[[float], str] = significant


def times(value: float, first: float) -> str:
    """A length or a share as a multiple of A's."""
    if value == first:
        return "as A"
    return "A has 0" if first == 0 else f"{significant(value / first)} × A"


def apart(value: float, first: float) -> str:
    """A number that may have either sign by its distance from A's."""
    if value == first:
        return "as A"
    return f"{significant(abs(value - first))} {'above' if value > first else 'below'} A"


def points(value: float, first: float) -> str:
    """A percentage by its distance from A's in points."""
    if value == first:
        return "as A"
    gap = 100 * abs(value - first)
    return f"{'< 1' if gap < 0.5 else f'{gap:.0f}'} points {'above' if value > first else 'below'} A"


_LINES = (
    _Line("Update over safe radius", "its length; over 1 is past the ring", lambda f: f.update.ratio, times, "update"),
    _Line("KL of the step, measured", "nats a token", lambda f: f.update.kl_measured, times, "kl"),
    _Line("KL of the step, predicted", "nats a token, from the Fisher matrix", lambda f: f.update.kl_predicted, times),
    _Line("Density", "share of the signal's variance within answers", lambda f: f.measures.density.within_share, apart,
          "density"),
    _Line("Bias", "coherence of the answers' gradients", lambda f: f.measures.bias.coherence, apart, "bias"),
    _Line("Cosine to reward", "of the averaged gradient with the reward's", lambda f: f.measures.bias.reward_cosine,
          apart),
    _Line("Concentration", "effective share of tokens", lambda f: f.measures.concentration.effective_share, times,
          "concentration"),
    _Line("Pull of the top 1 %", "of the tokens, in the update", lambda f: f.measures.concentration.top1_share, points,
          write=percent),
    _Line("Clip leaves", "the update's length with the clip over its length without", lambda f: f.update.clip_ratio,
          points, write=percent),
    _Line("Spread", "directions that the answers' gradients span", lambda f: f.measures.spread.participation_ratio,
          times, "spread"),
    _Line("Mean norm", "of a token's gradient", lambda f: f.measures.mean_norm, times, "mean_norm"),
)  # fmt: skip


def rows(columns: Sequence[Column]) -> list[Row]:
    """All readings of cells that are at the same clock."""
    said = [{} if each.frame is None else words(each.frame) for each in columns]
    first = columns[0].frame
    made = [Row("Answers", "whether a cell reads the very answers that A reads", tuple(map(_answers(first), columns)))]
    for line in _LINES:
        values = []
        for i, each in enumerate(columns):
            value = _value(line, each, first if i else None)
            word = said[i][line.word].word if value.text not in ("–", "…") and line.word in said[i] else ""
            values.append(Value(value.text, word, value.against, value.why))
        made.append(Row(line.name, line.help, tuple(values)))
    return made


def answers(frame: Frame, first: Frame) -> str:
    """Whether a frame's answers are another's, and if not why."""
    ours, theirs = ([(each.prompt, each.answer) for each in which.rollouts] for which in (frame, first))
    if ours == theirs:
        kept = [each.kept for each in frame.rollouts] == [each.kept for each in first.rollouts]
        return "the same as A's" if kept else "the same as A's, others count"
    mine, his = frame.config, first.config
    if _continues(mine) or _continues(his):
        return "others: a teacher goes on with them"
    if mine.source.alpha != his.source.alpha:
        share = mine.source.alpha
        whose = "the data" if share == 0 else "the student" if share == 1 else f"the student by {percent(share)}"
        return f"others: written by {whose}"
    if mine.source != his.source:
        return "others: other data"
    return f"others: another student, since step {frame.step}" if frame.step else "others"


def _continues(config: Config) -> bool:
    return config.teacher.divergence == "continuation" and config.teacher.weight > 0


def _answers(first: Frame | None) -> Callable[[Column], Value]:
    def value(column: Column) -> Value:
        frame = column.frame
        if frame is None:
            return _missing(column)
        if frame is first and column.letter == "A":
            return Value(f"{len(frame.rollouts):,}", f"of {len(frame.sites.text):,} words")
        return Value("", "" if first is None else answers(frame, first))

    return value


def _value(line: _Line, column: Column, first: Frame | None) -> Value:
    if column.frame is None:
        return _missing(column)
    reading = line.read(column.frame)
    if reading is PENDING:
        return Value("…", why=PENDING.reason)
    if isinstance(reading, Undetermined):
        return Value("–", why=reading.reason)
    against = ""
    if first is not None:
        other = line.read(first)
        against = "A has none" if isinstance(other, Undetermined) else line.by(reading, other)
        if other is PENDING:
            against = "…"
    return Value(line.write(reading), against=against)


def _missing(column: Column) -> Value:
    return Value("–", why=column.failure) if column.failure else Value("…", why=PENDING.reason)
