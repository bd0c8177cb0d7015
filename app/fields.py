"""How each setting is called and offered on the page, and which settings have no effect just now."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sim.config import MAX_ROLLOUTS, Config

Kind = Literal["slider", "log", "steps", "choice", "switch", "number"]


@dataclass(frozen=True)
class Field:
    """One setting: the dial's name, its place in the config, and how a lecturer would say it.

    `choices` maps values to words; `low` and `high` bound sliders and numbers; `ends` are the words at the
    ends of a slider, `symbol` the letter that papers use, `unit` what its number is in.
    """

    name: str
    path: str
    label: str
    kind: Kind
    help: str
    choices: Mapping[str, str] = field(default_factory=dict)
    low: float = 0.0
    high: float = 1.0
    step: float = 0.05
    ends: tuple[str, str] | None = None
    symbol: str = ""
    unit: str = ""
    group: str = ""

    def said(self, value: Any) -> str:
        """A value in words, as the log has it."""
        if self.kind == "switch":
            return "on" if value else "off"
        if self.kind == "choice":
            return self.choices[value]
        return f"{value:.4g}" if isinstance(value, float) else str(value)


POLICIES = {
    "label": "the data's own next word",
    "same-family": "a larger model, same family",
    "cross-family": "a model of another family",
    "over-trained": "an over-trained model",
    "self": "the student itself",
}
CONTEXTS = {
    "none": "nothing more",
    "hint": "the right answer",
    "wrong-hint": "a wrong answer",
    "rule": "the rule",
    "example": "a worked example",
    "careful": "“you are careful”",
    "hasty": "“you are hasty”",
}
CLIPS = {"advantage": "advantage clip", "token-scale": "token scale", "entry-clamp": "entry clamp"}
DIVERGENCES = {
    "sampled-reverse": "reverse KL, sampled word",
    "reverse": "reverse KL, all words",
    "forward": "forward KL, all words",
}

FIELDS: tuple[Field, ...] = (
    Field(
        "alpha", "source.alpha", "Prefixes from", "slider", "Who wrote the words before each token: the share of "
        "prompts that the student itself answers; the rest are answered by the data.",
        ends=("the data", "the student"), symbol="α",
    ),
    Field(
        "weight", "teacher.weight", "Signal from", "slider", "How much of each token's signal comes from the teacher; "
        "the rest comes from the reward of the whole answer.",
        ends=("the reward", "the teacher"), symbol="λ",
    ),
    Field("policy", "teacher.policy", "Teacher", "choice", "Whose next-word probabilities the student is compared "
          "with, on the same prefixes.", POLICIES),
    Field("context", "teacher.context", "who is shown", "choice", "What the teacher reads before the prompt, and the "
          "student does not.", CONTEXTS),
    Field("clip", "clip.on", "Clip", "switch", "Cap what one token may pull."),
    Field(
        "clip_kind", "clip.kind", "Kind of clip", "choice", "Advantage clip: bound the log-ratio of teacher and "
        "student. Token scale: shrink a token's whole pull by min(1, threshold / KL). Entry clamp: drop the "
        "words of the vocabulary whose KL is over the threshold.", CLIPS,
    ),
    Field("clip_threshold", "clip.threshold", "Threshold", "log", "Where the clip begins to bite.",
          low=0.01, high=10.0, unit="nats"),
    Field("prompts", "source.prompts", "Prompts a batch", "steps", "Different prompts in a batch; each is answered "
          "several times.", low=1, high=256),
    Field("divergence", "teacher.divergence", "Divergence", "choice", "Which KL to the teacher the student descends: "
          "at the sampled word, or over the whole vocabulary.", DIVERGENCES, group="Teacher"),
    Field("parameters", "teacher.parameters", "A self-teacher is", "choice", "Which parameters the student has when "
          "it teaches itself. The three agree until steps are taken.",
          {"live": "the student now", "frozen": "the student at the start", "average": "its moving average"},
          group="Teacher"),
    Field("decay", "teacher.decay", "Decay of the average", "number", "How much of the moving average is kept at each "
          "step.", low=0, high=0.9999, step=0.01, group="Teacher"),
    Field("group_size", "source.group_size", "Answers a prompt", "steps", "How many answers to the same prompt are "
          "compared with each other.", low=1, high=64, group="Batch"),
    Field("temperature", "source.temperature", "Temperature", "log", "Of the policy that samples, and whose gradient "
          "is taken.", low=0.05, high=5.0, group="Batch"),
    Field("data_style", "source.data_style", "The data's words", "choice", "Whose style the data are written in.",
          {"own": "the student's own", "foreign": "a foreign annotator's"}, group="Batch"),
    Field("seed", "seed", "Seed", "number", "Where every random draw starts.", low=0, high=2**31 - 1, step=1,
          group="Batch"),
    Field("baseline", "reward.baseline", "Compared with", "choice", "What is subtracted from an answer's reward, "
          "within its group.", {"mean": "the group's mean", "leave-one-out": "the mean of the others",
                                "none": "nothing"}, group="Reward"),
    Field("normalise", "reward.normalise", "Divide by the group's spread", "switch", "Divide by the group's standard "
          "deviation: GRPO does, Dr. GRPO does not.", group="Reward"),
    Field("aggregation", "update.aggregation", "Average over", "choice", "How tokens' gradients are averaged into "
          "one.", {"token": "all words alike", "sequence": "words, then answers", "constant": "the longest answer"},
          group="Step"),
    Field("optimiser", "update.optimiser", "Optimiser", "choice", "SGD steps along the average; Adam rescales each "
          "parameter first.", {"sgd": "SGD", "adam": "Adam"}, group="Step"),
    Field("step_size", "update.step_size", "Step size", "log", "The learning rate.", low=1e-5, high=100.0,
          group="Step"),
    Field("delta", "safety.delta", "KL on the ring", "log", "How far the policy may move in one step: the KL a token "
          "on the rim of the safe region.", low=1e-4, high=1.0, unit="nats", group="Picture"),
    Field("basis", "plane.basis", "Axes", "choice", "What the arrows are projected on.",
          {"checkpoint": "the checkpoint's", "components": "this batch's own", "random": "two at random"},
          group="Picture"),
)  # fmt: skip
BY_NAME: Mapping[str, Field] = {each.name: each for each in FIELDS}


def values(config: Config) -> dict[str, Any]:
    """What each dial stands at under a configuration."""
    return {each.name: _read(config, each.path) for each in FIELDS}


def idle(config: Config) -> dict[str, str]:
    """The dials that change nothing under a configuration, each with the reason."""
    source, teacher = config.source, config.teacher
    reasons = dict(_idle_teacher(config))
    if source.alpha == 1:
        reasons["data_style"] = "α is 1: every prefix is the student's, and no data are read"
    if teacher.weight == 1:
        reasons |= dict.fromkeys(("baseline", "normalise"), "λ is 1: no reward counts")
    elif source.group_size == 1 and config.reward.baseline != "none":
        reasons["normalise"] = "a group of one answer has no spread"
    return reasons


def _idle_teacher(config: Config) -> Iterator[tuple[str, str]]:
    teacher = config.teacher
    if teacher.weight == 0:
        spoken = ("policy", "context", "divergence", "parameters", "decay", "clip", "clip_kind", "clip_threshold")
        yield from ((name, "λ is 0: no teacher speaks") for name in spoken)
        return
    if teacher.policy == "label":
        yield "context", "the data's own word reads nothing"
        yield "divergence", "one right word has only its forward KL"
    if teacher.policy != "self":
        yield "parameters", "only for a student that teaches itself"
    if teacher.policy != "self" or teacher.parameters != "average":
        yield "decay", "only for a self-teacher that is a moving average"


def hints(config: Config) -> dict[str, str]:
    """What is worth saying under a dial as it stands."""
    source, teacher = config.source, config.teacher
    said = {"prompts": f"× {source.group_size} answers = {source.rollouts:,} rollouts"}
    if teacher.policy == "label" and source.alpha == 1 and teacher.weight > 0:
        said["policy"] = "The student's own answers have no such word: turn α toward the data."
    return said


def describe(before: Config, after: Config) -> str:
    """What was changed, as the log says it."""
    old, new = values(before), values(after)
    changes = [_change(each, new[each.name]) for each in FIELDS if old[each.name] != new[each.name]]
    rest = len(changes) - 2
    return ", ".join(changes[:2]) + (f" and {rest} more" if rest > 0 else "") or "nothing"


def ladder(name: str, value: int, config: Config) -> list[int]:
    """The positions of a slider in steps: powers of two up to what the batch allows, and the value itself."""
    other = config.source.group_size if name == "prompts" else config.source.prompts
    top = min(int(BY_NAME[name].high), MAX_ROLLOUTS // other if name == "prompts" else MAX_ROLLOUTS)
    return sorted({2**k for k in range(int(math.log2(top)) + 1)} | {value})


def _change(each: Field, value: Any) -> str:
    called = each.symbol or each.label[0].lower() + each.label[1:]
    return f"{called}{':' if each.kind == 'choice' else ''} {each.said(value)}"


def _read(config: Config, path: str) -> Any:
    value: Any = config
    for part in path.split("."):
        value = getattr(value, part)
    return value
