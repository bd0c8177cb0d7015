"""A component's script, after what some of them begin with."""

from pathlib import Path

_ELEMENT = Path(__file__).with_name("element.js").read_text("utf-8")
#: A file handed to the browser: ``download(name, mime, data)``.
DOWNLOAD = Path(__file__).with_name("download.js").read_text("utf-8")
#: What an entry of the tab's history says of itself, ``marked()`` and ``enter(mark, url, push)``, and ``parts(keys,
#: among)`` of the address.
HISTORY = Path(__file__).with_name("history.js").read_text("utf-8")


def script(component: Path, *before: str) -> str:
    """The script beside a component, which may make its parts by ``element(tag, attributes, ...children)``.

    Args:
        component: the component's file without its suffix.
        before: other scripts that it makes use of.
    """
    return "\n".join([_ELEMENT, *before, component.with_suffix(".js").read_text("utf-8")])
