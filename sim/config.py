"""Settings: frozen, validated, and nothing beside them decides what a frame shows."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

SCHEMA_VERSION = 1
MAX_ROLLOUTS = 512

Unit = Annotated[float, Field(ge=0, le=1)]


class Settings(BaseModel):
    """A group of settings: no unknown keys, no conversions, no NaN, no infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Source(Settings):
    """Where the prefixes come from."""

    alpha: Unit = Field(1.0, description="share of prompts answered by the student; the rest are data")
    data_style: Literal["own", "foreign"] = Field(
        "own", description="whose words the data use: the student's own family's, or a foreign annotator's"
    )
    data_skill: Unit = Field(
        1.0, description="share of the data's answers that make the key move; the others read from left to right"
    )
    replay: Unit = Field(
        0.0, description="share of the data's prompts replaced by documents of the other skills, facts and copying"
    )
    keep: Literal["all", "right"] = Field(
        "all",
        description="which of the student's own answers count: all, or, for rejection sampling, the right ones alone, "
        "which are then data like any other",
    )
    prompts: int = Field(8, ge=1, le=256, description="different prompts a batch")
    group_size: int = Field(8, ge=1, le=64, description="sequences that answer the same prompt")
    temperature: float = Field(
        1.0, ge=0.05, le=5, description="of the policy that samples, whose log-probabilities are differentiated"
    )

    @property
    def rollouts(self) -> int:
        """Sequences a batch."""
        return self.prompts * self.group_size

    @model_validator(mode="after")
    def _bounded(self) -> "Source":
        if self.rollouts > MAX_ROLLOUTS:
            raise ValueError(
                f"prompts x group_size is at most {MAX_ROLLOUTS} rollouts; "
                f"{self.prompts} x {self.group_size} is {self.rollouts}"
            )
        return self


class Teacher(Settings):
    """Who the teacher is, what it is shown, and how much it weighs against the reward."""

    weight: Unit = Field(1.0, description="lambda: 1 is the teacher alone, 0 the reward alone")
    policy: Literal["label", "same-family", "cross-family", "over-trained", "self"] = Field(
        "same-family", description="label: the data's own next token; self: the student, shown a context"
    )
    context: Literal["none", "hint", "wrong-hint", "rule", "example", "careful", "hasty"] = Field(
        "none", description="what the teacher is shown before the prompt, and the student is not"
    )
    parameters: Literal["live", "frozen", "average"] = Field(
        "live", description="which a self-teacher has: the student's now, those at the start, or their moving average"
    )
    decay: float = Field(0.95, ge=0, le=0.9999, description="of the moving average, a step")
    divergence: Literal["sampled-reverse", "reverse", "forward", "jsd", "continuation"] = Field(
        "sampled-reverse",
        description="KL to the teacher at the sampled token, or over the vocabulary; jsd: generalised Jensen-Shannon; "
        "continuation: cross-entropy on words that the teacher writes from a random place in the student's answer",
    )
    jsd_beta: float = Field(
        0.5, ge=0.001, le=0.999, description="the teacher's share of the mixture M = beta T + (1 - beta) S"
    )
    continuation: int = Field(8, ge=1, le=36, description="words that the teacher continues with, at most")
    label_weight: Literal["one", "probability"] = Field(
        "one", description="what a label's pull is multiplied by: 1 (SFT), or the student's probability of it (DFT)"
    )

    @model_validator(mode="after")
    def _possible(self) -> "Teacher":
        if self.policy == "label":
            if self.divergence != "forward":
                raise ValueError(
                    f"a label puts all its mass on one token, so only its forward KL is finite; "
                    f"divergence is {self.divergence!r}, set it to 'forward'"
                )
            if self.context != "none":
                raise ValueError(f"a label reads no context; context is {self.context!r}, set it to 'none'")
        return self


class Clip(Settings):
    """The map from weights to weights that caps what one token may pull; off means no clip."""

    on: bool = False
    kind: Literal["entry-clamp", "token-scale", "advantage"] = Field(
        "advantage",
        description="entry-clamp: drop vocabulary entries whose KL is over the threshold; token-scale: scale a site "
        "by min(1, threshold / KL); advantage: bound the log-ratio (forward KL: the probability ratio less one)",
    )
    threshold: float = Field(1.0, ge=1e-6, le=100, description="nats")


class Reward(Settings):
    """How a rollout's reward becomes its advantage."""

    baseline: Literal["mean", "leave-one-out", "none"] = Field("mean", description="within the group")
    normalise: bool = Field(False, description="divide by the group's standard deviation (ddof 1) plus 1e-4")


class Reference(Settings):
    """The pull back to the reference policy, which is the student at the start."""

    beta: float = Field(0.0, ge=0, le=100, description="weight of the KL to the reference in the loss; 0 is none")
    divergence: Literal["reverse", "forward"] = Field(
        "reverse",
        description="reverse: KL(student || reference), as in RL; forward: KL(reference || student), as in anchored "
        "SFT",
    )


class Update(Settings):
    """How per-token gradients become a step."""

    aggregation: Literal["token", "sequence", "constant"] = Field(
        "token",
        description="mean over all tokens; over a rollout's tokens, then rollouts; sum over rollouts x "
        "the longest answer allowed",
    )
    optimiser: Literal["sgd", "adam"] = "sgd"
    step_size: float = Field(0.3, ge=1e-6, le=100, description="learning rate")


class Safety(Settings):
    """What counts as a safe step."""

    delta: float = Field(0.001, ge=1e-6, le=10, description="KL a token, in nats, on the rim of the safe region")


class Plane(Settings):
    """What the picture is projected on."""

    basis: Literal["checkpoint", "components", "random"] = Field(
        "checkpoint",
        description="checkpoint: the start's reward gradient, and the leading direction of what remains; components: "
        "principal directions of this batch; random: two seeded directions",
    )


class Config(Settings):
    """Everything that, with a step and a draw, determines a frame."""

    seed: int = Field(0, ge=0, le=2**31 - 1)
    source: Source = Source()
    teacher: Teacher = Teacher()
    clip: Clip = Clip()
    reward: Reward = Reward()
    reference: Reference = Reference()
    update: Update = Update()
    safety: Safety = Safety()
    plane: Plane = Plane()
