"""Claims about what a run forgets, how far it moves, and where."""

from collections.abc import Callable, Mapping

from scipy.stats import spearmanr

from sim.claim import Claim, Judgement, Numbers, Rule, Seed, Spread, by_seeds, in_part
from sim.claims_runs import GOAL, RUNS, end, forgotten, held, kept, named, reached, start
from sim.experiments import Experiment, Result
from sim.sources import CONTEXTS, GRADIENTS, LENS, STATES

TOPIC = "forgetting and drift"
SETTING = "16 x 8 rollouts; SGD at 0.3 for 100 steps, Adam at 0.004 for 60 where SFT is pushed hard"
#: Two runs drift alike if the smaller of their MMD^2 is at least this share of the larger.
ALIKE = 0.75
_DRIFTED = {"stress": "stress", "rl": "rl", "student": "one-step"}


def kept_at_end(result: Result) -> float:
    """One less the mean forgetting at a run's end."""
    return kept(end(result), start(result))


def lost_at_goal(result: Result) -> float:
    """Mean forgetting at the first record that reaches the goal, or at the end of a run that never does."""
    return forgotten(reached(result, GOAL) or end(result), start(result))


def correlation(results: Mapping[str, Result]) -> Numbers:
    """Spearman's rank correlation of KL and mean forgetting over the ends of all runs, and among those that held."""
    ends = [(end(r)["kl_from_start"], forgotten(end(r), start(r)), held(r)) for r in results.values()]
    sound = [(kl, lost) for kl, lost, good in ends if good]
    return {
        "all": _spearman([(kl, lost) for kl, lost, _ in ends]),
        "held": _spearman(sound),
        "runs": float(len(ends)),
    }


def _spearman(pairs: list[tuple[float, float]]) -> float | None:
    if len(pairs) < 3 or len({lost for _, lost in pairs}) < 2:
        return None
    return float(spearmanr(*zip(*pairs, strict=True)).statistic)


def alike(results: Mapping[str, Result]) -> Numbers:
    """MMD^2 from the base's states, and retention, of SFT pushed hard, of RL and of a degraded teacher's student."""
    changes = {name: results[run]["changes"] for name, run in _DRIFTED.items()}
    return {f"{name}_mmd": c["mmd2"] for name, c in changes.items()} | {
        f"{name}_kept": c["retention"] for name, c in changes.items()
    }


def _runs(*names: str) -> Callable[[int], Mapping[str, Experiment]]:
    return lambda seed: {name: named(name, seed) for name in names}


def _all(seed: int) -> Mapping[str, Experiment]:
    return {name: named(name, seed) for name in RUNS}


def _judge_stress(spread: Spread) -> Judgement:
    note = (
        f"Mild SFT keeps {spread.said('mild')} of the other skills at accuracy {spread.said('mild_accuracy')}; "
        f"pushed hard it keeps {spread.said('stress')} at {spread.said('stress_accuracy')}."
    )
    return by_seeds(spread, lambda n: n["mild"] > 0.95 and n["stress"] < n["mild"] - 0.1, note)


def _judge_keep(spread: Spread) -> Judgement:
    note = (
        f"At the first record over {GOAL} RL has forgotten {spread.said('rl', 3)}, same-family distillation "
        f"{spread.said('opd', 3)}, SFT {spread.said('sft', 3)}, SFT in a foreign style {spread.said('foreign', 3)} "
        f"and SFT pushed hard {spread.said('stress', 3)}."
    )
    on_policy = ("rl", "opd")
    return in_part(
        spread,
        {
            "SFT pushed hard": lambda n: max(n[name] for name in on_policy) < n["stress"] - 0.05,
            "mild SFT": lambda n: max(n[name] for name in on_policy) < min(n["sft"], n["foreign"]) - 0.02,
        },
        note,
        lead="compared with",
        but="not with",
    )


def _judge_follows(spread: Spread) -> Judgement:
    note = (
        f"Over {spread.mean('runs'):.0f} runs the rank correlation of KL on the task with mean forgetting is "
        f"{spread.said('all')}; among those that did not collapse {spread.said('held')}."
    )
    parts: Mapping[str, Rule] = {
        "collapsed runs too": lambda n: n["all"] > 0.5,
        "runs that hold alone": lambda n: n["held"] > 0.5,
    }
    return in_part(spread, parts, note, lead="one counts", but="not")


def _judge_alike(spread: Spread) -> Judgement:
    note = (
        f"SFT pushed hard, RL, and distillation from the over-trained teacher drift by an MMD^2 of "
        f"{spread.said('stress_mmd', 4)}, {spread.said('rl_mmd', 4)} and {spread.said('student_mmd', 4)}; they keep "
        f"{spread.said('stress_kept')}, {spread.said('rl_kept')} and {spread.said('student_kept')} of the other skills."
    )

    def rule(n: Seed) -> bool:
        drifts = [n[f"{name}_mmd"] for name in _DRIFTED]
        return min(drifts) > ALIKE * max(drifts) and n["stress_kept"] < min(n["rl_kept"], n["student_kept"]) - 0.1

    return by_seeds(spread, rule, note)


def _judge_sparse(spread: Spread) -> Judgement:
    note = (
        f"RL changes {spread.percent('rl_any')} of the parameters by more than a hundred-thousandth of themselves, "
        f"SFT {spread.percent('sft_any')}; by more than a hundredth {spread.percent('rl')} and "
        f"{spread.percent('sft')}. The changes' effective rank is {spread.percent('rl_rank')} of the full one "
        f"for RL and {spread.percent('sft_rank')} for SFT."
    )
    return in_part(
        spread,
        {
            "changes over a hundredth": lambda n: n["rl"] < 0.8 * n["sft"],
            "every change": lambda n: n["rl_any"] < 0.8 * n["sft_any"],
            "the rank": lambda n: n["rl_rank"] > 0.9,
        },
        note,
        lead="it speaks of",
        but="not of",
    )


