"""Claims about what a run reaches, and at what price."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from sim.changes import kl_per_point
from sim.claim import Claim, Judgement, Spread, by_seeds, in_part, settings
from sim.claims_runs import GOAL, config, end, kept, named, reached, start
from sim.experiments import DataAccuracy, Result, Run, Shipped, Solved, plain
from sim.implicit import implicit_target
from sim.plan import Phase
from sim.sources import GRADIENTS, KL_VIEW, LENS, STATES

TOPIC = "what a run reaches"
#: Words of a prompt, begin mark included.
PROMPT = 8
#: A forward pass of a token, and a backward pass, in forward passes.
FORWARD, BACKWARD = 1, 2
#: Parameters of the same-family teacher over the student's.
TEACHER = 2.77
ROLLOUTS = 128


def compute(result: Result, accuracy: float, teacher: float) -> float | None:
    """Millions of student-token forward passes until a run's first record that is so accurate; None if it never is.

    A step samples each token (one pass), and runs the student forward and backward on it, and the teacher forward.
    """
    there = reached(result, accuracy)
    if there is None:
        return None
    records = [each for each in result["records"] if each["step"] <= there["step"]]
    tokens = ROLLOUTS * (PROMPT + float(np.mean([each["answer_length"] for each in records])))
    return there["step"] * tokens * (FORWARD + FORWARD + BACKWARD + FORWARD * teacher) / 1e6


def steepest(result: Result) -> float:
    """The largest fall of entropy between two records, in nats."""
    entropy = [each["entropy"] for each in result["records"]]
    return float(max(before - after for before, after in pairwise(entropy)))


def fall(result: Result) -> float:
    """How far entropy ends below where it began, in nats."""
    return float(start(result)["entropy"] - end(result)["entropy"])


def objective(record: Mapping[str, Any], beta: float) -> float:
    """J = E r - beta KL(pi || ref) of whole answers: the KL a site times the answer's length."""
    return float(record["task_accuracy"] - beta * record["kl_from_start"] * record["answer_length"])


def _best(solved: Result, beta: float) -> float:
    """The mean over prompts of beta log Z, for a reward of 0 or 1; half an answer is added to the right and the wrong.

    Not beta log Z of the mean accuracy, which is larger: no policy can move probability from prompt to prompt.
    """
    n = solved["rollouts"]
    shares = [(right + 0.5) / (n + 1) for right in solved["right"]]
    logs = [implicit_target(np.array([p, 1 - p]), np.array([1.0, 0.0]), beta)[1] for p in shares]
    return beta * float(np.mean(logs))


def _judge_ceiling(spread: Spread) -> Judgement:
    note = (
        f"The data are right in {spread.said('data')} of their answers. SFT on them ends at {spread.said('sft')}; RL "
        f"from the same start at {spread.said('rl')}."
    )
    return by_seeds(spread, lambda n: abs(n["sft"] - n["data"]) < 0.08 and n["rl"] > n["data"] + 0.1, note)


def _judge_order(spread: Spread) -> Judgement:
    note = (
        f"After 60 steps of 128 answers: SFT alone {spread.said('sft')}, RL alone {spread.said('rl')}, 30 of SFT "
        f"then 30 of RL {spread.said('both')}; with data that are always right SFT alone reaches "
        f"{spread.said('sft_right')}."
    )
    right = "the data's writer is fallible (with right data SFT alone is as good)"
    found = by_seeds(spread, lambda n: n["both"] > max(n["sft"], n["rl"]) + 0.01, note)
    if found.verdict == "holds here" and spread.mean("sft_right") > spread.mean("both") - 0.02:
        return Judgement("holds only when", note, right)
    return found


def _judge_compute(spread: Spread) -> Judgement:
    note = (
        f"To accuracy {GOAL} same-family distillation takes {spread.said('opd')} million token passes, RL "
        f"{spread.said('rl')}, and the hinted self with a frozen teacher {spread.said('hinted')}; records are 5 steps "
        f"apart. The published factors of 9 to 30 compare with SFT whose data "
        f"the teacher must write first; here is RL."
    )
    return by_seeds(spread, lambda n: n["opd"] < (n["rl"] if n.has("rl") else math.inf), note)


