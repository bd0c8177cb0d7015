"""Makes the shipped weights again from their recipes, and checks the files that are there."""

from collections.abc import Callable
from pathlib import Path

import torch

from sim import checkpoint, pretrain
from sim.errors import WeightsError
from sim.world import (
    NAMES,
    PLANE,
    POLICIES,
    Weights,
    load_plane,
    load_policy,
    record_hash,
    save_plane,
    save_policy,
    weights_file,
)

#: Called with the work done so far and the whole work.
Progress = Callable[[int, int], None]


def make(name: str, target: Path | None, progress: Progress) -> tuple[Path, str]:
    """Make one file of weights from its seed.

    Args:
        name: one of NAMES; what it starts from is read from the shipped files.
        target: where to write; None for the shipped file itself, whose expected hash is then replaced.
        progress: called now and then.

    Returns:
        The file written and its SHA-256.
    """
    path = weights_file(name) if target is None else target
    if name == PLANE:
        fitted = checkpoint.fit({policy: load_policy(policy) for policy in POLICIES}, progress)
        digest = save_plane(path, fitted, _origin(name, seed=checkpoint.REFERENCE_SEED))
    else:
        recipe = pretrain.RECIPES[name]
        start = None if recipe.start is None else load_policy(recipe.start).params
        params = pretrain.train(recipe, start, lambda step, _: progress(step, recipe.steps))
        about = _origin(name, seed=recipe.seed, steps=recipe.steps, documents=recipe.documents)
        digest = save_policy(path, Weights(recipe.model, params), about)
    if target is None:
        record_hash(name, digest)
    return path, digest


def problems() -> dict[str, str | None]:
    """For each shipped file what is wrong with it: missing, altered or unreadable; None if nothing is."""
    found: dict[str, str | None] = {}
    for name in NAMES:
        try:
            if name == PLANE:
                load_plane()
            else:
                load_policy(name)
        except WeightsError as error:
            found[name] = str(error)
        else:
            found[name] = None
    return found


def _origin(name: str, **settings: int) -> dict[str, object]:
    return {"command": f"gradcloud weights train {name}", **settings, "torch": torch.__version__}
