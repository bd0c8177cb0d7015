"""The implicit target beside the reference and the student, for one prompt, and the identity in numbers."""

from pathlib import Path
from typing import Any

import param

from app import theme
from app.numbers import significant
from app.target import ImplicitTarget, absent
from app.views.messages import Component, said
from app.views.script import script
from sim.frame import Undetermined
from sim.implicit import NONE, ROLLOUTS, Outcomes
from sim.language import Problem

_HERE = Path(__file__).with_suffix("")
#: An answer that has less than this under all three has no bars of its own, unless it is the right one.
RARE = 0.01
#: The greatest standard error of a share, sqrt(p (1 - p) / n) at p = 1/2.
_ERROR = 0.5 / ROLLOUTS**0.5
_TEXT = f"""Reward, less β for each nat of KL to the reference, has one best policy, which can be written down before
any step: each answer has the reference's share times exp(reward / β), scaled so that the shares add up to 1. To raise
this objective is to lower the reverse KL to that target. So RL with a price on KL is distillation from a teacher that
nobody trained. A small β puts nearly all of the target on right answers; a large one leaves the reference as it is.
Shares are counted over {ROLLOUTS} answers that each policy samples from the same random numbers; one has a standard
error of at most {significant(_ERROR, 2)}. J and KL are over final answers."""


class Target(Component):
    """The section of the page: a line that says why there is no target, or three bars an answer, once it is opened."""

    none = param.String(default="", doc="why these settings, which have a reference, have no target")
    shown = param.Boolean(default=False, doc="whether they have one")
    text = param.String(default=" ".join(_TEXT.split()), constant=True)
    status = param.String(default="", doc="what is being done, or why nothing is")
    failure = param.String(default="")
    stale = param.Boolean(default=False, doc="whether the bars are of what was on show before")
    keep = param.Boolean(default=False)
    result = param.Dict(default={}, doc="prompt, bars and identity, in words and numbers; empty before there are any")

    _esm = script(_HERE)
    _stylesheets = [theme.BASE, _HERE.with_suffix(".css").read_text("utf-8")]  # noqa: RUF012

    def __init__(self, target: ImplicitTarget, **params: Any) -> None:
        super().__init__(**params)
        self._target = target
        target.session.param.watch(self._follow, ["frame", "playing"])
        target.param.watch(self._follow, ["opened", "keep", "wanted", "found", "busy", "failure"])
        self._follow()

    def _follow(self, *_: Any) -> None:
        target, frame = self._target, self._target.session.frame
        if frame is None:
            return
        none = absent(frame.config)
        self.param.update(
            # Who has not asked for a reference need not be told that there is no target.
            none=none if frame.config.reference.beta > 0 else "",
            shown=not none,
            status="" if none else status(target),
            failure=target.failure,
            stale=target.wanted != target.found_for,
            keep=target.keep,
            result={} if target.found is None or target.found_for is None
            else result(target.found, target.found_for.problem, target.found_for.path.length),
        )  # fmt: skip

    def _handle_msg(self, data: Any) -> None:
        opened, keep = said(data, "open", bool), said(data, "keep", bool)
        if opened is not None:
            self._target.opened = opened
        if keep is not None:
            self._target.keep = keep


def status(target: ImplicitTarget) -> str:
    """What an opened section is doing, in words."""
    if not target.opened:
        return ""
    if target.busy and target.wanted is not None:
        return f"Sampling {ROLLOUTS} answers of each policy to {asked(target.wanted.problem)}"
    return target.waits


def asked(problem: Problem) -> str:
    """A prompt as the page writes it."""
    return " ".join(problem.words)


def result(found: Outcomes, problem: Problem, step: int) -> dict[str, Any]:
    """Outcomes as the section shows them."""
    return {
        "prompt": asked(problem),
        "when": f"after {step} step{'s' * (step != 1)}" if step else "at the start",
        "bars": bars(found, problem),
        "identity": identity(found),
        "note": note(found, problem),
    }


def bars(found: Outcomes, problem: Problem) -> list[dict[str, Any]]:
    """Three shares an answer, with their numbers; rare answers as one."""
    shares = list(zip(found.reference_p.tolist(), found.policy_p.tolist(), found.target_p.tolist(), strict=True))
    right = str(problem.truth)
    kept = [index for index, name in enumerate(found.answers) if name == right or max(shares[index]) >= RARE]
    rows = [(_named(found.answers[index]), found.answers[index] == right, shares[index]) for index in kept]
    rare = [shares[index] for index in range(len(shares)) if index not in kept]
    if rare:
        together = (sum(each[0] for each in rare), sum(each[1] for each in rare), sum(each[2] for each in rare))
        rows.append((f"{len(rare)} rare", False, together))
    return [
        {"answer": name, "right": good, "shares": [[value, significant(value)] for value in three]}
        for name, good, three in rows
    ]


def identity(found: Outcomes) -> list[dict[str, str]]:
    """J, its best value, and the best value less what the student lies from the target: each with its parts."""
    beta, J, paid, distance = found.beta, found.objective, found.kl_to_reference, found.kl_to_target
    best = significant(found.best)
    now, parts = "–", ""
    if isinstance(J, Undetermined) or isinstance(paid, Undetermined) or isinstance(distance, Undetermined):
        same, rest = "–", ""
        parts = rest = J.reason if isinstance(J, Undetermined) else ""
    else:
        now, parts = significant(J), f"{significant(found.expected_reward)} − {significant(beta * paid)}"
        same, rest = significant(found.best - beta * distance), f"{best} − {significant(beta * distance)}"
    return [
        {"name": "J now", "rule": "E r − β KL(student ‖ reference)", "value": now, "parts": parts},
        {"name": "The best", "rule": "β log Z, the target's J", "value": best, "parts": f"β = {significant(beta)}"},
        {"name": "By the identity", "rule": "β log Z − β KL(student ‖ target)", "value": same, "parts": rest},
    ]


def note(found: Outcomes, problem: Problem) -> str:
    """What is to be known of these outcomes, if anything is."""
    given = dict(zip(found.answers, found.reference_p.tolist(), strict=True))
    if given.get(str(problem.truth), 0) == 0:
        return (
            f"The reference never gave the right answer, {problem.truth}, in {found.rollouts} answers: "
            "as counted here the target has none of it either."
        )
    return ""


def _named(answer: str) -> str:
    return "no answer" if answer == NONE else answer
