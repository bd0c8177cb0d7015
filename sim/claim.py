"""A claim: a sentence of a text, what to measure of it for each seed, and the rule by which a verdict is reached."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sim.config import Config
from sim.experiments import Experiment, Result
from sim.override import override
from sim.presets import builtin

Verdict = Literal["holds here", "does not hold here", "holds only when"]
Numbers = Mapping[str, float | None]


@dataclass(frozen=True)
class Judgement:
    """A verdict; `condition` completes "holds only when", `note` says what was found."""

    verdict: Verdict
    note: str
    condition: str = ""


class Spread:
    """The numbers of all seeds, by name."""

    def __init__(self, seeds: Sequence[Numbers]) -> None:
        self.seeds = seeds

    def values(self, name: str) -> list[float | None]:
        """One number a seed."""
        return [numbers[name] for numbers in self.seeds]

    def known(self, name: str) -> list[float]:
        """Those that there are."""
        return [value for value in self.values(name) if value is not None]

    def mean(self, name: str) -> float:
        """Their mean; NaN, which no rule accepts, where there is none."""
        known = self.known(name)
        return math.fsum(known) / len(known) if known else math.nan

    def said(self, name: str, digits: int = 2) -> str:
        """The mean and the extremes, for a note, and for how many seeds the number is undetermined."""
        return _said(self.known(name), digits, "") + self._missing(name)

    def percent(self, name: str) -> str:
        """The same of a share, in percent."""
        return _said([100 * value for value in self.known(name)], 0, " %") + self._missing(name)

    def _missing(self, name: str) -> str:
        gone, count = len(self.seeds) - len(self.known(name)), len(self.seeds)
        return f" (undetermined for {gone} of {count} seeds)" if 0 < gone < count else ""


def _said(known: Sequence[float], digits: int, unit: str) -> str:
    if not known:
        return "undetermined"
    mean, low, high = (f"{value:.{digits}f}" for value in (math.fsum(known) / len(known), min(known), max(known)))
    return f"{mean}{unit}" if low == high else f"{mean}{unit} ({low} to {high})"


class Missing(Exception):
    """A number that a rule needs is undetermined."""


class Seed:
    """The numbers of one seed, as a rule reads them."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def __getitem__(self, name: str) -> float:
        """A number; Missing where it is undetermined."""
        value = self._numbers[name]
        if value is None:
            raise Missing(name)
        return value

    def has(self, name: str) -> bool:
        """Whether a number is determined."""
        return self._numbers[name] is not None


#: What one seed says. A rule that needs a number which is missing is not met.
Rule = Callable[[Seed], bool]


@dataclass(frozen=True)
class Claim:
    """What is claimed, and how it is tested.

    `experiments` gives, for a seed, what is measured, by name; `numbers` reads one seed's results into named numbers
    (`units` says of what); `judge` reaches the verdict from all seeds' numbers.
    """

    name: str
    topic: str
    claim: str
    source: str
    presets: tuple[str, ...]
    setting: str
    experiments: Callable[[int], Mapping[str, Experiment]]
    numbers: Callable[[Mapping[str, Result]], Numbers]
    judge: Callable[[Spread], Judgement]
    units: Mapping[str, str]
    quick: bool = False


def by_seeds(spread: Spread, rule: Rule, note: str, condition: str = "") -> Judgement:
    """Holds where the rule is met for every seed, does not hold where for none, and else only under a condition."""
    met = [_met(rule, numbers) for numbers in spread.seeds]
    if all(met):
        return Judgement("holds here", note)
    if not any(met):
        return Judgement("does not hold here", note)
    return Judgement("holds only when", note, condition or f"the seed is kind: for {sum(met)} of {len(met)} seeds")


def in_part(spread: Spread, parts: Mapping[str, Rule], note: str, *, lead: str, but: str) -> Judgement:
    """A claim of several parts: holds where every seed meets each part's rule, does not where none of them is met so.

    Else the condition is `lead`, the parts that are met, `but`, and the others: "it says dense, not diffuse".
    """
    good = [name for name, rule in parts.items() if all(_met(rule, numbers) for numbers in spread.seeds)]
    if len(good) == len(parts):
        return Judgement("holds here", note)
    if not good:
        return Judgement("does not hold here", note)
    bad = [name for name in parts if name not in good]
    return Judgement("holds only when", note, f"{lead} {listed(good)}, {but} {listed(bad)}")


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _met(rule: Rule, numbers: Numbers) -> bool:
    try:
        return bool(rule(Seed(numbers)))
    except Missing:
        return False


def settings(preset: str, seed: int, *assignments: str) -> Config:
    """The settings of a preset that ships, with that seed and some of them replaced."""
    return override(builtin(preset).config, [f"seed={seed}", *assignments])