def _judge_guards(spread: Spread) -> Judgement:
    note = (
        f"SFT pushed hard keeps {spread.said('stress')} of the other skills; with a quarter of replay "
        f"{spread.said('replay')}; anchored (DFT and a forward KL of weight 0.1) {spread.said('anchored')}, of which "
        f"DFT alone {spread.said('dft')}. Their accuracies are {spread.said('stress_accuracy')}, "
        f"{spread.said('replay_accuracy')}, {spread.said('anchored_accuracy')} and {spread.said('dft_accuracy')}."
    )
    return in_part(
        spread,
        {
            "replayed": lambda n: n["replay"] > n["stress"] + 0.05,
            "anchored": lambda n: n["anchored"] > n["stress"] + 0.05,
        },
        note,
        lead="it is",
        but="not",
    )


def _kept_and_accuracy(results: Mapping[str, Result]) -> Numbers:
    at_end = {name: kept_at_end(result) for name, result in results.items()}
    return at_end | {f"{name}_accuracy": end(result)["task_accuracy"] for name, result in results.items()}


CLAIMS = (
    Claim(
        "stress-sft-forgets", TOPIC, "Mild SFT keeps the other skills, and SFT pushed hard does not.", STATES,
        ("sft-fan", "sft-stress"), SETTING, _runs("sft", "stress"),
        lambda r: {
            "mild": kept_at_end(r["sft"]), "stress": kept_at_end(r["stress"]),
            "mild_accuracy": end(r["sft"])["task_accuracy"], "stress_accuracy": end(r["stress"])["task_accuracy"],
        },
        _judge_stress,
        {"mild": "skills kept, mild SFT", "stress": "skills kept, SFT pushed hard",
         "mild_accuracy": "accuracy, mild SFT", "stress_accuracy": "accuracy, SFT pushed hard"},
    ),
    Claim(
        "on-policy-keeps-skills", TOPIC, "On-policy methods keep the other skills for the same gain.",
        f"{LENS}; {STATES}", ("rl-noise-cancels", "opd-same-family", "sft-fan", "sft-foreign-style", "sft-stress"),
        f"mean forgetting at the first record over {GOAL}, or at the end; {SETTING}; same-family distillation "
        "by Adam at 0.0003",
        _runs("rl", "opd-adam", "sft", "foreign", "stress"),
        lambda r: {name.removesuffix("-adam"): lost_at_goal(result) for name, result in r.items()}, _judge_keep,
        {"rl": "forgotten, RL", "opd": "forgotten, same-family distillation", "sft": "forgotten, SFT",
         "foreign": "forgotten, foreign SFT", "stress": "forgotten, SFT pushed hard"},
    ),
    Claim(
        "forgetting-follows-kl", TOPIC, "Forgetting follows the KL on the new task.", CONTEXTS,
        ("sft-stress", "sft-fan"), "the ends of all the runs of this ledger that have names", _all, correlation,
        _judge_follows,
        {"all": "rank correlation, all runs", "held": "rank correlation, runs that did not collapse", "runs": "runs"},
    ),
    Claim(
        "drift-is-not-retention", TOPIC, "Runs that drift alike by MMD may differ in what they keep.", STATES,
        ("sft-stress", "rl-noise-cancels", "opd-one-step"),
        "states of 96 prompts' answers; 16 x 8 rollouts; RL 100 and distillation 60 steps of SGD at 0.3, SFT 60 of "
        "Adam at 0.004",
        _runs(*_DRIFTED.values()), alike, _judge_alike,
        {"stress_mmd": "MMD^2, SFT pushed hard", "rl_mmd": "MMD^2, RL", "student_mmd": "MMD^2, distillation",
         "stress_kept": "retention, SFT pushed hard", "rl_kept": "retention, RL",
         "student_kept": "retention, distillation"},
    ),
    Claim(
        "rl-changes-fewer-parameters", TOPIC, "RL changes fewer parameters than SFT, at nearly full rank.",
        f"{LENS}; {GRADIENTS}", ("rl-noise-cancels", "sft-fan"),
        "16 x 8 rollouts, 100 steps of SGD at 0.3", _runs("rl", "sft"),
        lambda r: {
            f"{name}{part}": value
            for name in ("rl", "sft")
            for part, value in (
                ("", r[name]["changes"]["changed"]["0.01"]), ("_any", r[name]["changes"]["changed"]["1e-05"]),
                ("_rank", r[name]["changes"]["rank_share"]),
            )
        },
        _judge_sparse,
        {"rl": "changed by over 1 %, RL", "rl_any": "changed by over 0.001 %, RL",
         "rl_rank": "effective rank over full, RL", "sft": "changed by over 1 %, SFT",
         "sft_any": "changed by over 0.001 %, SFT", "sft_rank": "effective rank over full, SFT"},
    ),
    Claim(
        "anchor-and-replay", TOPIC, "An anchored or a replayed SFT forgets less.", CONTEXTS,
        ("sft-anchored", "sft-replay", "sft-stress"), "Adam at 0.004, 60 steps of 16 x 8",
        _runs("stress", "replay", "anchored", "dft"), _kept_and_accuracy, _judge_guards,
        {name: f"skills kept, {name}" for name in ("stress", "replay", "anchored", "dft")}
        | {f"{name}_accuracy": f"accuracy, {name}" for name in ("stress", "replay", "anchored", "dft")},
    ),
)  # fmt: skip
