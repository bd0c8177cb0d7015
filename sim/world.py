"""The shipped weights: policies and the checkpoint's plane, with their hashes checked on loading."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor

from sim.errors import WeightsError
from sim.policy import Params, Transformer
from sim.resources import assets

#: The policies, then the plane that is measured with them.
POLICIES = ("base", "same-family", "cross-family", "over-trained")
PLANE = "plane"
NAMES = (*POLICIES, PLANE)
HASHES = "weights.sha256"


@dataclass(frozen=True)
class Weights:
    """A model with its parameters."""

    model: Transformer
    params: Params


@dataclass(frozen=True)
class CheckpointPlane:
    """The plane that ships with the base: two orthonormal directions [2, ...] and the Fisher matrix on them."""

    directions: Params
    fisher_22: NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """Everything that is shipped and that frames are computed from."""

    policies: Mapping[str, Weights]
    plane: CheckpointPlane

    @staticmethod
    @cache
    def load() -> "World":
        """The shipped world, read once a process.

        Raises:
            WeightsError: if a file is missing, altered or unreadable.
        """
        return World({name: load_policy(name) for name in POLICIES}, load_plane())


def weights_file(name: str) -> Path:
    """Where the weights of a name lie."""
    return assets() / f"{name}.safetensors"


def load_policy(name: str) -> Weights:
    """One shipped policy; WeightsError if its file is missing, altered or unreadable."""
    tensors, about = _read(name)
    return Weights(Transformer(**about["model"]), tensors)


def load_plane() -> CheckpointPlane:
    """The shipped plane; WeightsError if its file is missing, altered or unreadable."""
    tensors, about = _read(PLANE)
    return CheckpointPlane(tensors, np.array(about["fisher"]))


def save_policy(path: Path, weights: Weights, about: Mapping[str, object]) -> str:
    """Write a policy with its architecture and origin; returns the file's SHA-256."""
    return _write(path, weights.params, {"model": asdict(weights.model), "origin": about})


def save_plane(path: Path, plane: CheckpointPlane, about: Mapping[str, object]) -> str:
    """Write a plane with its Fisher matrix and origin; returns the file's SHA-256."""
    return _write(path, plane.directions, {"fisher": plane.fisher_22.tolist(), "origin": about})


def expected_hashes() -> dict[str, str]:
    """The SHA-256 of each shipped file, by name."""
    try:
        lines = (assets() / HASHES).read_text().splitlines()
    except OSError as error:
        raise WeightsError(f"{HASHES}: {error.strerror}; install gradcloud again") from error
    pairs = (line.split() for line in lines if line.strip())
    return {Path(file).stem: digest for digest, file in pairs}


def record_hash(name: str, digest: str) -> None:
    """Replace the expected SHA-256 of one shipped file."""
    try:
        hashes = expected_hashes()
    except WeightsError:
        hashes = {}
    hashes[name] = digest
    lines = [f"{hashes[known]}  {known}.safetensors\n" for known in NAMES if known in hashes]
    (assets() / HASHES).write_text("".join(lines))


def _read(name: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    path = weights_file(name)
    try:
        data = path.read_bytes()
        expected = expected_hashes().get(name)
        digest = hashlib.sha256(data).hexdigest()
        if digest != expected:
            raise WeightsError(
                f"weights {name}: SHA-256 is {digest}, expected {expected}; "
                f"restore {path.name} or make it again with: gradcloud weights train {name}"
            )
        with safe_open(path, "pt") as file:
            about = json.loads(file.metadata()["about"])
        # In the order of names: safetensors gives another one in each process, and sums depend on it.
        return dict(sorted(load(data).items())), about
    except OSError as error:
        raise WeightsError(f"weights {name}: {error.strerror} ({path.name}); install gradcloud again") from error
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise WeightsError(f"weights {name}: not a safetensors file ({error})") from error


def _write(path: Path, tensors: Params, about: Mapping[str, object]) -> str:
    # One key of metadata only, as safetensors writes several in any order.
    metadata = {"about": json.dumps(about, sort_keys=True)}
    data = save({name: value.detach().contiguous() for name, value in sorted(tensors.items())}, metadata)
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()
