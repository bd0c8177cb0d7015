"""Claims about one step under a teacher: where distillation pulls, and what a clip makes of it."""

from collections.abc import Mapping

from sim.claim import Claim, Judgement, Rule, Spread, by_seeds, in_part, settings
from sim.claims_clouds import CROSS, DRAWS, HINTED, SAME, SETTING, SFT, TOPIC, cloud, exact, is_diffuse, reading
from sim.probes import ClampedArrows
from sim.sources import GRADIENTS, LENS
from sim.words import CONCENTRATED, DENSE


def _judge_same(spread: Spread) -> Judgement:
    note = (
        f"Within rollouts lie {spread.percent('within')} of the signal's variance; the effective share of tokens is "
        f"{spread.said('effective')}, and the strongest 1 % carry {spread.percent('top')} of the update. A token scale "
        f"of 0.05 nats leaves {spread.said('clip')} of its length, {spread.said('clip_hinted')} of the hinted self's."
    )
    return in_part(
        spread, {"dense": lambda n: n["within"] > DENSE, "diffuse": is_diffuse}, note, lead="it says", but="not"
    )


def _judge_cross(spread: Spread) -> Judgement:
    note = (
        f"Sites where a word of style was written carry {spread.percent('cross')} of the cross-family update and "
        f"{spread.percent('same')} of the same-family one; they are {spread.percent('sites')} of the sites. Its cosine "
        f"with the reward gradient is {spread.said('cross_cosine')}, against {spread.said('same_cosine')}."
    )
    return by_seeds(spread, lambda n: n["cross"] > 0.5 and n["cross"] > n["same"] and n["cross_cosine"] < 0.1, note)


def _judge_pivots(spread: Spread) -> Judgement:
    note = (
        f"By the lengths of its arrows {spread.percent('effective')} of the tokens would do as well (SFT: "
        f"{spread.percent('effective_sft')}, same family: {spread.percent('effective_same')}); a token scale leaves "
        f"{spread.percent('clip')} of the update (same family: {spread.percent('clip_same')}). Of the update itself "
        f"the strongest 1 % of tokens carry {spread.percent('top')} (SFT: {spread.percent('top_sft')}, same family: "
        f"{spread.percent('top_same')})."
    )
    parts: Mapping[str, Rule] = {
        "the lengths of arrows": lambda n: n["effective"] < CONCENTRATED and n["effective"] < 0.5 * n["effective_sft"],
        "what a clip takes": lambda n: n["clip"] < 0.25 * n["clip_same"],
        "shares of the update": lambda n: n["top"] > max(n["top_sft"], n["top_same"]),
    }
    return in_part(spread, parts, note, lead="it speaks of", but="not of")


def _judge_style(spread: Spread) -> Judgement:
    note = (
        f"Under the hint a site where a style word was written carries {spread.said('style')} nats, and one of a "
        f"number or sign {spread.said('arithmetic')}; under the same-family teacher {spread.said('style_same')} and "
        f"{spread.said('arithmetic_same')}."
    )
    return by_seeds(spread, lambda n: n["style"] > n["arithmetic"], note)


def _judge_clamp(spread: Spread) -> Judgement:
    note = (
        f"Of the arrows that the entry clamp touches, {spread.percent('turned')} point against their own "
        f"direction; the update's cosine with the unclamped one is {spread.said('update')}, that of the longest "
        f"arrow {spread.said('pivot')}."
    )
    return by_seeds(spread, lambda n: n["turned"] > 0.05, note)


