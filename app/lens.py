"""The batch as text: answers in the order of their pull, and all that is known of a token, in words.

Pure functions of a frame. A token's place in the frame (its site) is what lens, picture and table agree on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.numbers import percent, significant
from app.picture import read, spoken
from app.shading import clause, nats, percentage
from sim.frame import Frame, Rollout, Sites, Undetermined, site_reasons
from sim.projection import held

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Answers that are shown at first and that each press of "more" adds, and how many are shown at most.
AT_ONCE, MOST = 12, 60
#: Words that the tail of a prefix has at least, where there are so many, and at most.
TAIL, LONGEST_TAIL = 4, 10
_SIGNS = frozenset("+*=?:;")


@dataclass(frozen=True)
class Answer:
    """A rollout as the lens shows it: its place in the order of pull, and its words, with the site of each that is one.

    `verdict` is right, wrong, or "" for a reward between; `facts` is all that is said of it; `pull` how much of
    the update it is.
    """

    rollout: int
    place: int
    prompt: str
    words: tuple[tuple[str, int | None], ...]
    verdict: str
    facts: str
    pull: str


def ranked(frame: Frame) -> Integers:
    """The rollouts, those first that pull most: by summed |share|, or |signal| where shares are undetermined."""
    totals = np.bincount(frame.sites.sequence, _weights(frame), len(frame.rollouts))
    return np.argsort(-totals, kind="stable")


def answers(frame: Frame, count: int) -> list[Answer]:
    """The first answers in the order of their pull."""
    weights_N = _weights(frame)
    return [_answer(frame, int(rollout), place, weights_N) for place, rollout in enumerate(ranked(frame)[:count], 1)]


def beyond(frame: Frame, shown: Sequence[Answer], site: int | None) -> list[Answer]:
    """The answer of a site, if it is not among those shown."""
    if site is None or any(each.rollout == frame.sites.sequence[site] for each in shown):
        return []
    return [_answer(frame, int(frame.sites.sequence[site]), _place(frame, site), _weights(frame))]


def sites_of(shown: Sequence[Answer]) -> list[int]:
    """The sites of answers, in the order of their words."""
    return [site for answer in shown for _, site in answer.words if site is not None]


@lru_cache(1 << 15)
def tail(prefix: str) -> str:
    """The end of a prefix, from the word that begins its last phrase: not a number and not a sign."""
    words = read(prefix)
    for count in range(min(TAIL, len(words)), min(LONGEST_TAIL, len(words)) + 1):
        first = words[-count] if count else ""
        if not first.isdigit() and first not in _SIGNS:
            return " ".join(words[-count:]) if count else ""
    return " ".join(words[-LONGEST_TAIL:])


def named(frame: Frame, site: int) -> str:
    """A token and where it stands, in words."""
    before = tail(frame.sites.prefix[site])
    return f"“{spoken(frame.sites.text[site])}”" + (f" after “{before}”" if before else "")


def elsewhere(frame: Frame, site: int, shown: int) -> str:
    """That a token's answer is not among those shown, in words."""
    return (
        f"{named(frame, site)} stands in answer {_place(frame, site):,} of {len(frame.rollouts):,}; {shown:,} are shown"
    )


def counted(frame: Frame, shown: Sequence[Answer], count: int) -> str:
    """How many of the answers are shown, and which."""
    total, by = len(frame.rollouts), "pull" if _has_shares(frame.sites) else "signal"
    if count >= total:
        return f"all {total:,} answers, the strongest {by} first"
    added = " and the selected token's" if len(shown) > count else ""
    no_more = "; more are not shown at once" if count >= MOST else ""
    return f"{count:,} of {total:,} answers: those of the strongest {by}{added}{no_more}"


def details(frame: Frame, site: int) -> list[str]:
    """All that is known of a token, in phrases."""
    sites, reasons = frame.sites, site_reasons(frame.config)
    word, raised = spoken(sites.text[site]), spoken(sites.raised[site])

    def value(column: str, write: Callable[[float], str] = significant) -> str:
        values = getattr(sites, column)
        known = values is not None and values[site] == values[site]
        return write(float(values[site])) if known else f"undetermined ({reasons[column]})"

    phrases = [f"student gives it {value('student_p')}", f"teacher gives it {value('teacher_p')}"]
    if raised == word:
        phrases.append("its step raises the word itself most")
    elif raised:
        given = f"student {value('raised_student_p')}, teacher {value('raised_teacher_p')}"
        phrases.append(f"its step raises “{raised}” most ({given})")
    else:
        phrases.append("it takes no step")
    share = value("share", clause)
    phrases += [
        f"signal {value('signal', nats)}",
        f"KL to the teacher {value('kl', nats)}",
        f"gradient's norm {value('norm')}",
        share if share.startswith(("pulls", "does")) else f"share of the update {share}",
        "clipped" if sites.clipped[site] else "not clipped",
    ]
    inside = held(frame)
    if not isinstance(inside, Undetermined) and inside[site] == inside[site]:
        phrases.append(f"the plane holds {percent(float(inside[site]))} of its squared length")
    return phrases


def _place(frame: Frame, site: int) -> int:
    """The place of a site's answer in the order of pull, from 1."""
    return int(np.flatnonzero(ranked(frame) == frame.sites.sequence[site])[0]) + 1


def _answer(frame: Frame, rollout: int, place: int, weights_N: Floats) -> Answer:
    sites, it = frame.sites, frame.rollouts[rollout]
    here = np.flatnonzero(sites.sequence == rollout)
    at = dict(zip(sites.position[here].tolist(), here.tolist(), strict=True))
    words = tuple((spoken(word), at.get(position)) for position, word in enumerate(it.answer.split()))
    weight = float(weights_N[here].sum())
    if _has_shares(sites):
        net = float(sites.share[here].sum())
        pull = clause(net)
        if percentage(net) != percentage(weight):
            pull += f"; {percentage(weight)} without signs"
    else:
        pull = f"signals, without signs, of {nats(weight)}"
    verdict = {1.0: "right", 0.0: "wrong"}.get(it.reward, "")
    return Answer(rollout, place, it.prompt, words, verdict, _facts(it), pull)


def _facts(rollout: Rollout) -> str:
    return "; ".join(
        [
            f"reward {rollout.reward:g}",
            f"advantage {significant(rollout.advantage, 2)}",
            *(["of the data"] if not rollout.on_policy else []),
            *(["dropped by rejection sampling"] if not rollout.kept else []),
        ]
    )


def _weights(frame: Frame) -> Floats:
    sites = frame.sites
    return np.abs(np.nan_to_num(sites.share) if _has_shares(sites) else sites.signal)


def _has_shares(sites: Sites) -> bool:
    return bool(len(sites.share)) and not bool(np.isnan(sites.share).any())


def no_shares(frame: Frame) -> str:
    """Why no token has a share of the update; "" where each has one."""
    if _has_shares(frame.sites):
        return ""
    ratio: Any = frame.update.ratio
    return ratio.reason if isinstance(ratio, Undetermined) else site_reasons(frame.config)["share"]
