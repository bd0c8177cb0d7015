"""Gradients of post-training, measured: what a notebook or a script needs, loaded when it is first used.

Three lines give a frame::

    from sim import measure
    frame = measure("opsd-collapse", "clip.on=true", draw=3)
    frame

``measure`` takes a preset's name, its file or a link, and settings to replace; ``place`` says which moment that is,
which files are marked with. ``names()`` are the presets that ship. A frame's numbers are attributes
(``frame.update.ratio``) and ``frame.columns()``, its sites as arrays. What is not accepted raises ``InvalidInput``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.config import Config as Config
    from sim.errors import GradcloudError as GradcloudError
    from sim.errors import InvalidInput as InvalidInput
    from sim.frame import Frame as Frame
    from sim.frame import Undetermined as Undetermined
    from sim.library import measure as measure
    from sim.library import place as place
    from sim.link import Link as Link
    from sim.presets import Preset as Preset
    from sim.presets import builtin as builtin
    from sim.presets import names as names
    from sim.simulator import Simulator as Simulator
    from sim.timeline import Moment as Moment
    from sim.timeline import Timeline as Timeline

_FROM = {
    "config": ["Config"],
    "errors": ["GradcloudError", "InvalidInput"],
    "frame": ["Frame", "Undetermined"],
    "library": ["measure", "place"],
    "link": ["Link"],
    "presets": ["Preset", "builtin", "names"],
    "simulator": ["Simulator"],
    "timeline": ["Moment", "Timeline"],
}
_HOME = {name: module for module, found in _FROM.items() for name in found}

__all__ = sorted(_HOME)  # noqa: PLE0605


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"sim.{_HOME[name]}"), name)
