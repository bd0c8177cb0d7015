"""The palette of each theme: roles, their colours, and how much thicker and larger everything is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Palette:
    """Colours by what they stand for; `stroke` and `type` scale lines and letters.

    Of the marks of the picture (`cloud`, `update`, `ring`) and of the verdicts (`inside`, `near`, `past`) each also has
    a form of its own: nothing is told by colour alone. They start from Okabe and Ito's colours.
    """

    paper: str
    ink: str
    muted: str
    hair: str
    field: str
    edge: str
    hover: str
    chosen: str
    dim: str
    track: str
    cloud: str
    update: str
    ring: str
    inside: str
    near: str
    past: str
    aim: str
    with_update: str
    against_update: str
    stroke: float = 1.0
    type: float = 1.0

    def css(self) -> str:
        """The palette as custom properties, with a dash in a name where Python has an underscore."""
        return " ".join(f"--{each.name.replace('_', '-')}: {getattr(self, each.name)};" for each in fields(self))


LIGHT = Palette(
    paper="#fdfdfb", ink="#1f2328", muted="#5f646a", hair="#e4e3de", field="#ffffff", edge="#cfcec8", hover="#efeeea",
    chosen="#eaeff4", dim="#a0a4a8", track="#cfcec8", cloud="#7d838a", update="#D55E00", ring="#0072B2",
    inside="#009E73", near="#E69F00", past="#D55E00", aim="#9B4F96", with_update="#D55E00", against_update="#0072B2",
)  # fmt: skip
DARK = Palette(
    paper="#14171a", ink="#e9e7e2", muted="#a9aeb4", hair="#2b3035", field="#1d2125", edge="#4a5058", hover="#262b30",
    chosen="#22303c", dim="#6f757b", track="#4a5058", cloud="#9096a0", update="#F5873D", ring="#56B4E9",
    inside="#2BBF95", near="#F0C341", past="#F5873D", aim="#D58BC0", with_update="#F5873D", against_update="#56B4E9",
)  # fmt: skip
PROJECTOR = Palette(
    paper="#ffffff", ink="#000000", muted="#3b3f44", hair="#d0d0cc", field="#ffffff", edge="#7a7d80", hover="#ececea",
    chosen="#dfe9f2", dim="#85898d", track="#a9abad", cloud="#61666c", update="#C24E00", ring="#005A94",
    inside="#00735A", near="#B86E00", past="#C24E00", aim="#7F3480", with_update="#C24E00", against_update="#005A94",
    stroke=1.8, type=1.3,
)  # fmt: skip
THEMES: Mapping[str, Palette] = {"light": LIGHT, "dark": DARK, "projector": PROJECTOR}
