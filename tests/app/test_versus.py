"""Readings side by side, against cases worked by hand."""

from dataclasses import replace

import pytest

from app.compare import imposed
from app.versus import Column, answers, rows
from sim.config import Config, Source
from sim.frame import PENDING, Undetermined
from sim.presets import builtin
from sim.timeline import Moment
from tests.app.conftest import sample, simulator

PAIR = ["opsd-collapse", "opsd-clipped"]


def test_the_table_sets_each_reading_against_as() -> None:
    first = sample()
    update = replace(first.update, ratio=2.0, kl_measured=0.0, kl_predicted=Undetermined("the step is zero"),
                     clip_ratio=0.4)  # fmt: skip
    measures = replace(
        first.measures,
        bias=replace(first.measures.bias, coherence=-0.1),
        concentration=replace(first.measures.concentration, top1_share=0.5, effective_share=PENDING),
    )
    base = replace(first, update=update, measures=measures)
    twice = replace(
        base,
        update=replace(update, ratio=0.5, clip_ratio=0.402),
        measures=replace(
            measures,
            bias=replace(measures.bias, coherence=0.25),
            concentration=replace(measures.concentration, top1_share=0.2, effective_share=0.3),
        ),
    )
    table = {row.name: row.values for row in rows([Column("A", base), Column("B", twice), Column("C", None, "lost")])}

    def cell(name: str, place: int) -> tuple[str, str]:
        return table[name][place].text, table[name][place].against

    assert cell("Update over safe radius", 0) == ("2.00", "")
    assert cell("Update over safe radius", 1) == ("0.500", "0.250 × A")
    assert cell("KL of the step, measured", 1) == ("0", "as A")
    assert cell("KL of the step, predicted", 1) == ("–", "")
    assert table["KL of the step, predicted"][1].why == "the step is zero"
    assert cell("Bias", 1) == ("0.250", "0.350 above A")
    assert cell("Pull of the top 1 %", 1) == ("20 %", "30 points below A")
    assert cell("Clip leaves", 1) == ("40 %", "< 1 points above A")
    assert cell("Concentration", 0) == ("…", "")
    assert cell("Concentration", 1) == ("0.300", "…")
    assert {values[2].text for values in table.values()} == {"–"}
    assert {values[2].why for values in table.values()} == {"lost"}


def test_a_ratio_to_nothing_is_no_number() -> None:
    base = replace(sample(), update=replace(sample().update, ratio=0.0, kl_measured=Undetermined("no step")))
    other = replace(base, update=replace(base.update, ratio=0.7, kl_measured=0.2))
    table = {row.name: row.values for row in rows([Column("A", base), Column("B", other)])}
    assert table["Update over safe radius"][1].against == "A has 0"
    assert table["KL of the step, measured"][1].against == "A has none"


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("opsd-collapse", "opsd-clipped", "the same as A's"),
        ("opsd-collapse", "rl-noise-cancels", "the same as A's"),
        ("opsd-collapse", "sft-rejection", "the same as A's, others count"),
        ("opsd-collapse", "sft-fan", "others: written by the data"),
        ("sft-fan", "opsd-collapse", "others: written by the student"),
        ("sft-fan", "sft-foreign-style", "others: other data"),
        ("opsd-collapse", "opd-continuation", "others: a teacher goes on with them"),
    ],
)
def test_the_table_says_whether_a_cell_reads_the_answers_that_a_reads(first: str, second: str, said: str) -> None:
    shared = Config(source=Source(prompts=2, group_size=8))
    one, other = (
        simulator().frame(Moment(imposed(builtin(name).config, shared)), complete=False) for name in (first, second)
    )
    assert answers(other, one) == said


def test_after_a_step_the_prompts_are_the_same_and_another_student_answers() -> None:
    shared = Config(source=Source(prompts=2, group_size=8))
    one, other = (
        simulator().frame(Moment(imposed(builtin(name).config, shared)).next_step(), complete=False) for name in PAIR
    )
    assert [each.prompt for each in one.rollouts] == [each.prompt for each in other.rollouts]
    assert answers(other, one) == "others: another student, since step 1"
