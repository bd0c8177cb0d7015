"""Words follow the numbers by the rule that they state."""

from dataclasses import replace

import pytest

from sim.config import Config, Teacher
from sim.frame import PENDING, Frame, Undetermined
from sim.words import direction, words
from tests.shipped import HINTED, RL, frame


def measured(**parts: object) -> Frame:
    base = frame(HINTED)
    measures = base.measures
    for path, value in parts.items():
        group, _, name = path.partition("__")
        inner = value if not name else replace(getattr(measures, group), **{name: value})
        measures = replace(measures, **{group: inner})
    return replace(base, measures=measures)


@pytest.mark.parametrize(("share", "word"), [(0.0, "sparse"), (0.3, "mixed"), (0.9, "dense")])
def test_density_goes_by_the_share_within_rollouts(share: float, word: str) -> None:
    assert words(measured(density__within_share=share))["density"].word == word


@pytest.mark.parametrize(("share", "word"), [(0.01, "concentrated"), (0.9, "diffuse")])
def test_concentration_goes_by_the_effective_share(share: float, word: str) -> None:
    assert words(measured(concentration__effective_share=share))["concentration"].word == word


def test_bias_is_noise_where_the_noise_scale_exceeds_the_batch() -> None:
    rollouts = len(frame(HINTED).rollouts)
    assert words(measured(bias__noise_scale=rollouts + 1.0))["bias"].word == "mostly noise"
    assert words(measured(bias__noise_scale=rollouts - 1.0))["bias"].word == "toward self + hint"


@pytest.mark.parametrize(
    ("teacher", "said"),
    [
        (Teacher(weight=0), "toward reward"),
        (Teacher(policy="label", divergence="forward"), "toward data"),
        (Teacher(policy="same-family"), "toward teacher"),
        (Teacher(policy="self"), "toward self"),
        (Teacher(policy="self", context="rule", weight=0.5), "toward self + rule and reward"),
    ],
)
def test_the_direction_is_named_after_the_signal(teacher: Teacher, said: str) -> None:
    assert direction(Config(teacher=teacher)) == said


def test_what_is_pending_is_computing_and_what_is_undetermined_says_why() -> None:
    assert words(measured(mean_norm=PENDING))["mean_norm"].word == "computing"
    word = words(measured(density__within_share=Undetermined("no signal")))["density"]
    assert (word.word, word.rule) == ("undetermined", "no signal")


@pytest.mark.parametrize(("after", "word"), [(1.2, "as predicted"), (1.5, "above predicted"), (0.5, "below predicted")])
def test_measured_kl_is_compared_with_the_predicted_one(after: float, word: str) -> None:
    base = frame(HINTED)
    update = replace(base.update, kl_predicted=1.0, kl_measured=after)
    assert words(replace(base, update=update))["kl"].word == word


def test_every_word_has_a_rule() -> None:
    for shown in (frame(HINTED), frame(RL)):
        assert all(word.word and word.rule for word in words(shown).values())
