"""The keys that act on the page: one table, which the handler, the list on the page and every button read."""

from dataclasses import dataclass
from typing import Any

from sim.presets import builtin

#: The presets that have a key, 1 to 9: the collapse and what holds it off, then teachers, rewards and data.
PRESETS = (
    "opsd-collapse", "opsd-clipped", "opsd-frozen-teacher", "opd-same-family", "opd-cross-family",
    "rl-noise-cancels", "rl-small-batch", "sft-fan", "sft-stress",
)  # fmt: skip
HELP, CLIP = "help", "clip"


@dataclass(frozen=True)
class Shortcut:
    """A key and what it does.

    `key` is what the browser calls it, `act` what the page calls what it does; `said` is how the key is written,
    `aria` how a screen reader is told of it; only a key that `repeats` acts on while it is held.
    """

    key: str
    act: str
    said: str
    aria: str
    what: str
    repeats: bool = False

    def sent(self) -> dict[str, Any]:
        """The shortcut as the browser gets it."""
        return {"key": self.key, "act": self.act, "said": self.said, "what": self.what, "repeats": self.repeats}


def preset_act(name: str) -> str:
    """What the page calls the opening of a preset."""
    return f"preset {name}"


SHORTCUTS: tuple[Shortcut, ...] = (
    Shortcut(" ", "play", "Space", "Space", "play, or pause: draw batch after batch"),
    Shortcut("d", "draw", "D", "D", "another batch at the same parameters"),
    Shortcut("ArrowRight", "step", "→", "ArrowRight", "take the update: the parameters move", repeats=True),
    Shortcut("ArrowLeft", "back", "←", "ArrowLeft", "return to the event before this one", repeats=True),
    Shortcut("Home", "first", "Home", "Home", "rewind to where this preset began; the log stays"),
    Shortcut("End", "newest", "End", "End", "return to the last thing that was done"),
    Shortcut("r", "reset", "R", "R", "begin this preset anew, with its own settings; the log goes on"),
    Shortcut("c", CLIP, "C", "C", "turn the clip on or off"),
    Shortcut("?", HELP, "?", "?", "this list"),
    *(Shortcut(str(i), preset_act(name), str(i), str(i), builtin(name).title) for i, name in enumerate(PRESETS, 1)),
)
BY_ACT = {each.act: each for each in SHORTCUTS}


def button(act: str) -> dict[str, str]:
    """What a button says of the key that does the same: its tooltip, and the key's name for a screen reader."""
    each = BY_ACT[act]
    return {"title": f"{each.what} ({each.said})", "aria": each.aria}
