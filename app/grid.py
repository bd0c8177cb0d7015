"""Where the page's parts stand: side by side as far as the screen and its letters have room."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """Columns, the heights of the first rows, gaps, a line of parts a row, and the parts that scroll by themselves."""

    columns: str
    rows: str
    gap: str
    areas: tuple[str, ...]
    scrolled: tuple[str, ...] = ()

    def css(self) -> str:
        """The grid as custom properties, which the page's layout takes up."""
        areas = " ".join(f'"{line}"' for line in self.areas)
        own = " ".join(f"--{part}-size: {'size' if part in self.scrolled else 'none'};" for part in ("dials", "side"))
        return f"--columns: {self.columns}; --rows: {self.rows}; --gap: {self.gap}; --areas: {areas}; {own}"


_BAR, _DIALS, _SIDE = (f"calc({width}px * var(--type))" for width in (40, 212, 264))
_REST = f"calc(100vh - 2 * {_BAR})"
_BELOW = ("table", "target", "ahead", "lesson")
#: Dials, picture, readings; the picture and the player are seen without scrolling.
WIDE = Grid(
    f"minmax({_DIALS}, 17.5vw) minmax(0, 50vw) minmax({_SIDE}, 1fr)",
    f"minmax({_BAR}, auto) min(max(50vw, 82vh), max(360px, {_REST})) minmax({_BAR}, auto)",
    "0 20px",
    ("menu menu menu", "dials plane side", "dials player side", *(f"{part} {part} {part}" for part in _BELOW)),
    ("dials", "side"),
)
#: A tablet held upright, or a wall's letters on a small screen: the dials below, the readings still beside.
MEDIUM = Grid(
    f"minmax(0, 1fr) minmax({_SIDE}, 34vw)",
    f"minmax({_BAR}, auto) min(max(60vw, 54vh), max(320px, {_REST})) minmax({_BAR}, auto)",
    "0 16px",
    ("menu menu", "plane side", "player side", "dials dials", *(f"{part} {part}" for part in _BELOW)),
    ("side",),
)
#: A telephone: one below the other, the picture and the player first.
NARROW = Grid(
    "minmax(0, 1fr)",
    "auto min(calc(100vw + 70px), max(300px, calc(100vh - 200px)))",
    "6px 0",
    ("menu", "plane", "player", "side", "dials", *_BELOW),
)

#: The variables of the grid, by the width of the window; a projector's letters fill a wider one.
VARIABLES = f"""
:root {{ {WIDE.css()} }}
@media (max-width: 1180px) {{ :root[data-theme=projector] {{ {MEDIUM.css()} }} }}
@media (max-width: 1000px) {{ :root {{ {MEDIUM.css()} }} }}
@media (max-width: 700px) {{ :root, :root[data-theme=projector] {{ {NARROW.css()} }} }}
"""

#: The page itself; a part finds its place by its class.
LAYOUT = """
:host {
  display: grid !important; width: 100%; box-sizing: border-box; padding: 0 min(18px, 3vw); gap: var(--gap);
  grid-template-columns: var(--columns); grid-template-rows: var(--rows); grid-template-areas: var(--areas);
}
:host > * { min-width: 0; margin: 0 !important; width: auto !important; height: auto !important; }
.menu { grid-area: menu; } .dials { grid-area: dials; } .plane { grid-area: plane; } .player { grid-area: player; }
.side { grid-area: side; } .table { grid-area: table; } .target { grid-area: target; } .ahead { grid-area: ahead; }
.lesson { grid-area: lesson; }
/* What scrolls by itself must not stretch the rows that it stands in. */
.dials { contain: var(--dials-size); } .side { contain: var(--side-size); }
.dials, .side { align-self: stretch !important; min-height: 0; overflow-y: auto; scrollbar-width: thin; }
.side { display: flex; flex-direction: column; }
.plane { position: relative; }
"""
