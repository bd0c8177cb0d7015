"""The batch as text, on frames whose shares are set by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app import lens, shading
from sim.config import Config, Teacher
from sim.frame import Frame, Rollout
from sim.projection import held
from tests.app.conftest import sample


def with_shares(shares: dict[int, float], **columns: Any) -> Frame:
    """The sample with the shares of some sites, all others zero, and other columns as they are given."""
    share = np.zeros(len(sample().sites.text))
    for site, value in shares.items():
        share[site] = value
    return replace(sample(), sites=replace(sample().sites, share=share, **columns))


def first_site(rollout: int) -> int:
    return int(np.flatnonzero(sample().sites.sequence == rollout)[0])


def test_the_answers_that_pull_most_come_first_whichever_way_they_pull() -> None:
    frame = with_shares({first_site(2): 0.3, first_site(5): -0.6, first_site(5) + 1: 0.3, first_site(7): 0.4})
    assert lens.ranked(frame)[:4].tolist() == [5, 7, 2, 0]
    shown = lens.answers(frame, 3)
    assert [(each.rollout, each.place) for each in shown] == [(5, 1), (7, 2), (2, 3)]
    assert shown[0].pull == "pulls against the update, 30 %; 90 % without signs"
    assert shown[1].pull == "pulls with the update, 40 %"


def test_without_an_update_the_strongest_signals_come_first_and_the_reason_is_given() -> None:
    signal = np.zeros(len(sample().sites.text))
    signal[first_site(6)] = -2.0
    sites = replace(sample().sites, share=np.full(len(signal), np.nan), signal=signal)
    frame = replace(sample(), sites=sites)
    assert lens.ranked(frame)[0] == 6
    column = shading.column(frame, "share", [0, 1])
    assert column.shades == (None, None)
    assert column.missing == "the update is zero, so no token has a share of it"
    assert "without signs, of 2.00 nats" in lens.answers(frame, 1)[0].pull
    assert lens.counted(frame, lens.answers(frame, 3), 3) == "3 of 8 answers: those of the strongest signal"


def test_each_word_of_an_answer_carries_its_own_site() -> None:
    sites = sample().sites
    for answer in lens.answers(sample(), 8):
        assert " ".join(word for word, _ in answer.words) == sample().rollouts[answer.rollout].answer.replace(
            "<eos>", "(end)"
        )
        for position, (word, site) in enumerate(answer.words):
            assert site is not None
            assert (sites.sequence[site], sites.position[site]) == (answer.rollout, position)
            assert word == sites.text[site].replace("<eos>", "(end)")


def test_a_word_that_is_no_site_stands_there_without_a_number() -> None:
    longer = tuple(replace(each, answer=f"{each.answer} and more") for each in sample().rollouts)
    answer = lens.answers(replace(sample(), rollouts=longer), 1)[0]
    assert answer.words[-2:] == (("and", None), ("more", None))
    assert None not in lens.sites_of([answer])


def test_an_answer_says_its_reward_its_origin_and_whether_it_was_dropped() -> None:
    told = Rollout("ask", "so", reward=1.0, advantage=-0.4, group=0, on_policy=False, kept=False)
    others = sample().rollouts[1:]
    answer = next(a for a in lens.answers(replace(sample(), rollouts=(told, *others)), 8) if a.rollout == 0)
    assert answer.verdict == "right"
    assert answer.facts == "reward 1; advantage −0.40; of the data; dropped by rejection sampling"


def test_the_answer_of_the_selected_token_is_shown_though_it_is_weak() -> None:
    frame = with_shares({first_site(3): 0.9, first_site(4): 0.1})
    strongest = lens.answers(frame, 2)
    shown = strongest + lens.beyond(frame, strongest, first_site(7))
    assert [(each.rollout, each.place) for each in shown] == [(3, 1), (4, 2), (7, 8)]
    assert lens.counted(frame, shown, 2) == "2 of 8 answers: those of the strongest pull and the selected token's"
    assert lens.beyond(frame, strongest, first_site(4)) == lens.beyond(frame, strongest, None) == []
    assert shown[2] == lens.answers(frame, 8)[7]
    assert lens.counted(frame, lens.answers(frame, 8), 8) == "all 8 answers, the strongest pull first"


@pytest.mark.parametrize(
    ("prefix", "end"),
    [
        ("", ""),
        ("ask", "ask"),
        ("ask 5 + 2 * 3 ? hmm first", "ask 5 + 2 * 3 ? hmm first"),
        ("ask 5 + 2 * 3 ? well first 5 + 2 = 7 then 3 * 8 =", "then 3 * 8 ="),
        ("ask 6 + 2 * 4 ? well start 6 + 2 = 8", "start 6 + 2 = 8"),
        ("1 2 3 4 5 6 7 8 9 1 2 3 4", "4 5 6 7 8 9 1 2 3 4"),
    ],
)
def test_a_tail_begins_where_its_last_phrase_does(prefix: str, end: str) -> None:
    assert lens.tail(prefix) == end


def test_the_details_of_a_token_are_its_numbers_in_words_with_units() -> None:
    size = len(sample().sites.text)
    raised = ("wait", *sample().sites.raised[1:])
    known = {"student_p": 0.25, "teacher_p": 0.5, "signal": 0.7, "kl": 0.3, "norm": 2.0}
    columns = {name: np.full(size, value) for name, value in known.items()}
    clipped = np.zeros(size, bool)
    clipped[0] = True
    said = lens.details(with_shares({0: -0.03}, raised=raised, clipped=clipped, **columns), 0)
    for phrase in (
        "student gives it 0.250", "teacher gives it 0.500", "signal 0.700 nats", "KL to the teacher 0.300 nats",
        "gradient's norm 2.00", "pulls against the update, 3.0 %", "clipped",
    ):  # fmt: skip
        assert phrase in said
    assert any(phrase.startswith("its step raises “wait” most (student ") for phrase in said)


def test_the_share_of_its_length_in_the_plane_is_told_once_its_norm_is_known() -> None:
    inside = held(sample())
    assert isinstance(inside, np.ndarray)
    site = int(np.nanargmax(inside))
    assert lens.details(sample(), site)[-1] == f"the plane holds {100 * inside[site]:.0f} % of its squared length"
    pending = replace(sample(), sites=replace(sample().sites, norm=None))
    said = lens.details(pending, site)
    assert not any("plane" in phrase for phrase in said)
    assert "gradient's norm undetermined (still being computed)" in said


def test_details_that_are_undetermined_say_why() -> None:
    gone = np.full(len(sample().sites.text), np.nan)
    silent = Config(teacher=Teacher(weight=0.0))
    frame = replace(sample(), config=silent, sites=replace(sample().sites, teacher_p=gone, kl=gone, share=gone))
    said = lens.details(frame, 0)
    assert "teacher gives it undetermined (lambda is 0: no teacher speaks)" in said
    assert "share of the update undetermined (the update is zero, so no token has a share of it)" in said


def test_a_token_that_is_not_shown_is_told_with_its_words_and_its_place() -> None:
    frame = with_shares({first_site(3): 0.9})
    told = lens.elsewhere(frame, first_site(3), 0)
    assert told == f"{lens.named(frame, first_site(3))} stands in answer 1 of 8; 0 are shown"
    assert sample().sites.text[first_site(3)] in told
