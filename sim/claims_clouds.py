"""Claims about one step of RL and of SFT: what their clouds look like at the checkpoint."""

from collections.abc import Mapping

from sim.claim import Claim, Judgement, Rule, Seed, Spread, by_seeds, in_part, settings
from sim.claims_runs import end, held, named
from sim.experiments import Experiment, Result
from sim.probes import BatchSizes, Cloud, RewardSlope
from sim.sources import GRADIENTS, STATES
from sim.words import DENSE, DIFFUSE

TOPIC = "one step's cloud"
DRAWS, EXACT_DRAWS = 10, 3
RL, SFT, FOREIGN = "rl-noise-cancels", "sft-fan", "sft-foreign-style"
SAME, CROSS, HINTED = "opd-same-family", "opd-cross-family", "opsd-collapse"
SETTING = "at the checkpoint, 16 x 8 rollouts; means over draws of each seed"


def cloud(preset: str, seed: int, *assignments: str) -> Cloud:
    """Draws at the checkpoint, all with the same number of rollouts, without exact norms."""
    return Cloud(settings(preset, seed, "source.prompts=16", *assignments), DRAWS)


def exact(preset: str, seed: int) -> Cloud:
    """A few draws with exact norms."""
    return Cloud(settings(preset, seed, "source.prompts=16"), EXACT_DRAWS, exact=True)


def reading(result: Result, path: str) -> float | None:
    """The mean over draws of a reading."""
    value: float | None = result["readings"].get(path)
    return value


def is_diffuse(seed: Seed) -> bool:
    """Whether neither arrows nor update are piled on few tokens: effective share over, top 1 % under a fifth."""
    return seed["effective"] > DIFFUSE > seed["top"]


def draws_at(result: Result, level: str) -> float:
    """The share of draws whose verdict is of a level: "past" the safe radius, "none" without a signal."""
    levels = result["levels"]
    return float(levels.count(level) / len(levels))


def _noise(seed: int) -> Mapping[str, Experiment]:
    return {"rl": BatchSizes(settings(RL, seed), 12), "sft": BatchSizes(settings(SFT, seed), 12)}


def _judge_noise(spread: Spread) -> Judgement:
    note = (
        f"From one prompt to 64 the update of RL falls with the exponent {spread.said('rl')}; noise alone gives -0.5. "
        f"That of SFT falls with {spread.said('sft')}: a few prompts are noise there, too. Signal equals noise at "
        f"{spread.said('sft_scale', 0)} rollouts of SFT, and at {spread.said('rl_scale', 0)} of RL."
    )
    parts: Mapping[str, Rule] = {"RL": lambda n: n["rl"] < -0.35, "SFT": lambda n: n["sft"] > -0.15}
    return in_part(spread, parts, note, lead="it speaks of", but="not of")


def _judge_unbiased(spread: Spread) -> Judgement:
    note = (
        f"Along the checkpoint's reward direction the policy gradient says that expected reward rises by "
        f"{spread.said('said')} a unit of parameters; rollouts of the moved policies show {spread.said('seen')}. "
        "With the group's mean as baseline, of 8 answers, the slope is exactly seven eighths of it."
    )
    return by_seeds(spread, lambda n: abs(n["said"] - n["seen"]) < 0.1 * n["seen"] + 2 * n["error"], note)


def _judge_sparse(spread: Spread) -> Judgement:
    note = (
        f"No part of the signal's variance lies within rollouts ({spread.said('within', 2)}), and "
        f"{spread.percent('silent')} of the groups carry no signal at all."
    )
    return by_seeds(spread, lambda n: n["within"] < 0.01 and n["silent"] > 0.5, note)


def _judge_sft(spread: Spread) -> Judgement:
    note = (
        f"Within rollouts lie {spread.percent('within')} of the signal's variance; coherence is "
        f"{spread.said('coherence', 3)}, that of RL {spread.said('coherence_rl', 3)}; the effective share of tokens is "
        f"{spread.said('effective')} and the strongest 1 % carry {spread.percent('top')} of the update."
    )
    return in_part(
        spread,
        {
            "dense": lambda n: n["within"] > DENSE,
            "biased to the data": lambda n: n["coherence"] > 2 * n["coherence_rl"],
            "diffuse": is_diffuse,
        },
        note,
        lead="it says",
        but="not",
    )


def _judge_near(spread: Spread) -> Judgement:
    own, foreign = (int(sum(spread.known(name))) for name in ("own_held", "foreign_held"))
    note = (
        f"Data in the student's own style make a step of {spread.said('own')} safe radii, data in a foreign one of "
        f"{spread.said('foreign')}, and the student's own accepted answers of {spread.said('rejection')}: nearer is "
        f"shorter, but {spread.percent('own_past')} of the draws are past the radius in its own style and "
        f"{spread.percent('rejection_past')} of those of its own answers. Of {len(spread.seeds)} runs each, {own} hold "
        f"in its own style and {foreign} in the foreign one; 100 steps cost {spread.said('own_kl')} and "
        f"{spread.said('foreign_kl')} nats a site."
    )
    return by_seeds(
        spread,
        lambda n: n["own"] < n["foreign"] and (n["own_past"] < 0.5 or n["rejection_past"] < 0.5),
        note,
    )


def _judge_small(spread: Spread) -> Judgement:
    note = (
        f"With two prompts {spread.percent('small')} of the draws have no signal; with 32, "
        f"{spread.percent('groups')} of the groups have none."
    )
    return by_seeds(spread, lambda n: n["groups"] >= 0.5, note)


