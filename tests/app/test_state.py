import contextlib
import typing

import pytest
from pydantic import BaseModel

from app.fields import BY_NAME, FIELDS, describe, hints, idle, ladder, values
from app.state import Dials, nested
from sim.config import MAX_ROLLOUTS, Clip, Config, Reference, Reward, Source, Teacher
from sim.presets import builtin, names

SELF = Config(teacher=Teacher(policy="self", context="hint", divergence="sampled-reverse"))


def leaves(model: type[BaseModel], prefix: str = "") -> typing.Iterator[str]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from leaves(kind, f"{prefix}{name}.")
        else:
            yield prefix + name


def test_every_setting_has_exactly_one_dial() -> None:
    assert sorted(field.path for field in FIELDS) == sorted(leaves(Config))


def test_a_choice_offers_every_value_that_the_setting_allows() -> None:
    for field in FIELDS:
        *groups, leaf = field.path.split(".")
        model: type[BaseModel] = Config
        for group in groups:
            model = typing.cast(type[BaseModel], model.model_fields[group].annotation)
        allowed = typing.get_args(model.model_fields[leaf].annotation)
        if field.kind == "choice":
            assert sorted(field.choices) == sorted(allowed)


@pytest.mark.parametrize("name", names())
def test_dials_turned_to_a_preset_give_its_settings_back(name: str) -> None:
    config = builtin(name).config
    dials = Dials(config)
    assert dials.config == config
    assert Config.model_validate(nested(dials)) == config


def test_turning_a_dial_changes_the_config() -> None:
    dials = Dials(SELF)
    dials.clip = True
    assert dials.config == SELF.model_copy(update={"clip": Clip(on=True)})


def test_a_label_teacher_forces_the_forward_divergence_and_no_context_and_says_so() -> None:
    dials = Dials(SELF)
    dials.policy = "label"
    assert (dials.divergence, dials.context) == ("forward", "none")
    assert dials.config.teacher == Teacher(policy="label", divergence="forward")
    assert "forward KL" in dials.note


def test_leaving_the_label_restores_what_it_forced() -> None:
    dials = Dials(SELF)
    dials.policy = "label"
    dials.policy = "self"
    assert dials.config == SELF
    assert dials.note == ""


def test_a_label_keeps_its_divergence_whatever_is_asked() -> None:
    dials = Dials(Config(teacher=Teacher(policy="label", divergence="forward")))
    dials.divergence = "reverse"
    assert dials.divergence == "forward"
    assert "forward KL" in dials.note


def test_more_answers_than_a_batch_takes_lower_the_other_dial_and_say_so() -> None:
    dials = Dials(Config(source=Source(prompts=64, group_size=8)))
    dials.group_size = 32
    assert (dials.prompts, dials.group_size) == (16, 32)
    assert str(MAX_ROLLOUTS) in dials.note
    dials.prompts = 64
    assert (dials.prompts, dials.group_size) == (64, 8)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True])
def test_a_dial_refuses_what_is_no_number_and_stays_where_it_was(value: float) -> None:
    dials = Dials(SELF)
    before = dials.config
    with contextlib.suppress(ValueError):
        dials.step_size = value
    assert dials.config == before
    assert dials.step_size == before.update.step_size


TEACHERS = {"policy", "context", "clip", "divergence", "jsd_beta", "continuation", "label_weight"}
DATA = {"data_style", "data_skill", "replay"}


def test_a_dial_without_an_effect_says_why() -> None:
    reward = Config(teacher=Teacher(weight=0.0))
    assert set(idle(reward)) >= TEACHERS
    assert "baseline" not in idle(reward)
    others = {"jsd_beta", "continuation", "label_weight", "reference_divergence"}
    assert set(idle(Config())) == DATA | others | {"baseline", "normalise", "parameters", "decay"}
    assert "context" in idle(Config(teacher=Teacher(policy="label", divergence="forward")))
    mixed = Config(source=Source(alpha=0.5), teacher=Teacher(weight=0.5, policy="self", parameters="average"))
    assert set(idle(mixed)) == others


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (Config(teacher=Teacher(divergence="jsd")), "jsd_beta"),
        (Config(teacher=Teacher(divergence="continuation")), "continuation"),
        (Config(teacher=Teacher(policy="label", divergence="forward")), "label_weight"),
        (Config(reference=Reference(beta=0.1)), "reference_divergence"),
        *((Config(source=Source(alpha=0.5)), name) for name in sorted(DATA)),
    ],
)
def test_a_dial_that_one_choice_wakes_is_idle_without_it(config: Config, name: str) -> None:
    assert name in idle(Config())
    assert name not in idle(config)


