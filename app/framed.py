"""Where the page's parts stand in a frame: all of its room is theirs, and nothing is below."""

from collections.abc import Collection

from app.grid import Grid

#: The parts that have a place of their own in a frame.
PLACES = ("menu", "dials", "plane", "side", "player")

_REST, _OWN = "minmax(0, 1fr)", "minmax(0, auto)"
#: What is left below readings that are not to be cut.
_LEAST = "minmax(80px, 1fr)"
_DIALS, _SIDE = "calc(200px * var(--type))", "minmax(calc(250px * var(--type)), 24vw)"
_BESIDE = "clamp(calc(168px * var(--type)), 31vw, calc(250px * var(--type)))"
_GAP = "0 12px"
#: Frames with room for the dials on one side of the picture and the readings on the other; a projector's letters need
#: more of it. And those that are higher than wide.
_WIDE, _WIDE_LETTERS = "(min-width: 900px) and (min-height: 430px)", "(min-width: 1180px) and (min-height: 560px)"
_UPRIGHT = "(max-aspect-ratio: 9/10)"


def variables(parts: Collection[str]) -> str:
    """The grids of a frame that shows these parts, the picture among them, as custom properties by the frame's size."""
    little, broad, high = (f"{{ {grid(parts).css()} }}" for grid in (small, wide, upright))
    page, letters = ":root[data-embed]", ":root[data-embed][data-theme=projector]"
    return "\n".join([
        "html[data-embed], html[data-embed] body { height: 100%; overflow: hidden; }",
        f"{page} {little}",
        f"@media {_WIDE} {{ {page} {broad} {letters} {little} }}",
        f"@media {_WIDE_LETTERS} {{ {letters} {broad} }}",
        f"@media {_UPRIGHT} {{ {page}, {letters} {high} }}",
    ])  # fmt: skip


#: Goes over the page's own layout.
LAYOUT = """
:host { height: 100vh; height: 100dvh; overflow: hidden; padding: 0 8px; }
:host > * { min-height: 0; }
/* What goes on below its edge fades there, where no scroll bar tells of it. */
.dials { padding-bottom: 14px; mask-image: linear-gradient(#000 calc(100% - 18px), transparent); }
"""


def wide(parts: Collection[str]) -> Grid:
    """Dials, picture, readings; the player below the picture."""
    columns = {"dials": _DIALS, "plane": _REST, "side": _SIDE}
    shown = [name for name in columns if name in parts]
    areas = _around(parts, [shown], ["player" if name == "plane" else name for name in shown])
    return _grid([columns[name] for name in shown], [_REST], areas, parts, ("dials", "side"))


def small(parts: Collection[str]) -> Grid:
    """The picture, and beside it the readings over the dials."""
    beside = [name for name in ("side", "dials") if name in parts]
    columns = [_REST, _BESIDE][: 1 + bool(beside)]
    inner = [["plane", name] for name in beside] or [["plane"]]
    rows = ["minmax(0, max-content)", _LEAST] if len(beside) == 2 else [_REST]
    return _grid(columns, rows, _around(parts, inner, ["player"] * len(columns)), parts, ("dials",))


def upright(parts: Collection[str]) -> Grid:
    """One below the other, the picture with the most room."""
    heights = {"plane": "minmax(0, 3fr)", "player": _OWN, "side": "fit-content(45%)", "dials": _REST}
    shown = [name for name in heights if name in parts]
    areas = _around(parts, [[name] for name in shown], [])
    return _grid([_REST], [heights[name] for name in shown], areas, {*parts} - {"player"}, ("dials",))


def _around(parts: Collection[str], inner: list[list[str]], below: list[str]) -> list[list[str]]:
    """Lines of parts with the menu over them and the player below, where these are shown."""
    above = [["menu"] * len(inner[0])] if "menu" in parts else []
    return [*above, *inner, *([below] if below and "player" in parts else [])]


def _grid(
    columns: list[str], rows: list[str], areas: list[list[str]], parts: Collection[str], scrolled: tuple[str, ...]
) -> Grid:
    heights = [*[_OWN] * ("menu" in parts), *rows, *[_OWN] * ("player" in parts)]
    return Grid(" ".join(columns), " ".join(heights), _GAP, tuple(" ".join(line) for line in areas), scrolled)
