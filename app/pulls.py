"""The strongest pulls of a batch in words: who wants what at which token, and how much of the update that is."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.lens import no_shares, tail
from app.numbers import significant
from app.picture import spoken
from app.shading import percentage
from sim.config import Config, Reward
from sim.frame import Frame, Rollout

#: Pulls that are told.
MOST = 10
#: The sites' columns that pulls are told from.
_COLUMNS = ("text", "prefix", "raised", "sequence", "signal", "share", "clipped")

_TEACHERS = {
    "label": "the data",
    "same-family": "the larger model",
    "cross-family": "the model of another family",
    "over-trained": "the over-trained model",
}
_SELVES = {
    "none": "the student itself",
    "hint": "the hinted teacher",
    "wrong-hint": "the wrongly hinted teacher",
    "rule": "the teacher shown the rule",
    "example": "the teacher shown an example",
    "careful": "the teacher told to be careful",
    "hasty": "the teacher told to be hasty",
}
_SHOWN = {
    "hint": ", shown the right answer,",
    "wrong-hint": ", shown a wrong answer,",
    "rule": ", shown the rule,",
    "example": ", shown an example,",
    "careful": ", told to be careful,",
    "hasty": ", told to be hasty,",
}


@dataclass(frozen=True)
class Pull:
    """What pulls on the update at a word after a tail: the site of the strongest, and how many are alike.

    `share` is the signed sum of their shares of the update; `wants` says who wants what there.
    """

    site: int
    word: str
    after: str
    wants: str
    share: float
    count: int

    @property
    def amount(self) -> str:
        """How much of the update it is, in words."""
        amount = percentage(self.share)
        said = f"{amount} of the update" if self.share > 0 else f"against the update, it pulls back {amount}"
        return said + (f", in {self.count} places" if self.count > 1 else "")


def pulls(frame: Frame, most: int = MOST) -> tuple[list[Pull], str]:
    """The strongest pulls by |share|, those alike as one; or none, and why.

    Alike are sites with the same word, tail, direction and wish: several answers often go the same way, and ten lines
    of one pull would say less than ten pulls.
    """
    why = no_shares(frame)
    if why:
        return [], why
    sites = frame.sites
    alike: dict[tuple[Any, ...], list[int]] = {}
    for site in np.argsort(-np.abs(sites.share), kind="stable").tolist():
        if sites.share[site] == 0:
            break
        alike.setdefault(_kind(frame, site), []).append(site)
    found = sorted(((float(sites.share[each].sum()), each) for each in alike.values()), key=lambda pair: -abs(pair[0]))
    return [
        Pull(
            site=members[0],
            word=spoken(sites.text[members[0]]),
            after=tail(sites.prefix[members[0]]),
            wants=wants(frame, members[0]),
            share=share,
            count=len(members),
        )
        for share, members in found[:most]
    ], ""


def same(one: Frame, other: Frame) -> bool:
    """Whether what the pulls of two frames are told from is the very same, as it is where only norms came."""
    return (
        (one.config, one.step, one.update.ratio) == (other.config, other.step, other.update.ratio)
        and one.rollouts is other.rollouts
        and all(getattr(one.sites, name) is getattr(other.sites, name) for name in _COLUMNS)
    )


def _kind(frame: Frame, site: int) -> tuple[Any, ...]:
    """What a pull has in common with those that are told in the same words."""
    sites, rollout = frame.sites, frame.rollouts[int(frame.sites.sequence[site])]
    rewarded = (rollout.reward, rollout.advantage) if frame.config.teacher.weight < 1 else ()
    return (
        sites.text[site], sites.raised[site], tail(sites.prefix[site]), bool(sites.share[site] > 0),
        bool(sites.signal[site] > 0), bool(sites.clipped[site]), rollout.on_policy, rewarded,
    )  # fmt: skip


def wants(frame: Frame, site: int) -> str:
    """Who wants what at a site, as a clause.

    Where the whole vocabulary is compared, its step's favourite is what the teacher would rather have; where only the
    word that stands there is weighed, the teacher wants more of it or less, and another word merely rises with that.
    """
    config, sites = frame.config, frame.sites
    word, raised = spoken(sites.text[site]), spoken(sites.raised[site])
    rollout = frame.rollouts[int(sites.sequence[site])]
    names = _speakers(frame, rollout)
    subject = " and ".join(names) + (" together" if len(names) > 1 else "")
    verb = " want" if len(names) > 1 or names == [_TEACHERS["label"]] else " wants"
    if names == [_reward(config.reward, rollout)]:
        verb = ", so"
    if sites.clipped[site] and config.clip.kind == "entry-clamp" and _compares(frame) and raised:
        # What a clamp leaves of a row need not point where the row did.
        return f"what the clamp leaves of the wish of {subject} raises {raised}"
    if _compares(frame) and raised not in ("", word):
        return f"{subject}{verb} {raised}"
    if not raised:
        return f"{subject}{verb} nothing"
    more = "more" if sites.signal[site] > 0 or (_compares(frame) and raised == word) else "less"
    rises = f", which raises {raised} most" if more == "less" and raised != word else ""
    return f"{subject}{verb} {more} of it{rises}"


def teacher(config: Config, rollout: Rollout) -> str:
    """The teacher's name, as a lecturer would say it."""
    it = config.teacher
    if it.policy == "label":
        return "its own right answer" if rollout.on_policy else _TEACHERS["label"]
    if it.policy != "self":
        return (_TEACHERS[it.policy] + _SHOWN.get(it.context, "")).rstrip()
    name = _SELVES[it.context]
    return {"frozen": f"{name} (as at the start)", "average": f"{name} (an average)"}.get(it.parameters, name)


def _compares(frame: Frame) -> bool:
    """Whether a site's weights come from the whole vocabulary."""
    config, it = frame.config, frame.config.teacher
    spread = it.policy != "label" and it.divergence in ("reverse", "forward", "jsd")
    return (it.weight > 0 and spread) or (config.reference.beta > 0 and frame.step > 0)


def _speakers(frame: Frame, rollout: Rollout) -> list[str]:
    """Whose weights add up at a token; before the first step the reference is the student, and pulls at nothing."""
    config, weight = frame.config, frame.config.teacher.weight
    anchored = config.reference.beta > 0 and frame.step > 0
    beside = weight > 0 or anchored
    return [
        *([teacher(config, rollout)] if weight > 0 else []),
        *([_reward(config.reward, rollout, beside)] if weight < 1 else []),
        *(["the student at the start"] if anchored else []),
    ]


def _reward(reward: Reward, rollout: Rollout, beside: bool = False) -> str:
    """What the reward was, and how it compares with its group's."""
    said = f"{rollout.reward:g}"
    size, over = significant(abs(rollout.advantage), 2), "above" if rollout.advantage > 0 else "below"
    unit = " standard deviations" if reward.normalise else ""
    if reward.baseline != "none":
        mean = "the mean of its group's others" if reward.baseline == "leave-one-out" else "its group's mean"
        said += f", {size}{unit} {over} {mean}" if rollout.advantage else f", like {mean}"
    elif reward.normalise:
        said += f", or {size} of its group's{unit}"
    return f"the reward ({said})" if beside else f"the reward is {said}"