def test_data_of_the_other_skills_alone_have_no_style_and_no_key_move() -> None:
    replayed = idle(Config(source=Source(alpha=0.5, replay=1.0)))
    assert {"data_style", "data_skill"} <= set(replayed)
    assert "replay" not in replayed


def test_a_teacher_goes_on_with_nothing_where_the_student_answers_nothing() -> None:
    silent = {"policy", "context", "continuation"}
    teacher = Teacher(divergence="continuation")
    assert silent <= set(idle(Config(source=Source(alpha=0.0), teacher=teacher)))
    assert not silent & set(idle(Config(source=Source(alpha=0.5), teacher=teacher)))


def test_nothing_of_the_student_s_is_kept_or_dropped_where_it_answers_nothing() -> None:
    assert "keep" in idle(Config(source=Source(alpha=0.0)))
    assert "keep" not in idle(Config(source=Source(alpha=0.5)))


def test_a_label_without_data_says_that_it_has_nothing_to_say() -> None:
    label = Teacher(policy="label", divergence="forward")
    assert "policy" in hints(Config(teacher=label))
    assert "policy" not in hints(Config(teacher=label, source=Source(alpha=0.5)))


def test_right_answers_that_are_kept_are_labels() -> None:
    label = Teacher(policy="label", divergence="forward")
    assert "policy" not in hints(Config(teacher=label, source=Source(keep="right")))


def test_a_pull_back_to_the_start_says_that_it_pulls_nothing_there() -> None:
    assert "At the start it pulls nothing" in hints(Config(reference=Reference(beta=0.1)))["reference_beta"]
    assert "reference_beta" not in hints(Config())


def test_the_log_says_what_was_changed() -> None:
    after = SELF.model_copy(update={"clip": Clip(on=True, threshold=0.3), "reward": Reward(normalise=True)})
    assert describe(SELF, after) == "clip on, threshold 0.3 and 1 more"
    other = SELF.model_copy(update={"teacher": Teacher(policy="over-trained", context="hint")})
    assert describe(SELF, other) == "teacher: an over-trained model"
    assert describe(SELF, SELF) == "nothing"


def test_a_slider_in_steps_offers_powers_of_two_and_what_it_stands_at() -> None:
    config = Config(source=Source(prompts=12, group_size=8))
    assert ladder("prompts", 12, config) == [1, 2, 4, 8, 12, 16, 32, 64]
    assert ladder("group_size", 8, config) == [1, 2, 4, 8, 16, 32, 64]
    assert ladder("continuation", 36, config) == [1, 2, 4, 8, 16, 32, 36]


def test_the_slider_of_a_weight_begins_at_zero_and_goes_by_one_two_and_five() -> None:
    steps = ladder("reference_beta", 0.3, Config())
    assert steps[:4] == [0, 0.001, 0.002, 0.005]
    assert {0.1, 0.2, 0.3, 0.5, 1.0} <= set(steps)
    assert steps == sorted(set(steps))
    assert steps[-1] == BY_NAME["reference_beta"].high


@pytest.mark.parametrize("beta", [0, 0.1, 1, 100])
def test_a_weight_from_the_browser_is_taken_whole_or_not(beta: float) -> None:
    dials = Dials(SELF)
    dials.reference_beta = beta
    assert dials.config == SELF.model_copy(update={"reference": Reference(beta=beta)})


def test_values_are_named_as_the_dials_are() -> None:
    assert set(values(Config())) == set(BY_NAME) <= set(Dials.param)
