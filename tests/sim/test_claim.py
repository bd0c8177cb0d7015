"""Verdicts: how the numbers of several seeds become one of three words."""

import pytest

from sim.claim import Claim, Judgement, Missing, Numbers, Seed, Spread, by_seeds, in_part, listed, settings
from sim.errors import InvalidInput
from sim.ledger import CLAIMS
from sim.presets import builtin


def spread(*values: float | None) -> Spread:
    return Spread([{"x": value} for value in values])


def high(seed: Seed) -> bool:
    return seed["x"] > 1


def test_a_claim_holds_where_every_seed_meets_the_rule() -> None:
    assert by_seeds(spread(2, 3, 4), high, "note") == Judgement("holds here", "note")


def test_a_claim_does_not_hold_where_no_seed_meets_the_rule() -> None:
    assert by_seeds(spread(0, 1, 0.5), high, "note") == Judgement("does not hold here", "note")


def test_seeds_that_disagree_are_counted_in_the_condition() -> None:
    found = by_seeds(spread(2, 0, 3), high, "note")
    assert (found.verdict, found.condition) == ("holds only when", "the seed is kind: for 2 of 3 seeds")


def test_a_rule_whose_number_is_missing_is_not_met() -> None:
    assert by_seeds(spread(None, None), high, "").verdict == "does not hold here"
    assert by_seeds(spread(2, None), high, "").verdict == "holds only when"
    assert not Seed({"x": None}).has("x")
    with pytest.raises(Missing):
        Seed({"x": None})["x"]


def test_a_claim_of_parts_lists_those_that_hold_and_those_that_do_not() -> None:
    parts = {"high": high, "low": lambda seed: seed["x"] <= 1, "positive": lambda seed: seed["x"] > 0}
    found = in_part(spread(2, 3), parts, "note", lead="it says", but="not")
    assert found == Judgement("holds only when", "note", "it says high and positive, not low")
    assert in_part(spread(2, 3), {"high": high}, "", lead="", but="").verdict == "holds here"
    assert in_part(spread(0, 3), {"high": high}, "", lead="", but="").verdict == "does not hold here"


def test_a_spread_says_mean_and_extremes() -> None:
    found = spread(0.1, 0.2, None, 0.6)
    assert found.said("x") == "0.30 (0.10 to 0.60) (undetermined for 1 of 4 seeds)"
    assert found.percent("x") == "30 % (10 to 60) (undetermined for 1 of 4 seeds)"
    assert spread(0.1, 0.2, 0.6).said("x") == "0.30 (0.10 to 0.60)"
    assert spread(0.5, 0.5).said("x", 1) == "0.5"
    assert spread(None).said("x") == "undetermined"
    assert found.mean("x") == pytest.approx(0.3)


def test_names_are_listed_as_a_sentence_has_them() -> None:
    assert [listed(list(names)) for names in ("a", "ab", "abc")] == ["a", "a and b", "a, b and c"]


def test_settings_are_the_presets_with_the_seed_and_what_is_replaced() -> None:
    found = settings("opsd-collapse", 2, "clip.on=true")
    expected = builtin("opsd-collapse").config
    clip = expected.clip.model_copy(update={"on": True})
    assert found == expected.model_copy(update={"seed": 2, "clip": clip})
    with pytest.raises(InvalidInput):
        settings("opsd-collapse", 0, "clip.no=1")


def test_there_are_at_least_the_claims_that_the_texts_make_each_with_a_name_of_its_own() -> None:
    assert len(CLAIMS) >= 24
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.name for claim in CLAIMS])
def test_each_claim_names_presets_that_ship_and_asks_each_seed_something_else(claim: Claim) -> None:
    assert all(builtin(name) for name in claim.presets)
    seeds = [set(claim.experiments(seed).values()) for seed in (0, 1)]
    assert all(seeds)
    assert seeds[0] != seeds[1]
    assert claim.claim.endswith(".")
    assert len(set(claim.units.values())) == len(claim.units)


def missing(claim: Claim) -> Numbers:
    return dict.fromkeys(claim.units)


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.name for claim in CLAIMS])
def test_a_verdict_is_reached_also_where_every_number_is_missing(claim: Claim) -> None:
    found = claim.judge(Spread([missing(claim)] * 3))
    assert found.verdict in ("holds here", "does not hold here", "holds only when")
    assert bool(found.condition) == (found.verdict == "holds only when")
