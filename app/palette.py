"""The palette of each theme: roles, their colours, and how much thicker and larger everything is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Palette:
    """Colours by what they stand for; `stroke` and `type` scale lines and letters.

    Of the marks of the picture (`cloud`, `update`, `ring`) and of the verdicts (`inside`, `near`, `past`) each also has
    a form of its own: nothing is told by colour alone. They start from Okabe and Ito's colours, moved until each
    stands out from the paper and from each other, also for eyes that lack a kind of cone; tests hold them to that.
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
    shadow: str
    stroke: float = 1.0
    type: float = 1.0

    def css(self) -> str:
        """The palette as custom properties, with a dash in a name where Python has an underscore."""
        return " ".join(f"--{each.name.replace('_', '-')}: {getattr(self, each.name)};" for each in fields(self))


LIGHT = Palette(
    paper="#fdfdfb", ink="#1f2328", muted="#5a5f65", hair="#e0dfda", field="#ffffff", edge="#87898c", hover="#efeeea",
    chosen="#e6edf4", dim="#85898d", track="#87898c", cloud="#7d838a", update="#C45200", ring="#0068A8",
    inside="#007E68", near="#B48A00", past="#AE3200", aim="#9B4F96", with_update="#C45200", against_update="#0068A8",
    shadow="rgb(0 0 0 / 0.12)",
)  # fmt: skip
DARK = Palette(
    paper="#14171a", ink="#e9e7e2", muted="#aeb3b9", hair="#30363c", field="#1d2125", edge="#747b84", hover="#262b30",
    chosen="#22303c", dim="#7d848b", track="#747b84", cloud="#8b919a", update="#F5873D", ring="#56B4E9",
    inside="#1FA892", near="#F7DC6F", past="#F0743A", aim="#D58BC0", with_update="#F5873D", against_update="#56B4E9",
    shadow="rgb(0 0 0 / 0.6)",
)  # fmt: skip
PROJECTOR = Palette(
    paper="#ffffff", ink="#000000", muted="#33373b", hair="#c8c8c4", field="#ffffff", edge="#62666a", hover="#ececea",
    chosen="#dfe9f2", dim="#73777b", track="#73777b", cloud="#61666c", update="#B84A00", ring="#00528A",
    inside="#006B58", near="#AD7A00", past="#9E2800", aim="#8B2F8A", with_update="#B84A00", against_update="#00528A",
    shadow="rgb(0 0 0 / 0.3)", stroke=1.8, type=1.3,
)  # fmt: skip
THEMES: Mapping[str, Palette] = {"light": LIGHT, "dark": DARK, "projector": PROJECTOR}