CLAIMS = (
    Claim(
        "rl-noise-cancels", TOPIC,
        "The noise of RL cancels as the batch grows, so its update shrinks; that of SFT does not.", GRADIENTS,
        (RL, "rl-small-batch", SFT), "1 to 64 prompts of 8 answers, 12 draws each, at the checkpoint",
        _noise,
        lambda r: {
            "rl": r["rl"]["slope"], "sft": r["sft"]["slope"],
            "rl_scale": r["rl"]["noise_scale_rollouts"], "sft_scale": r["sft"]["noise_scale_rollouts"],
        },
        _judge_noise,
        {"rl": "exponent of |G| in the batch, RL", "sft": "exponent of |G| in the batch, SFT",
         "rl_scale": "rollouts where signal equals noise, RL", "sft_scale": "rollouts where signal equals noise, SFT"},
    ),
    Claim(
        "rl-unbiased", TOPIC, "The mean of the RL update is unbiased for the reward.", GRADIENTS, (RL,),
        "baseline leave-one-out, 24 batches of 64 x 8; against rewards of 4 x 8,192 rollouts at ±0.1 and ±0.2 along "
        "the checkpoint's reward direction",
        lambda seed: {
            "slope": RewardSlope(
                settings(RL, seed, "source.prompts=64", "reward.baseline=leave-one-out"), 24, 8192, 0.1
            )
        },
        lambda r: {name: r["slope"][name] for name in ("said", "seen", "error")}, _judge_unbiased,
        {"said": "slope of reward by the policy gradient", "seen": "slope of reward by rollouts",
         "error": "standard error of the former"},
    ),
    Claim(
        "rl-sparse", TOPIC, "The signal of RL is not dense: one reward is smeared over a whole answer.", GRADIENTS,
        (RL, "rl-grpo"), SETTING,
        lambda seed: {"rl": cloud(RL, seed)},
        lambda r: {"within": reading(r["rl"], "measures.density.within_share"),
                   "silent": reading(r["rl"], "measures.density.silent_groups")},
        _judge_sparse,
        {"within": "share of the signal's variance within rollouts", "silent": "share of groups without a signal"},
        quick=True,
    ),
    Claim(
        "half-of-groups-silent", TOPIC, "Half or more of the groups of group-relative RL carry no signal.", GRADIENTS,
        ("rl-small-batch", RL), "2 x 8 and 32 x 8 rollouts at the checkpoint",
        lambda seed: {"small": Cloud(settings("rl-small-batch", seed), 30), "large": Cloud(settings(RL, seed), DRAWS)},
        lambda r: {"small": draws_at(r["small"], "none"),
                   "groups": reading(r["large"], "measures.density.silent_groups")},
        _judge_small,
        {"small": "share of two-prompt batches without a signal",
         "groups": "share of groups without a signal, 32 prompts"},
    ),
    Claim(
        "sft-dense-diffuse", TOPIC, "SFT is dense, biased to the data, and diffuse.", GRADIENTS, (SFT,), SETTING,
        lambda seed: {"sft": exact(SFT, seed), "rl": cloud(RL, seed)},
        lambda r: {
            "within": reading(r["sft"], "measures.density.within_share"),
            "coherence": reading(r["sft"], "measures.bias.coherence"),
            "coherence_rl": reading(r["rl"], "measures.bias.coherence"),
            "effective": reading(r["sft"], "measures.concentration.effective_share"),
            "top": reading(r["sft"], "measures.concentration.top1_share"),
        },
        _judge_sft,
        {"within": "share of the signal's variance within rollouts", "coherence": "coherence of SFT",
         "coherence_rl": "coherence of RL", "effective": "effective share of tokens", "top": "share of the top 1 %"},
    ),
    Claim(
        "sft-near-the-student", TOPIC, "A step of SFT is safe where the data are near the student.",
        f"{GRADIENTS}; {STATES}", (SFT, FOREIGN, "sft-rejection"), SETTING + "; runs of 100 steps of SGD at 0.3",
        lambda seed: {
            "own": cloud(SFT, seed), "foreign": cloud(FOREIGN, seed), "rejection": cloud("sft-rejection", seed),
            "own_run": named("sft", seed), "foreign_run": named("foreign", seed),
        },
        lambda r: {
            "own": reading(r["own"], "update.ratio"), "foreign": reading(r["foreign"], "update.ratio"),
            "rejection": reading(r["rejection"], "update.ratio"),
            "own_past": draws_at(r["own"], "past"), "foreign_past": draws_at(r["foreign"], "past"),
            "rejection_past": draws_at(r["rejection"], "past"),
            "own_kl": end(r["own_run"])["kl_from_start"], "foreign_kl": end(r["foreign_run"])["kl_from_start"],
            "own_held": float(held(r["own_run"])), "foreign_held": float(held(r["foreign_run"])),
        },
        _judge_near,
        {"own": "update over safe radius, own style", "foreign": "update over safe radius, foreign style",
         "rejection": "update over safe radius, the student's own right answers",
         "own_past": "share of draws past, own style", "foreign_past": "share of draws past, foreign style",
         "rejection_past": "share of draws past, the student's own right answers",
         "own_kl": "KL of the run, nats a site, own style", "foreign_kl": "KL of the run, nats a site, foreign style",
         "own_held": "held, own style (1: yes)", "foreign_held": "held, foreign style (1: yes)"},
    ),
)  # fmt: skip
