"""How the page looks: a type scale of three sizes, and the style sheets that every view shares."""

from app import grid
from app.palette import LIGHT, THEMES

#: The type scale; on a wall it grows with the page.
SMALL, BODY, LARGE = "var(--small)", "var(--body)", "var(--large)"
FONT = "Inter, Helvetica Neue, Segoe UI, Liberation Sans, Roboto, Arial, sans-serif"


def variables(root: str, themed: str) -> str:
    """The variables that every shadow root inherits, as a style sheet; Panel's design takes its colours from some.

    Args:
        root: the selector of what has them.
        themed: that of the same in a theme, with ``{}`` for the theme's name.
    """
    themes = " ".join(
        f"{themed.format(name)} {{ {palette.css()} color-scheme: {'dark' if name == 'dark' else 'light'}; }}"
        for name, palette in THEMES.items()
    )
    return f"""
{root} {{
  {LIGHT.css()} color-scheme: light;
  --small: calc(clamp(11.5px, 0.72vw, 15px) * var(--type)); --body: calc(clamp(13px, 0.82vw, 17px) * var(--type));
  --large: calc(clamp(20px, 1.3vw, 28px) * var(--type));
  --design-background-color: var(--paper); --design-background-text-color: var(--ink);
  --design-surface-color: var(--field); --design-surface-text-color: var(--ink);
}}
{themes}
"""


#: For the page itself: the variables, and the body.
PAGE = f"""
{variables(":root", ":root[data-theme={}]")}
{grid.VARIABLES}
html, body {{ margin: 0; padding: 0; background: var(--paper); color: var(--ink); }}
body {{ font: {BODY}/1.4 {FONT}; overflow-x: hidden; }}
"""

#: For every component: it lives in a shadow root, which inherits variables and nothing else.
BASE = f"""
:host {{ font: {BODY}/1.35 {FONT}; color: var(--ink); font-variant-numeric: tabular-nums; }}
* {{ box-sizing: border-box; }}
button, select, input {{ font: inherit; color: inherit; }}
button {{
  border: 1px solid transparent; border-radius: 4px; background: none; padding: 3px 8px; cursor: pointer;
  white-space: nowrap;
}}
button:hover {{ background: var(--hover); }}
button:disabled {{ color: var(--dim); cursor: default; background: none; }}
select, input[type=number] {{
  width: 100%; height: calc(26px * var(--type)); border: 1px solid var(--edge); border-radius: 4px;
  background: var(--field); padding: 0 4px;
}}
select:disabled, input:disabled {{
  color: var(--dim); background: var(--hover); border-color: var(--hair); opacity: 1;
}}
a {{ color: var(--ring); text-underline-offset: 2px; }}
:focus-visible {{ outline: calc(2px * var(--stroke)) solid var(--ring); outline-offset: 1px; }}
.sr {{ position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }}
.option {{ white-space: nowrap; }}
.small {{ font-size: {SMALL}; color: var(--muted); }}
@media (max-width: 1000px), (pointer: coarse) {{
  button, select, input[type=number], input[type=range], summary {{ min-width: 24px; min-height: 30px; }}
  input[type=checkbox], input[type=radio] {{ min-width: 24px; min-height: 24px; }}
}}
"""

#: The page's grid.
LAYOUT = grid.LAYOUT
