"""Which version of this program runs."""

from importlib.metadata import PackageNotFoundError, version


def installed(otherwise: str = "unknown") -> str:
    """The version; `otherwise` where the program runs from a folder that is not installed."""
    try:
        return version("gradcloud")
    except PackageNotFoundError:
        return otherwise
