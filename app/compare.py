"""What may stand side by side: presets that belong together, and the settings that all of them share."""

from collections.abc import Mapping, Sequence

from app.fields import BY_NAME
from sim.config import Config
from sim.errors import InvalidInput
from sim.link_items import DEFAULT
from sim.presets import Preset, builtin

LETTERS = "ABCD"
FEWEST, MOST = 2, len(LETTERS)
#: Dials that stand alike in every cell, so that all see the same prompts on the same plane in the same scale.
SHARED = ("prompts", "group_size", "temperature", "seed", "delta", "basis")
#: Characters of a list of names that an address may have.
LENGTH = 400

# What differs from a preset in the one thing that its lesson is about.
_COUNTERPARTS: Mapping[str, str] = {
    "opd-continuation": "opd-one-step",
    "opd-cross-family": "opd-same-family",
    "opd-jsd": "opd-same-family",
    "opd-one-step": "opd-continuation",
    "opd-same-family": "opd-cross-family",
    "opd-sampled": "opd-same-family",
    "opsd-clipped": "opsd-collapse",
    "opsd-collapse": "opsd-clipped",
    "opsd-entry-clamp": "opsd-clipped",
    "opsd-example": "opsd-rule",
    "opsd-frozen-teacher": "opsd-collapse",
    "opsd-persona": "opsd-rule",
    "opsd-rule": "opsd-example",
    "opsd-wrong-hint": "opsd-frozen-teacher",
    "rl-grpo": "rl-noise-cancels",
    "rl-kl-regularised": "rl-noise-cancels",
    "rl-noise-cancels": "opd-same-family",
    "rl-small-batch": "opd-same-family",
    "sft-anchored": "sft-stress",
    "sft-ceiling": "sft-fan",
    "sft-dft": "sft-fan",
    "sft-fan": "opd-same-family",
    "sft-foreign-style": "sft-fan",
    "sft-rejection": "rl-noise-cancels",
    "sft-replay": "sft-stress",
    "sft-stress": "sft-replay",
}
# What fills two more cells: one of each kind of method.
_OTHERS = ("opsd-clipped", "opd-same-family", "rl-noise-cancels", "sft-fan", "opsd-collapse")


def counterpart(name: str) -> str:
    """The preset that is worth seeing beside one."""
    return _COUNTERPARTS[name]


def filled(chosen: Sequence[str], count: int) -> list[str]:
    """Names of presets for so many cells: the chosen ones, then their counterpart, then one of each other kind."""
    names = list(chosen[:count]) or [DEFAULT]
    for other in (counterpart(names[0]), *_OTHERS):
        if len(names) < count and other not in names:
            names.append(other)
    return names


def asked(text: str | None) -> tuple[list[str], list[str]]:
    """The presets that an address asks for, two to four, with what is wrong with what it asks; None is no wish."""
    if text is None:
        return filled([], FEWEST), []
    if len(text) > LENGTH:
        return filled([], FEWEST), [f"with: got {len(text):,} characters, allowed {LENGTH}; name {FEWEST} to {MOST} "
                                    "presets, with commas between them"]  # fmt: skip
    found, problems = [], []
    wanted = [name.strip() for name in text.split(",")]
    for name in wanted:
        try:
            builtin(name)
            found.append(name)
        except InvalidInput as error:
            problems += [f"with: {problem}" for problem in error.problems]
    if not FEWEST <= len(wanted) <= MOST:
        problems.append(f"with: got {len(wanted)} preset{'s' * (len(wanted) != 1)}, allowed {FEWEST} to {MOST}; name "
                        "them with commas between them")  # fmt: skip
    return filled(found, min(MOST, max(FEWEST, len(found)))), problems


def imposed(config: Config, shared: Config) -> Config:
    """Settings with those that all cells share taken from others."""
    theirs = shared.source
    source = config.source.model_copy(
        update={
            "prompts": theirs.prompts,
            "group_size": theirs.group_size,
            "temperature": theirs.temperature,
        }
    )
    return config.model_copy(
        update={"seed": shared.seed, "source": source, "safety": shared.safety, "plane": shared.plane}
    )


def alike(config: Config) -> str:
    """What all cells share, in words."""
    said = _said(config)
    return f"{said['seed']}, {said['prompts']} × {said['group_size']}, " + ", ".join(
        said[name] for name in ("temperature", "delta", "basis")
    )


def overruled(letter: str, own: Preset, first: Preset, config: Config) -> list[str]:
    """What a cell's preset says of the shared settings that the cells do not follow, in sentences.

    Args:
        letter: the cell.
        own: its preset as it is on its own.
        first: the first cell's, likewise.
        config: the cell's settings.
    """
    mine, theirs, now = (_said(each) for each in (own.config, first.config, config))
    return [
        f"{letter}'s own {mine[name]} became {now[name]}"
        for name in SHARED
        if mine[name] not in (now[name], theirs[name])
    ]


def _said(config: Config) -> dict[str, str]:
    """The shared settings in words, by their dials' names."""
    source = config.source
    axes = BY_NAME["basis"].said(config.plane.basis)
    return {
        "seed": f"seed {config.seed}",
        "prompts": f"{source.prompts} prompt{'s' * (source.prompts != 1)}",
        "group_size": f"{source.group_size} answer{'s' * (source.group_size != 1)}",
        "temperature": f"temperature {source.temperature:g}",
        "delta": f"{config.safety.delta:g} nats on the ring",
        "basis": f"axes: {axes}" + "; each cell has axes of its own" * (config.plane.basis == "components"),
    }
