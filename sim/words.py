"""Words for readings: each reading of a frame in a word a lecturer would say, with the rule behind it."""

from collections.abc import Mapping
from dataclasses import dataclass

from sim.config import Config
from sim.frame import Frame, Reading, Undetermined

SPARSE, DENSE = 0.1, 0.5
DIFFUSE, CONCENTRATED = 0.2, 0.1
NARROW, BROAD = 0.05, 0.2
FAINT, STRONG = 0.5, 2.5
AGREES = 0.3


@dataclass(frozen=True)
class Word:
    """A word for a reading, and the rule by which it was chosen."""

    word: str
    rule: str


def words(frame: Frame) -> Mapping[str, Word]:
    """A word for each reading: density, bias, concentration, spread, mean_norm, update, kl."""
    measures, rollouts = frame.measures, len(frame.rollouts)
    participation = measures.spread.participation_ratio
    return {
        "density": _threefold(
            measures.density.within_share,
            (SPARSE, "sparse"),
            "mixed",
            (DENSE, "dense"),
            "share of the signal's variance that lies within rollouts",
        ),
        "bias": _bias(frame),
        "concentration": _threefold(
            measures.concentration.effective_share,
            (CONCENTRATED, "concentrated"),
            "uneven",
            (DIFFUSE, "diffuse"),
            "effective share of tokens, (sum |g|)^2 / (n sum |g|^2)",
        ),
        "spread": _threefold(
            participation if isinstance(participation, Undetermined) else participation / rollouts,
            (NARROW, "narrow"),
            "fan",
            (BROAD, "broad"),
            "participation ratio of the rollouts' gradients over their number",
        ),
        "mean_norm": _threefold(
            measures.mean_norm, (FAINT, "faint"), "moderate", (STRONG, "strong"), "mean length of a token's gradient"
        ),
        "update": Word(frame.verdict.word, frame.verdict.rule),
        "kl": _kl(frame.update.kl_predicted, frame.update.kl_measured),
    }


def direction(config: Config) -> str:
    """Where a configuration's signal comes from, as in "toward teacher"."""
    teacher = config.teacher
    if teacher.weight == 0:
        return "toward reward"
    source = {
        "label": "data",
        "self": "self" if teacher.context == "none" else f"self + {teacher.context.replace('-', ' ')}",
    }
    return f"toward {source.get(teacher.policy, 'teacher')}" + (" and reward" if teacher.weight < 1 else "")


def _bias(frame: Frame) -> Word:
    bias, rollouts = frame.measures.bias, len(frame.rollouts)
    rule = (
        f"one way if the noise scale (the batch at which signal equals noise) is at most this batch's {rollouts} "
        "rollouts, else mostly noise; named after where the signal comes from"
    )
    if isinstance(bias.coherence, Undetermined):
        return Word("undetermined", bias.coherence.reason)
    if isinstance(bias.noise_scale, Undetermined) or bias.noise_scale > rollouts:
        return Word("mostly noise", rule)
    return Word(direction(frame.config), rule)


def _threefold(value: Reading, low: tuple[float, str], middle: str, high: tuple[float, str], what: str) -> Word:
    rule = f"{what}: below {low[0]:g} {low[1]}, above {high[0]:g} {high[1]}, else {middle}"
    if isinstance(value, Undetermined):
        return Word("computing" if value.pending else "undetermined", value.reason)
    if value < low[0]:
        return Word(low[1], rule)
    return Word(high[1] if value > high[0] else middle, rule)


def _kl(predicted: Reading, measured: Reading) -> Word:
    rule = f"measured KL over predicted: within {AGREES:.0%} as predicted, else above or below"
    if isinstance(predicted, Undetermined) or isinstance(measured, Undetermined) or measured == predicted == 0:
        return Word("undetermined", "the step is zero")
    if predicted == 0:
        return Word("above predicted", rule)
    ratio = measured / predicted
    if abs(ratio - 1) <= AGREES:
        return Word("as predicted", rule)
    return Word("above predicted" if ratio > 1 else "below predicted", rule)