CLAIMS = (
    Claim(
        "same-family-diffuse", TOPIC, "Distillation from a teacher of the same family is dense and diffuse.", GRADIENTS,
        (SAME,), SETTING,
        lambda seed: {"same": exact(SAME, seed), "hinted": exact(HINTED, seed)},
        lambda r: {
            "within": reading(r["same"], "measures.density.within_share"),
            "effective": reading(r["same"], "measures.concentration.effective_share"),
            "top": reading(r["same"], "measures.concentration.top1_share"),
            "clip": reading(r["same"], "update.clip_ratio"), "clip_hinted": reading(r["hinted"], "update.clip_ratio"),
        },
        _judge_same,
        {"within": "share of the signal's variance within rollouts", "effective": "effective share of tokens",
         "top": "share of the top 1 %", "clip": "length left by a token scale",
         "clip_hinted": "length left by a token scale, hinted self"},
    ),
    Claim(
        "cross-family-wording", TOPIC, "A teacher of another family pulls at wording, not at reasoning.", GRADIENTS,
        (CROSS, SAME), SETTING,
        lambda seed: {"cross": cloud(CROSS, seed), "same": cloud(SAME, seed)},
        lambda r: {
            "cross": r["cross"]["words"]["share_style"], "same": r["same"]["words"]["share_style"],
            "sites": r["cross"]["words"]["sites_style"],
            "cross_cosine": reading(r["cross"], "update.reward_cosine"),
            "same_cosine": reading(r["same"], "update.reward_cosine"),
        },
        _judge_cross,
        {"cross": "share of the update at sites of style words, other family",
         "same": "share of the update at sites of style words, same family",
         "sites": "share of the sites where a style word was written",
         "cross_cosine": "cosine with the reward gradient, other family",
         "same_cosine": "cosine with the reward gradient, same family"},
        quick=True,
    ),
    Claim(
        "hinted-pivots", TOPIC, "The hinted self's pull is concentrated on a few pivots.", GRADIENTS,
        (HINTED, SAME, SFT), SETTING,
        lambda seed: {"": exact(HINTED, seed), "_same": exact(SAME, seed), "_sft": exact(SFT, seed)},
        lambda r: {
            f"{name}{whose}": reading(result, path)
            for name, path in (
                ("effective", "measures.concentration.effective_share"),
                ("top", "measures.concentration.top1_share"),
                ("clip", "update.clip_ratio"),
            )
            for whose, result in r.items()
            if (name, whose) != ("clip", "_sft")
        },
        _judge_pivots,
        {"effective": "effective share of tokens, hinted self", "effective_same": "effective share, same family",
         "effective_sft": "effective share, SFT", "top": "share of the top 1 %, hinted self",
         "top_same": "share of the top 1 %, same family", "top_sft": "share of the top 1 %, SFT",
         "clip": "length left by a token scale, hinted self", "clip_same": "length left by a token scale, same family"},
    ),
    Claim(
        "hinted-style-words", TOPIC, "Under a hinted teacher words of style carry more KL than arithmetic.", LENS,
        (HINTED, SAME), SETTING + "; reverse KL",
        lambda seed: {"hinted": cloud(HINTED, seed, "teacher.divergence=reverse"), "same": cloud(SAME, seed)},
        lambda r: {
            "style": r["hinted"]["words"]["kl_style"], "arithmetic": r["hinted"]["words"]["kl_arithmetic"],
            "style_same": r["same"]["words"]["kl_style"], "arithmetic_same": r["same"]["words"]["kl_arithmetic"],
        },
        _judge_style,
        {"style": "nats at sites of style words, hinted self", "arithmetic": "nats at numbers and signs, hinted self",
         "style_same": "nats at sites of style words, same family",
         "arithmetic_same": "nats at numbers and signs, same family"},
        quick=True,
    ),
    Claim(
        "entry-clamp-turns", TOPIC, "Clamping vocabulary entries can turn an arrow round.", GRADIENTS,
        ("opsd-entry-clamp", "opsd-clipped"), "hinted self, forward KL, entry clamp at 0.05, 16 x 8 rollouts",
        lambda seed: {"clamp": ClampedArrows(settings("opsd-entry-clamp", seed), DRAWS)},
        lambda r: {"turned": r["clamp"]["turned"], "pivot": r["clamp"]["pivot_cosine"],
                   "update": r["clamp"]["update_cosine"]},
        _judge_clamp,
        {"turned": "share of clamped arrows that turn round",
         "pivot": "cosine of the longest arrow with itself unclamped",
         "update": "cosine of the update with itself unclamped"},
        quick=True,
    ),
)  # fmt: skip
