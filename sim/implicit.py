"""The implicit target of KL-regularised RL, and a policy's final answers beside it.

J(pi) = E_pi r - beta KL(pi || ref) is greatest at p* = ref exp(r / beta) / Z, since
J(pi) = -beta KL(pi || p*) + beta log Z: to raise J is to lower the reverse KL to p*.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim.errors import Cancelled, InvalidInput
from sim.frame import Reading, Undetermined
from sim.language import BOS, EOS, Problem, decode, encode
from sim.policy import Params, Policy
from sim.rng import generator
from sim.rollout import sample

Floats = NDArray[np.float64]

#: The outcome of an answer that does not close with `answer` or `result`, a number and the end mark.
NONE = "none"
ROLLOUTS = 512
#: Rollouts that are sampled at a time; between two pieces sampling can be cancelled.
PIECE = 64


@dataclass(frozen=True)
class Outcomes:
    """The final answers to one prompt, an entry an outcome: their shares, their reward, and the implicit target.

    Shares are counted over `rollouts` sampled answers of each policy, so one of p has a standard error of
    sqrt(p (1 - p) / rollouts). `target_p` is p* of the reference's shares. A reward that looks at the outcome alone
    makes this exactly the share of outcomes under the target over whole answers. In units of reward: `objective` is
    J = E r - beta KL(policy || reference) over outcomes, with E r = `expected_reward`, and `best` = beta log Z its
    greatest value. In nats: `kl_to_reference` = KL(policy || reference), and `kl_to_target` = KL(policy || target), so
    that objective = best - beta kl_to_target.
    """

    answers: tuple[str, ...]
    reward: tuple[float, ...]
    reference_p: Floats
    policy_p: Floats
    target_p: Floats
    beta: float
    rollouts: int
    expected_reward: float
    kl_to_reference: Reading
    objective: Reading
    best: float
    kl_to_target: Reading


def implicit_target(reference_p: Floats, reward: Floats, beta: float) -> tuple[Floats, float]:
    """p* = ref exp(r / beta) / Z and log Z = log sum ref exp(r / beta), by log-sum-exp; nats.

    Raises:
        InvalidInput: if beta is not above 0 or the reference is no distribution.
    """
    if not beta > 0:
        raise InvalidInput([f"beta: got {beta:g}, allowed above 0; without a pull to the reference there is no target"])
    if (reference_p < 0).any() or not np.isclose(reference_p.sum(), 1):
        raise InvalidInput(
            [f"reference: got shares that add up to {reference_p.sum():g}, allowed 0 or more that add up to 1"]
        )
    log_NV = np.full(len(reference_p), -np.inf)
    np.log(reference_p, out=log_NV, where=reference_p > 0)
    log_NV += reward / beta
    peak = log_NV.max()
    log_Z = float(peak + np.log(np.exp(log_NV - peak).sum()))
    return np.exp(log_NV - log_Z), log_Z


def divergence(policy_p: Floats, other_p: Floats) -> float:
    """KL(policy || other) = sum p log(p / q) in nats; infinite where the policy gives what the other never does."""
    some = policy_p > 0
    if (other_p[some] == 0).any():
        return float("inf")
    return max(0.0, float((policy_p[some] * np.log(policy_p[some] / other_p[some])).sum()))


def divergence_to_target(policy_p: Floats, reference_p: Floats, reward: Floats, beta: float, log_Z: float) -> float:
    """KL(policy || p*) in nats, in log space: p* of a small beta has shares that no float holds."""
    some = policy_p > 0
    log_target = np.log(reference_p[some]) + reward[some] / beta - log_Z
    return max(0.0, float((policy_p[some] * (np.log(policy_p[some]) - log_target)).sum()))


def objective(policy_p: Floats, reference_p: Floats, reward: Floats, beta: float) -> float:
    """J = E_policy r - beta KL(policy || reference), in units of reward."""
    return float(policy_p @ reward) - beta * divergence(policy_p, reference_p)


def final_answer(answer: list[str]) -> str:
    """The number that an answer closes with, after its last `answer` or `result`; NONE where it closes otherwise."""
    closes = len(answer) >= 3 and answer[-3] in ("answer", "result") and answer[-1] == EOS and answer[-2].isdigit()
    return answer[-2] if closes else NONE


def sampled_answers(
    model: Policy,
    params: Params,
    problem: Problem,
    rollouts: int = ROLLOUTS,
    seed: int = 0,
    cancel: Callable[[], bool] | None = None,
) -> Counter[str]:
    """How often each final answer came among sampled answers to one prompt, at temperature 1.

    Raises:
        Cancelled: if `cancel`, asked before each piece, says so.
    """
    prompt, rng = encode([BOS, *problem.words]), generator(seed, "outcomes")
    counts: Counter[str] = Counter()
    for done in range(0, rollouts, PIECE):
        if cancel is not None and cancel():
            raise Cancelled(f"sampling final answers: stopped after {done} of {rollouts}")
        answers = sample(model, params, [prompt] * min(PIECE, rollouts - done), rng)
        counts.update(final_answer(decode(answer)) for answer in answers)
    return counts


def compared(before: Counter[str], after: Counter[str], problem: Problem, beta: float) -> Outcomes:
    """Counted final answers of reference and policy, as many of each, and the target that beta and the reward imply.

    Raises:
        InvalidInput: if beta is not above 0.
    """
    rollouts = before.total()
    names = sorted(before.keys() | after.keys(), key=lambda name: (name == NONE, 0 if name == NONE else int(name)))
    reward = np.array([float(name == str(problem.truth)) for name in names])
    reference_p, policy_p = (np.array([counts[name] / rollouts for name in names]) for counts in (before, after))
    target_p, log_Z = implicit_target(reference_p, reward, beta)
    new = [name for name, was, now in zip(names, reference_p, policy_p, strict=True) if now > 0 and was == 0]
    J: Reading
    paid: Reading
    distance: Reading
    if new:
        J = paid = distance = Undetermined(f"the reference never gave {', '.join(new)} in {rollouts} answers")
    else:
        J, paid = objective(policy_p, reference_p, reward, beta), divergence(policy_p, reference_p)
        distance = divergence_to_target(policy_p, reference_p, reward, beta, log_Z)
    return Outcomes(
        tuple(names), tuple(reward.tolist()), reference_p, policy_p, target_p, beta, rollouts,
        float(policy_p @ reward), paid, J, beta * log_Z, distance,
    )  # fmt: skip
