"""Where the files that ship beside the code lie: in a checkout, and in an installed wheel."""

from pathlib import Path

from sim.errors import GradcloudError

_PACKAGE = Path(__file__).resolve().parent
_WHEEL_DATA = _PACKAGE / "_data"


def presets() -> Path:
    """The folder of the built-in presets."""
    return _data("presets")


def assets() -> Path:
    """The folder of the shipped weights, and of the ledger of claims."""
    return _data("assets")


def _data(name: str) -> Path:
    return _existing((_WHEEL_DATA if _WHEEL_DATA.is_dir() else _PACKAGE.parent) / name)


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise GradcloudError(f"{folder}: no such folder, so this copy of gradcloud is incomplete; install it again")
    return folder
