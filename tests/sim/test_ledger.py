"""The ledger: what is written down follows from what was measured, and what ships was made with what ships."""

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from sim.claim import Claim, Judgement, Numbers, Spread
from sim.experiments import Result, Shipped
from sim.lab import Lab
from sim.ledger import CLAIMS, SEEDS, experiments, judged, ledger
from sim.ledger_file import Claim as Written
from sim.ledger_file import Ledger, load_ledger, parse_ledger
from sim.presets import builtin
from sim.world import expected_hashes

BY_NAME = {claim.name: claim for claim in CLAIMS}


@cache
def shipped() -> Ledger:
    found = load_ledger()
    assert found is not None, "assets/claims.json is missing"
    return found


def numbers(results: Mapping[str, Result]) -> Numbers:
    return {"x": results["policy"]["x"], "y": None}


SMALL = Claim(
    name="small",
    topic="tests",
    claim="The policy has a number.",
    source="nowhere",
    presets=("opsd-collapse",),
    setting="none",
    experiments=lambda seed: {"policy": Shipped("base", work=seed)},
    numbers=numbers,
    judge=lambda spread: Judgement("holds only when", f"x is {spread.said('x')}.", "asked"),
    units={"x": "the number", "y": "one that is missing"},
)


class Known(Lab):
    """A lab that knows what a table says."""

    def known(self, experiment: object) -> Result | None:
        assert isinstance(experiment, Shipped)
        return {"x": 0.1 * (experiment.work + 1), "seconds": 1.5}


def test_a_judged_claim_has_its_numbers_seed_by_seed_and_its_verdict(tmp_path: Path) -> None:
    found = judged(SMALL, Known(tmp_path), (0, 1, 2))
    assert found["measurements"][0] == {
        "name": "the number", "unit": "", "values": [0.1, 0.2, 0.3], "mean": 0.2, "low": 0.1, "high": 0.3,
    }  # fmt: skip
    assert found["measurements"][1]["values"] == [None, None, None]
    assert (found["verdict"], found["condition"]) == ("holds only when", "asked")
    assert found["note"] == "x is 0.20 (0.10 to 0.30)."
    assert found["seconds"] == 4.5


def test_a_claim_that_was_not_measured_is_not_judged(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="not measured"):
        judged(SMALL, Lab(tmp_path), (0,))


def test_a_ledger_says_what_it_was_made_with_and_is_read_back(tmp_path: Path) -> None:
    found = ledger([SMALL], Known(tmp_path), (0, 1), tables=False)
    assert found.made.weights == expected_hashes()
    assert found.made.seeds == (0, 1)
    assert parse_ledger(found.model_dump_json()) == found


def test_what_several_claims_need_is_measured_once() -> None:
    needed = experiments(CLAIMS, SEEDS)
    assert len(set(needed)) == len(needed)
    assert len(needed) < sum(len(claim.experiments(seed)) for claim in CLAIMS for seed in SEEDS)


def test_the_ledger_that_ships_has_every_claim_over_three_seeds_and_was_made_with_these_weights() -> None:
    found = shipped()
    assert [claim.name for claim in found.claims] == list(BY_NAME)
    assert len(found.made.seeds) >= 3
    assert found.made.weights == expected_hashes()
    assert {table.name for table in found.tables} == {"runs", "published"}


@pytest.mark.parametrize("name", BY_NAME)
def test_each_claim_that_ships_says_what_the_program_says(name: str) -> None:
    written, claim = next(each for each in shipped().claims if each.name == name), BY_NAME[name]
    assert (written.claim, written.source, written.setting, written.topic, written.presets) == (
        claim.claim, claim.source, claim.setting, claim.topic, claim.presets,
    )  # fmt: skip
    assert [each.name for each in written.measurements] == list(claim.units.values())
    assert all(len(each.values) == len(shipped().made.seeds) for each in written.measurements)


@pytest.mark.parametrize("name", BY_NAME)
def test_each_verdict_that_ships_follows_from_the_numbers_beside_it(name: str) -> None:
    written = next(each for each in shipped().claims if each.name == name)
    found = BY_NAME[name].judge(spread_of(written, BY_NAME[name]))
    assert (found.verdict, found.condition) == (written.verdict, written.condition)


def spread_of(written: Written, claim: Claim) -> Spread:
    """The numbers of each seed, read off what was written."""
    columns = {key: each.values for key, each in zip(claim.units, written.measurements, strict=True)}
    return Spread([{key: values[i] for key, values in columns.items()} for i in range(len(shipped().made.seeds))])


def test_every_preset_of_a_claim_ships() -> None:
    assert all(builtin(name) for claim in CLAIMS for name in claim.presets)


def test_a_number_that_ships_is_finite_or_said_to_be_missing() -> None:
    for claim in shipped().claims:
        for each in claim.measurements:
            assert all(value is None or math.isfinite(value) for value in each.values)