def _judge_surpass(spread: Spread) -> Judgement:
    note = (
        f"The over-trained teacher solves {spread.said('teacher')} of the problems and has kept "
        f"{spread.said('teacher_kept')} of the other skills; its student solves {spread.said('student')} and keeps "
        f"{spread.said('student_kept')}."
    )
    return in_part(
        spread,
        {
            "the other skills": lambda n: n["student_kept"] > n["teacher_kept"] + 0.05,
            "the task, which this teacher has not lost": lambda n: n["student"] > n["teacher"],
        },
        note,
        lead="it speaks of",
        but="not of",
    )


def _judge_entropy(spread: Spread) -> Judgement:
    note = (
        f"Over 100 steps entropy falls by {spread.said('opd_fall', 3)} nats under reverse-KL distillation (below 0 it "
        f"rises) and by {spread.said('rl_fall', 3)} under RL; the steepest fall in 5 steps is "
        f"{spread.said('opd', 3)} and {spread.said('rl', 3)}."
    )
    return by_seeds(spread, lambda n: n["opd"] > 1.5 * n["rl"] and n["opd_fall"] > 0.05, note)


def _judge_identity(spread: Spread) -> Judgement:
    note = (
        f"With beta 0.05 the objective E r - beta KL rises from {spread.said('first')} to {spread.said('last')}, of "
        f"{spread.said('best')}, what the target ref exp(r / beta) earns: beta log Z, the mean over prompts."
    )
    return by_seeds(spread, lambda n: n["first"] + 0.2 < n["last"] <= n["best"] + 0.05, note)


def _judge_frontier(spread: Spread) -> Judgement:
    note = (
        f"At the first record over {GOAL}, nats a site for each point gained: RL {spread.said('rl', 4)}, same-family "
        f"distillation {spread.said('opd', 4)}, hinted self {spread.said('hinted', 4)}, SFT "
        f"{spread.said('sft', 4)}, foreign SFT {spread.said('foreign', 4)}."
    )
    return by_seeds(spread, lambda n: n["rl"] <= min(n[name] for name in ("opd", "hinted", "sft", "foreign")), note)


def price(result: Result) -> float | None:
    """KL spent for each point of accuracy gained, at the first record that reaches the goal."""
    there = reached(result, GOAL)
    if there is None:
        return None
    return plain(kl_per_point(there["kl_from_start"], start(result)["task_accuracy"], there["task_accuracy"]))


def _phases(seed: int) -> Run:
    rl = settings("rl-noise-cancels", seed, "source.prompts=16")
    return Run((Phase(settings("sft-ceiling", seed), 30), Phase(rl, 30)), every=10)


