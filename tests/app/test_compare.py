"""What stands side by side: presets that belong together, what they share, and an address that names them."""

from app.compare import FEWEST, MOST, SHARED, alike, asked, counterpart, filled, imposed, overruled
from app.fields import values
from sim.config import Config, Safety, Source
from sim.presets import builtin, names


def test_what_a_preset_has_of_its_own_in_the_shared_settings_gives_way_and_is_told() -> None:
    small, large = builtin("rl-small-batch"), builtin("rl-noise-cancels")
    config = imposed(small.config, large.config)
    assert config == small.config.model_copy(
        update={"source": small.config.source.model_copy(update={"prompts": large.config.source.prompts})}
    )
    assert overruled("B", small, large, config) == ["B's own 2 prompts became 32 prompts"]
    assert overruled("B", large, large, large.config) == []
    everything = Config(seed=3, source=Source(prompts=2, group_size=4, temperature=0.5), safety=Safety(delta=0.01))
    assert overruled("C", large.model_copy(update={"config": everything}), large, large.config) == [
        "C's own 2 prompts became 32 prompts", "C's own 4 answers became 8 answers",
        "C's own temperature 0.5 became temperature 1", "C's own seed 3 became seed 0",
        "C's own 0.01 nats on the ring became 0.001 nats on the ring",
    ]  # fmt: skip
    assert alike(large.config) == (
        "seed 0, 32 prompts × 8 answers, temperature 1, 0.001 nats on the ring, axes: the checkpoint's"
    )


def test_imposed_settings_agree_in_every_shared_dial_and_keep_all_others() -> None:
    for name in names():
        own = builtin(name).config
        shared = Config(seed=5, source=Source(prompts=3, group_size=2, temperature=0.7), safety=Safety(delta=0.1))
        now = values(imposed(own, shared))
        assert {key: now[key] for key in SHARED} == {key: values(shared)[key] for key in SHARED}
        assert {key: now[key] for key in now if key not in SHARED} == {
            key: value for key, value in values(own).items() if key not in SHARED
        }


def test_every_preset_has_a_counterpart_that_differs_from_it_in_more_than_what_cells_share() -> None:
    for name in names():
        other = counterpart(name)
        assert other != name
        assert imposed(builtin(other).config, builtin(name).config) != builtin(name).config, name


def test_an_address_names_two_to_four_presets_and_what_is_wrong_with_it_is_told() -> None:
    assert asked(None) == (["opsd-collapse", "opsd-clipped"], [])
    assert asked("rl-grpo,sft-fan,opd-jsd") == (["rl-grpo", "sft-fan", "opd-jsd"], [])
    assert asked(" rl-grpo , rl-grpo") == (["rl-grpo", "rl-grpo"], [])
    for text in ("", ",", "rl-grpo", "rl-grpo,rl-grqo", "../etc/passwd,<script>", "a,b,c,d,e", "x" * 10_000,
                 ",".join(["rl-grpo"] * 5), "\x00,\ufeff"):  # fmt: skip
        found, problems = asked(text)
        assert FEWEST <= len(found) <= MOST
        assert set(found) <= set(names())
        assert problems
    found, problems = asked("rl-grpo,rl-grqo")
    assert found == ["rl-grpo", counterpart("rl-grpo")]
    assert "rl-grqo" in problems[0]
    assert asked("a,rl-grpo,b,sft-fan,c,opd-jsd")[0] == ["rl-grpo", "sft-fan", "opd-jsd"]
    for count in range(FEWEST, MOST + 1):
        for name in names():
            assert len(set(filled([name], count))) == count
