"""A component's script, after what many of them begin with."""

from pathlib import Path

_ELEMENT = Path(__file__).with_name("element.js").read_text("utf-8")


def script(component: Path) -> str:
    """The script beside a component, which may make its parts by ``element(tag, attributes, ...children)``."""
    return _ELEMENT + "\n" + component.with_suffix(".js").read_text("utf-8")