CLAIMS = (
    Claim(
        "sft-caps-at-its-teacher", TOPIC, "SFT caps at its teacher, and RL does not.", GRADIENTS,
        ("sft-ceiling", "rl-noise-cancels"), "the data make the key move in half of the problems; 16 x 8, 100 steps",
        lambda seed: {
            "data": DataAccuracy(config("ceiling", seed)), "sft": named("ceiling", seed), "rl": named("rl", seed)
        },
        lambda r: {"data": r["data"]["accuracy"], "sft": end(r["sft"])["task_accuracy"],
                   "rl": end(r["rl"])["task_accuracy"]},
        _judge_ceiling, {"data": "accuracy of the data", "sft": "accuracy after SFT", "rl": "accuracy after RL"},
    ),
    Claim(
        "sft-then-rl", TOPIC, "SFT first, then RL, beats either alone for the same number of samples.", GRADIENTS,
        ("sft-ceiling", "rl-noise-cancels", "sft-fan"), "60 steps of 16 x 8 answers in all; SGD at 0.3",
        lambda seed: {"sft": named("ceiling", seed), "rl": named("rl", seed), "both": _phases(seed),
                      "sft_right": named("sft", seed)},
        lambda r: {name: _at(r[name], 60) for name in ("sft", "rl", "both", "sft_right")}, _judge_order,
        {"sft": "accuracy, SFT alone", "rl": "accuracy, RL alone", "both": "accuracy, SFT then RL",
         "sft_right": "accuracy, SFT on data that are always right"},
    ),
    Claim(
        "distillation-needs-less-compute", TOPIC,
        "On-policy distillation needs less compute than RL for the same accuracy.", GRADIENTS,
        ("opd-same-family", "rl-noise-cancels", "opsd-frozen-teacher"),
        f"millions of student forward passes of a token until accuracy {GOAL}: sampling 1, training 3, the larger "
        f"teacher {TEACHER}; Adam at 0.0003, 16 x 8 rollouts, a record every 5 steps",
        lambda seed: {name: named(f"{name}-adam", seed) for name in ("opd", "rl", "hinted")},
        lambda r: {"opd": compute(r["opd"], GOAL, TEACHER), "rl": compute(r["rl"], GOAL, 0),
                   "hinted": compute(r["hinted"], GOAL, 1)},
        _judge_compute,
        {"opd": "million passes, same-family distillation", "rl": "million passes, RL",
         "hinted": "million passes, hinted self, frozen teacher"},
    ),
    Claim(
        "student-surpasses-teacher", TOPIC, "A student surpasses its degraded teacher.", STATES, ("opd-one-step",),
        "over-trained teacher, full forward KL at the student's own prefixes, 60 steps",
        lambda seed: {"student": named("one-step", seed), "teacher": Shipped("over-trained"), "base": Shipped("base")},
        lambda r: {
            "student": end(r["student"])["task_accuracy"], "teacher": r["teacher"]["task_accuracy"],
            "student_kept": kept(end(r["student"]), start(r["student"])),
            "teacher_kept": kept(r["teacher"], r["base"]),
        },
        _judge_surpass,
        {"student": "student's accuracy", "teacher": "teacher's accuracy", "student_kept": "student's other skills",
         "teacher_kept": "teacher's other skills"},
    ),
    Claim(
        "reverse-kl-drops-entropy", TOPIC, "Reverse-KL distillation lowers entropy abruptly, RL gradually.", LENS,
        ("opd-same-family", "rl-noise-cancels"), "Adam at 0.0003, 16 x 8 rollouts, 100 steps, a record every 5",
        lambda seed: {name: named(f"{name}-adam", seed) for name in ("opd", "rl")},
        lambda r: {
            "opd": steepest(r["opd"]), "rl": steepest(r["rl"]), "opd_fall": fall(r["opd"]), "rl_fall": fall(r["rl"])
        },
        _judge_entropy,
        {"opd": "steepest fall in 5 steps, nats, distillation", "rl": "steepest fall in 5 steps, nats, RL",
         "opd_fall": "fall of entropy, nats, distillation", "rl_fall": "fall of entropy, nats, RL"},
    ),
    Claim(
        "kl-regularised-target", TOPIC,
        "RL with a KL to the reference climbs towards ref exp(reward / beta), whose value is beta log Z.", KL_VIEW,
        ("rl-kl-regularised",), "beta 0.05 a whole answer, 16 x 8 rollouts, 100 steps",
        lambda seed: {"run": named("rl-kl", seed), "solved": Solved(256)},
        lambda r: {"first": objective(start(r["run"]), 0.05), "last": objective(end(r["run"]), 0.05),
                   "best": _best(r["solved"], 0.05)},
        _judge_identity,
        {"first": "J at the start", "last": "J after 100 steps", "best": "beta log Z, mean over prompts"},
    ),
    Claim(
        "rl-spends-least-kl", TOPIC, "For the same gain RL moves the policy least.", f"{LENS}; {GRADIENTS}",
        ("rl-noise-cancels", "opd-same-family", "sft-fan"),
        f"KL a site over points gained, at the first record over {GOAL}; SGD at 0.3, distillation Adam at 0.0003",
        lambda seed: {
            "opd": named("opd-adam", seed), **{name: named(name, seed) for name in ("rl", "hinted", "sft", "foreign")}
        },
        lambda r: {name: price(result) for name, result in r.items()}, _judge_frontier,
        {"rl": "nats a point, RL", "opd": "nats a point, same-family distillation",
         "hinted": "nats a point, hinted self", "sft": "nats a point, SFT", "foreign": "nats a point, foreign SFT"},
    ),
)  # fmt: skip


def _at(result: Result, step: int) -> float:
    return float(next(each["task_accuracy"] for each in result["records"] if each["step"] == step))
