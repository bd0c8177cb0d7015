"""Checkpoints of runs: a file from which a run goes on to the very bytes that it would have given uninterrupted."""

import json
import os
import pathlib
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from sim.codec import parse_json
from sim.errors import GradcloudError, InvalidInput
from sim.optimiser import Moments
from sim.plan import Plan
from sim.policy import Params
from sim.sentences import limited, shown
from sim.state import State

FORMAT = 1
#: A checkpoint holds four copies of the parameters, three megabytes; a file far beyond that is something else.
MAX_BYTES = 64_000_000
MAX_LINE = 100_000

_PARTS = ("params", "average", "mean", "square")


@dataclass(frozen=True)
class Checkpoint:
    """The state after `step` steps and `records` records of a run; `key` is its path's, `settings` are its plan's."""

    step: int
    records: int
    key: str
    settings: dict[str, Any]
    state: State

    def require(self, plan: Plan) -> None:
        """InvalidInput, with a line for each setting that differs, unless this is a checkpoint of that plan."""
        made, asked = dict(_leaves("", self.settings)), dict(_leaves("", plan.settings()))
        if made.get("weights") != asked["weights"]:
            raise InvalidInput(["checkpoint: made with other weights than the shipped ones; begin the run anew"])
        differing = [key for key in {**asked, **made} if made.get(key, _MISSING) != asked.get(key, _MISSING)]
        if differing:
            lines = (
                f"checkpoint: {key}: the run was begun with {_said(made, key)}, got {_said(asked, key)}; "
                "ask for the same, or begin the run anew"
                for key in differing
            )
            raise InvalidInput(limited(list(lines)))
        if not 0 <= self.step < plan.total or self.key != plan.path(self.step).key:
            raise InvalidInput(["checkpoint: its step does not fit its settings; begin the run anew"])


_MISSING = object()


def checkpoint_file(records: str | pathlib.Path) -> pathlib.Path:
    """Where the checkpoint of a run lies: beside its records."""
    return pathlib.Path(f"{records}.checkpoint")


