"""Claims about the contexts of a self-teacher: that each teaches what it says."""

from collections.abc import Callable, Mapping

from sim.claim import Claim, Judgement, Numbers, Rule, Seed, Spread, by_seeds
from sim.claims_runs import RUNS, end, forgotten, held, named, start
from sim.experiments import Result
from sim.sources import CONTEXTS

TOPIC = "contexts"
SETTING = "the student itself, frozen, shown the context; full forward KL, 16 x 8 rollouts, SGD at 0.3"


def _numbers(results: Mapping[str, Result]) -> Numbers:
    (result,) = results.values()
    return {
        "before": start(result)["task_accuracy"],
        "after": end(result)["task_accuracy"],
        "kl": end(result)["kl_from_start"],
        "forgotten": forgotten(end(result), start(result)),
        "held": float(held(result)),
    }


def _judge(rule: Rule) -> Callable[[Spread], Judgement]:
    def judge(spread: Spread) -> Judgement:
        note = (
            f"Accuracy goes from {spread.said('before')} to {spread.said('after')}, at {spread.said('kl')} nats a "
            f"site; {spread.said('forgotten', 3)} of the other skills is forgotten."
        )
        return by_seeds(spread, rule, note)

    return judge


def _claim(name: str, run: str, claim: str, preset: str, rule: Rule) -> Claim:
    return Claim(
        name, TOPIC, claim, CONTEXTS, (preset,), f"{SETTING}, {RUNS[run][2]} steps",
        lambda seed: {run: named(run, seed)}, _numbers, _judge(rule),
        {"before": "accuracy at the start", "after": "accuracy at the end", "kl": "KL from the start, nats a site",
         "forgotten": "mean forgetting", "held": "held (1: yes)"},
    )  # fmt: skip


def _teaches(seed: Seed) -> bool:
    return seed["after"] > 0.85 and seed["held"] == 1


def _leaves(seed: Seed) -> bool:
    return seed["after"] < seed["before"] + 0.08 and seed["held"] == 1


CLAIMS = (
    _claim("answer-key-teaches", "hinted", "Shown the answer key, the self-teacher teaches the derivation.",
           "opsd-frozen-teacher", _teaches),
    _claim("demonstration-teaches", "example", "Shown a demonstration of another problem, it teaches the method.",
           "opsd-example", _teaches),
    _claim("rule-teaches", "rule", "Shown a rule, it teaches to behave as if told.", "opsd-rule", _teaches),
    _claim("persona-teaches", "careful", "Told who to be (careful), it teaches to be so untold.", "opsd-persona",
           _teaches),
    _claim("hasty-persona-teaches", "hasty", "Told to be hasty, it does not teach the key move.", "opsd-persona",
           _leaves),
    _claim("wrong-hint-misleads", "wrong-hint", "Shown a wrong answer, it does not teach the right one.",
           "opsd-wrong-hint", _leaves),
)  # fmt: skip
