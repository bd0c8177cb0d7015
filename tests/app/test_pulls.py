"""The strongest pulls in words, on frames whose shares and settings are set by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.pulls import MOST, pulls, teacher, wants
from sim.config import Clip, Config, Reference, Reward, Source, Teacher
from sim.frame import NO_UPDATE, Frame, Rollout
from tests.app.conftest import sample

ROLLOUT = Rollout("ask", "so", reward=1.0, advantage=0.4, group=0, on_policy=True, kept=True)


def made(config: Config, tokens: list[tuple[str, str, str, float, float]], **changes: Any) -> Frame:
    """A frame whose first tokens are (word, prefix, raised, signal, share); all others pull at nothing."""
    sites, rest = sample().sites, len(sample().sites.text) - len(tokens)
    words, prefixes, raised, signals, shares = zip(*tokens, strict=True)
    columns: dict[str, Any] = {
        "text": words + sites.text[-rest:],
        "prefix": prefixes + sites.prefix[-rest:],
        "raised": raised + sites.raised[-rest:],
        "signal": np.array([*signals, *np.zeros(rest)]),
        "share": np.array([*shares, *np.zeros(rest)]),
    }
    rollouts = (changes.pop("rollout", ROLLOUT), *sample().rollouts[1:])
    clipped = np.full(len(sites.text), changes.pop("clipped", False))
    return replace(
        sample(), config=config, rollouts=rollouts, sites=replace(sites, clipped=clipped, **columns), **changes
    )


def teaching(**settings: Any) -> Config:
    return Config(teacher=Teacher(**settings))


HINTED = teaching(policy="self", context="hint", divergence="reverse")
AT_24 = ("24", "ask 2 + 3 * 8 ? well first 2 + 3 = 5 then 3 * 8 =", "14", 16.0, 0.31)


def sentences(frame: Frame) -> list[str]:
    return [f"{each.word} after {each.after}: {each.wants}; {each.amount}" for each in pulls(frame)[0]]


def test_a_pull_says_the_word_what_came_before_who_wants_what_and_how_much_that_is() -> None:
    assert sentences(made(HINTED, [AT_24])) == [
        "24 after then 3 * 8 =: the hinted teacher wants 14; 31 % of the update"
    ]


def test_a_pull_against_the_update_says_so_in_words() -> None:
    frame = made(HINTED, [AT_24, ("wait", "ask 1 + 1 ? well first 2", "wait", 0.5, -0.03)])
    assert sentences(frame)[1] == (
        "wait after ask 1 + 1 ? well first 2: the hinted teacher wants more of it; "
        "against the update, it pulls back 3.0 %"
    )


def test_pulls_that_are_alike_are_one_with_their_sum_and_their_count() -> None:
    again = (AT_24[0], "ask 4 + 3 * 8 ? ok first 4 + 3 = 7 then 3 * 8 =", *AT_24[2:4], 0.2)
    backwards = (*again[:4], -0.25)
    elsewhere = (AT_24[0], "ask 8 * 3 ? so", *AT_24[2:4], 0.4)
    told = pulls(made(HINTED, [again, AT_24, backwards, elsewhere]))[0]
    assert [(each.site, each.count, each.share) for each in told] == [
        (1, 2, pytest.approx(0.51)), (3, 1, 0.4), (2, 1, -0.25),
    ]  # fmt: skip
    assert told[0].amount == "51 % of the update, in 2 places"


def test_only_the_strongest_are_told_and_none_that_pulls_at_nothing() -> None:
    many = [(str(n), f"ask {n}", "wait", 1.0, n / 100) for n in range(1, 15)]
    told = pulls(made(HINTED, many))[0]
    assert [each.word for each in told] == [str(n) for n in range(14, 14 - MOST, -1)]
    assert len(pulls(made(HINTED, many[:3]))[0]) == 3


def test_without_an_update_there_is_no_pull_and_the_reason_is_given() -> None:
    frame = made(HINTED, [AT_24])
    none = replace(frame.sites, share=np.full(len(frame.sites.text), np.nan))
    update = replace(frame.update, ratio=NO_UPDATE)
    assert pulls(replace(frame, sites=none, update=update)) == ([], NO_UPDATE.reason)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (teaching(policy="same-family"), "the larger model"),
        (teaching(policy="cross-family"), "the model of another family"),
        (teaching(policy="over-trained"), "the over-trained model"),
        (teaching(policy="same-family", context="rule"), "the larger model, shown the rule,"),
        (teaching(policy="self", context="hint"), "the hinted teacher"),
        (teaching(policy="self", context="wrong-hint", parameters="frozen"),
         "the wrongly hinted teacher (as at the start)"),
        (teaching(policy="self", context="careful", parameters="average"),
         "the teacher told to be careful (an average)"),
        (teaching(policy="label", divergence="forward"), "its own right answer"),
    ],
)  # fmt: skip
def test_a_teacher_has_a_name_that_a_lecturer_would_say(config: Config, name: str) -> None:
    assert teacher(config, ROLLOUT) == name


def test_the_data_want_more_of_their_own_words() -> None:
    config = Config(teacher=Teacher(policy="label", divergence="forward"), source=Source(alpha=0.0))
    frame = made(config, [("24", "then 3 * 8 =", "24", 3.0, 0.5)], rollout=replace(ROLLOUT, on_policy=False))
    assert wants(frame, 0) == "the data want more of it"


@pytest.mark.parametrize(
    ("reward", "rollout", "told"),
    [
        (Reward(), {}, "the reward is 1, 0.40 above its group's mean, so more of it"),
        (Reward(baseline="leave-one-out"), {},
         "the reward is 1, 0.40 above the mean of its group's others, so more of it"),
        (Reward(normalise=True), {}, "the reward is 1, 0.40 standard deviations above its group's mean, so more of it"),
        (Reward(baseline="none"), {}, "the reward is 1, so more of it"),
        (Reward(baseline="none", normalise=True), {},
         "the reward is 1, or 0.40 of its group's standard deviations, so more of it"),
        (Reward(), {"reward": 0.0, "advantage": -0.6},
         "the reward is 0, 0.60 below its group's mean, so less of it, which raises then most"),
    ],
)  # fmt: skip
def test_a_reward_says_how_it_compares_with_its_group(reward: Reward, rollout: dict[str, Any], told: str) -> None:
    config = Config(teacher=Teacher(weight=0.0), reward=reward)
    it = replace(ROLLOUT, **rollout)
    raised = "wait" if it.advantage > 0 else "then"
    assert wants(made(config, [("wait", "= 8", raised, it.advantage, 0.1)], rollout=it), 0) == told


def test_a_reward_of_its_groups_mean_wants_nothing() -> None:
    config = Config(teacher=Teacher(weight=0.0))
    frame = made(config, [("wait", "= 8", "", 0.0, 0.0)], rollout=replace(ROLLOUT, advantage=0.0))
    assert wants(frame, 0) == "the reward is 1, like its group's mean, so nothing"


def test_a_sampled_word_that_the_teacher_likes_less_raises_another_without_being_a_wish_for_it() -> None:
    config = teaching(policy="same-family", divergence="sampled-reverse")
    frame = made(config, [("b", "so answer", "35", -4.0, 0.9)])
    assert wants(frame, 0) == "the larger model wants less of it, which raises 35 most"


def test_teacher_and_reward_speak_together() -> None:
    config = teaching(policy="self", context="hint", divergence="forward", weight=0.5)
    assert wants(made(config, [AT_24]), 0) == (
        "the hinted teacher and the reward (1, 0.40 above its group's mean) together want 14"
    )


def test_a_reference_speaks_once_the_student_has_left_it() -> None:
    config = Config(teacher=Teacher(weight=0.0), reference=Reference(beta=0.1))
    site = ("wait", "= 8", "then", -0.2, 0.1)
    assert "start" not in wants(made(config, [site], step=0), 0)
    assert wants(made(config, [site], step=3), 0) == (
        "the reward (1, 0.40 above its group's mean) and the student at the start together want then"
    )


def test_what_a_clamp_leaves_is_not_called_a_wish() -> None:
    config = HINTED.model_copy(update={"clip": Clip(on=True, kind="entry-clamp", threshold=0.05)})
    assert wants(made(config, [AT_24], clipped=True), 0) == (
        "what the clamp leaves of the wish of the hinted teacher raises 14"
    )
    assert wants(made(config, [AT_24], clipped=False), 0) == "the hinted teacher wants 14"