def save_checkpoint(file: pathlib.Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; whenever the process dies, the file is the old one or the new one, whole.

    Raises:
        InvalidInput: if something else lies there.
    """
    require_own(file)
    state = checkpoint.state
    parts = (state.params, state.average, state.moments.mean, state.moments.square)
    tensors = {
        f"{part}/{name}": value.detach().contiguous().clone()  # the average may be the parameters themselves
        for part, params in zip(_PARTS, parts, strict=True)
        for name, value in sorted(params.items())
    }
    about = {
        "format": FORMAT,
        "step": checkpoint.step,
        "records": checkpoint.records,
        "key": checkpoint.key,
        "count": state.moments.count,
        "settings": checkpoint.settings,
    }
    data = save(tensors, {"about": json.dumps(about, sort_keys=True, allow_nan=False)})
    # A name that nobody can foresee: nothing of another's is written over, and no link is followed.
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f"{file.name}.", delete=False) as out:
        draft = pathlib.Path(out.name)
        try:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
            draft.replace(file)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


def load_checkpoint(file: pathlib.Path, like: Params) -> Checkpoint:
    """The checkpoint in a file that need not be trusted; its tensors have the names and shapes of `like`.

    Raises:
        InvalidInput: if there is none, or it is not whole.
    """
    try:
        data = _bytes(file)
        tensors = load(data)
        about = _described(data)
    except FileNotFoundError:
        raise InvalidInput([f"{file}: does not exist: the run is complete, or was never begun; begin it"]) from None
    except OSError as error:
        raise InvalidInput([_refused(file, f"cannot be read ({error.strerror or error})")]) from None
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, GradcloudError):
            raise
        raise InvalidInput([_refused(file, f"is not whole ({str(error)[:120]})")]) from None
    (step, records, count), key, settings = _about(file, about)
    params, average, mean, square = (_part(file, tensors, part, like) for part in _PARTS)
    if len(tensors) != len(_PARTS) * len(like):
        raise InvalidInput([_refused(file, "holds tensors that no run has")])
    return Checkpoint(step, records, key, settings, State(params, average, Moments(count, mean, square)))


def require_own(file: pathlib.Path) -> None:
    """InvalidInput if what lies at a path is no checkpoint of a run, which must be neither replaced nor removed."""
    if not os.path.lexists(file):
        return
    try:
        _about(file, _described(_bytes(file)))
    except (InvalidInput, OSError):
        raise InvalidInput([f"{file}: is not a checkpoint, which would be written there; move it away"]) from None


def discard(file: pathlib.Path) -> None:
    """Remove a checkpoint, if there is one.

    Raises:
        InvalidInput: if something else lies there.
    """
    require_own(file)
    file.unlink(missing_ok=True)


def records_length(file: pathlib.Path, checkpoint: Checkpoint) -> int:
    """The bytes that the records up to a checkpoint, one a line, take at the beginning of a file.

    Raises:
        InvalidInput: if the last of them is not of the checkpoint's step.
    """
    try:
        with file.open("rb") as opened:
            lines = [opened.readline(MAX_LINE) for _ in range(min(checkpoint.records, checkpoint.step + 1))]
    except OSError as error:
        raise InvalidInput([f"{file}: cannot be read ({error.strerror}); begin the run anew"]) from None
    if not lines or not all(line.endswith(b"\n") for line in lines) or _step(lines[-1]) != checkpoint.step:
        raise InvalidInput(
            [f"{file}: line {checkpoint.records} is not the record of step {checkpoint.step}; begin the run anew"]
        )
    return sum(map(len, lines))


def _step(line: bytes) -> Any:
    try:
        value = parse_json(line)
    except InvalidInput:
        return None
    return value.get("step") if isinstance(value, dict) else None


def _bytes(file: pathlib.Path) -> bytes:
    """What a regular file holds; devices and pipes, which may have no end or never begin, are refused unread."""
    with open(file, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise InvalidInput([_refused(file, "is no regular file")])
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InvalidInput([_refused(file, f"is over {MAX_BYTES} bytes")])
    return data


def _described(data: bytes) -> str:
    """The text "about" of a file's metadata; empty where there is none.

    A safetensors file begins with eight bytes, the length of the JSON header that follows, lowest byte first.
    """
    end = 8 + int.from_bytes(data[:8], "little")
    try:
        header = parse_json(data[8:end])
    except InvalidInput:
        return ""
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    found = metadata.get("about") if isinstance(metadata, dict) else None
    return found if isinstance(found, str) else ""


def _about(file: pathlib.Path, text: str) -> tuple[tuple[int, int, int], str, dict[str, Any]]:
    """Step, records and Adam's count; the path's key; the settings."""
    try:
        value = parse_json(text, str(file))
    except InvalidInput:
        value = None
    if not isinstance(value, dict):
        raise InvalidInput([_refused(file, "does not say what it is of")])
    if value.get("format") != FORMAT:
        raise InvalidInput([_refused(file, "is of another version of gradcloud")])
    key, settings = value.get("key"), value.get("settings")
    if not isinstance(key, str) or not isinstance(settings, dict):
        raise InvalidInput([_refused(file, "does not say what it is of")])
    return (_count(file, value, "step"), _count(file, value, "records"), _count(file, value, "count")), key, settings


def _count(file: pathlib.Path, value: dict[str, Any], name: str) -> int:
    found = value.get(name)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise InvalidInput([_refused(file, f"has no {name}")])
    return found


def _part(file: pathlib.Path, tensors: dict[str, Tensor], part: str, like: Params) -> Params:
    # In the order of the parameters: sums over them depend on it.
    found = {}
    for name, expected in like.items():
        value = tensors.get(f"{part}/{name}")
        if value is None or value.shape != expected.shape or value.dtype != expected.dtype:
            raise InvalidInput([_refused(file, f"lacks {part} of {name} in the model's shape")])
        if not bool(torch.isfinite(value).all()):
            raise InvalidInput([_refused(file, f"has {part} of {name} that are not finite")])
        found[name] = value
    return found


def _refused(file: pathlib.Path, reason: str) -> str:
    return f"{file}: {reason}; allowed is a run's whole checkpoint; begin the run anew"


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(f"{path}.{key}" if path else str(key), item)
    else:
        yield path, value


def _said(leaves: dict[str, Any], key: str) -> str:
    return shown(leaves[key]) if key in leaves else "nothing"
