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
    "jsd": "Jensen–Shannon, all words",
    "continuation": "words that the teacher goes on with",
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
    Field("divergence", "teacher.divergence", "Divergence", "choice", "What of the teacher the student descends: a "
          "KL at the sampled word or over the whole vocabulary, or the surprise at words that the teacher writes, from "
          "a random place in the student's answer.", DIVERGENCES, group="Teacher"),
    Field("jsd_beta", "teacher.jsd_beta", "Mixture", "slider", "Student and teacher are both compared with a mixture "
          "of the two; this is the teacher's share of it.", low=0.05, high=0.95, ends=("the student", "the teacher"),
          symbol="β", group="Teacher"),
    Field("continuation", "teacher.continuation", "Words it goes on for", "steps", "How many words the teacher writes, "
          "at most, from a random place in the student's answer.", low=1, high=36, group="Teacher"),
    Field("label_weight", "teacher.label_weight", "The data's word pulls with", "choice", "SFT pulls every word of the "
          "data alike; DFT pulls each by the student's own probability of it, so that surprising words count least.",
          {"one": "weight 1 (SFT)", "probability": "its probability (DFT)"}, group="Teacher"),
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
    Field("keep", "source.keep", "The student's answers that count", "choice", "All of them, or, as in rejection "
          "sampling, only the right ones, which are then data like any other.",
          {"all": "all", "right": "only the right ones"}, group="Batch"),
    Field("seed", "seed", "Seed", "number", "Where every random draw starts.", low=0, high=2**31 - 1, step=1,
          group="Batch"),
    Field("data_style", "source.data_style", "The data's words", "choice", "Whose style the data are written in.",
          {"own": "the student's own", "foreign": "a foreign annotator's"}, group="Data"),
    Field("data_skill", "source.data_skill", "The key move in them", "slider", "The share of the data's answers that "
          "multiply first; the others go from left to right, and are wrong where that matters.",
          ends=("never", "always"), group="Data"),
    Field("replay", "source.replay", "Other skills among them", "slider", "The share of the data's prompts that are "
          "replaced by documents of the other skills, facts and copying, so that these are kept.",
          ends=("none", "all"), group="Data"),
    Field("baseline", "reward.baseline", "Compared with", "choice", "What is subtracted from an answer's reward, "
          "within its group.", {"mean": "the group's mean", "leave-one-out": "the mean of the others",
                                "none": "nothing"}, group="Reward"),
    Field("normalise", "reward.normalise", "Divide by the group's spread", "switch", "Divide by the group's standard "
          "deviation: GRPO does, Dr. GRPO does not.", group="Reward"),
    Field("reference_beta", "reference.beta", "Pull back to the start", "steps", "How much the KL to the reference, "
          "the student at the start, weighs beside the signal; RL's β.", low=0, high=100, group="Reference"),
    Field("reference_divergence", "reference.divergence", "Direction of its KL", "choice", "From the student to the "
          "start, as in RL, or from the start to the student, as in anchored SFT.",
          {"reverse": "student to start (RL)", "forward": "start to student (ASFT)"}, group="Reference"),
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
        written = ("data_style", "data_skill", "replay")
        reasons |= dict.fromkeys(written, "α is 1: every prefix is the student's, and no data are read")
    elif source.replay == 1:
        reasons |= dict.fromkeys(("data_style", "data_skill"), "the data are of the other skills alone")
    if source.alpha == 0:
        reasons["keep"] = "α is 0: no answer is the student's"
    if config.reference.beta == 0:
        reasons["reference_divergence"] = "its weight is 0: nothing pulls back"
    if teacher.weight == 1:
        reasons |= dict.fromkeys(("baseline", "normalise"), "λ is 1: no reward counts")
    elif source.group_size == 1 and config.reward.baseline != "none":
        reasons["normalise"] = "a group of one answer has no spread"
    return reasons


def _idle_teacher(config: Config) -> Iterator[tuple[str, str]]:
    teacher = config.teacher
    if teacher.weight == 0:
        spoken = (
            "policy", "context", "divergence", "jsd_beta", "continuation", "label_weight", "parameters", "decay",
            "clip", "clip_kind", "clip_threshold",
        )  # fmt: skip
        yield from ((name, "λ is 0: no teacher speaks") for name in spoken)
        return
    if teacher.divergence != "jsd":
        yield "jsd_beta", "only for the Jensen–Shannon divergence"
    if teacher.divergence != "continuation":
        yield "continuation", "only where the teacher goes on with words of its own"
    elif config.source.alpha == 0:
        yield from (
            (name, "α is 0: there is no answer to go on with") for name in ("policy", "context", "continuation")
        )
    if teacher.policy != "label":
        yield "label_weight", "only where the teacher is the data's own next word"
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
    if teacher.policy == "label" and source.alpha == 1 and source.keep == "all" and teacher.weight > 0:
        said["policy"] = "The student's own answers have no such word: turn α toward the data."
    if config.reference.beta > 0:
        said["reference_beta"] = "At the start it pulls nothing: there the student is the reference."
    return said


def describe(before: Config, after: Config) -> str:
    """What was changed, as the log says it."""
    old, new = values(before), values(after)
    changes = [_change(each, new[each.name]) for each in FIELDS if old[each.name] != new[each.name]]
    rest = len(changes) - 2
    return ", ".join(changes[:2]) + (f" and {rest} more" if rest > 0 else "") or "nothing"


def ladder(name: str, value: float, config: Config) -> list[float]:
    """The positions of a slider in steps, and the value itself among them.

    Powers of two up to what is allowed and what the batch allows; for a weight 0, then 1, 2 and 5 of each decade.
    """
    each = BY_NAME[name]
    if each.low == 0:
        decades = (float(f"{digit}e{power}") for power in range(-3, 2) for digit in (1, 2, 5))
        return sorted({0.0, *decades, each.high, value})
    top = min(int(each.high), MAX_ROLLOUTS // config.source.group_size if name == "prompts" else MAX_ROLLOUTS)
    return sorted({2**k for k in range(int(math.log2(top)) + 1)} | {value})


def _change(each: Field, value: Any) -> str:
    called = each.symbol or each.label[0].lower() + each.label[1:]
    return f"{called}{':' if each.kind == 'choice' else ''} {each.said(value)}"


def _read(config: Config, path: str) -> Any:
    value: Any = config
    for part in path.split("."):
        value = getattr(value, part)
    return value
