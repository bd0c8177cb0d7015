"""How the page looks: a type scale of three sizes, and the style sheets that every view shares."""

from app.palette import LIGHT, THEMES

#: The type scale; on a wall it grows with the page. `DRAWN` and `NAMED` are for text on the picture's canvas.
SMALL, BODY, LARGE = "var(--small)", "var(--body)", "var(--large)"
DRAWN, NAMED = "12px", "14px"
# For figures that do not yet follow the theme.
INK, MUTED, CLOUD, HAIR, PAPER = LIGHT.ink, LIGHT.muted, LIGHT.cloud, LIGHT.hair, LIGHT.paper
UPDATE, RING, RUN_A, RUN_B = LIGHT.update, LIGHT.ring, LIGHT.ink, LIGHT.aim
FONT = "Inter, Helvetica Neue, Segoe UI, Liberation Sans, Roboto, Arial, sans-serif"

#: For the page itself: the body, and variables that every shadow root inherits.
PAGE = f"""
:root {{
  {LIGHT.css()}
  --small: calc(clamp(11.5px, 0.72vw, 15px) * var(--type)); --body: calc(clamp(13px, 0.82vw, 17px) * var(--type));
  --large: calc(clamp(20px, 1.3vw, 28px) * var(--type));
}}
{
    " ".join(
        f":root[data-theme={name}] {{ {palette.css()} color-scheme: {'dark' if name == 'dark' else 'light'}; }}"
        for name, palette in THEMES.items()
    )
}
html, body {{ margin: 0; padding: 0; background: var(--paper); color: var(--ink); }}
body {{ font: {BODY}/1.4 {FONT}; overflow-x: hidden; }}
"""

#: The page's template. Without a viewport, a telephone lays the page out 980 pixels wide and shrinks it.
HEAD = '{% block postamble %}<meta name="viewport" content="width=device-width, initial-scale=1">{% endblock %}'

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
  width: 100%; height: 26px; border: 1px solid var(--edge); border-radius: 4px; background: var(--field);
  padding: 0 4px;
}}
select:disabled, input:disabled {{ color: var(--dim); background: var(--hover); border-color: var(--hair); }}
:focus-visible {{ outline: 2px solid var(--ring); outline-offset: 1px; }}
.sr {{ position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }}
.small {{ font-size: {SMALL}; color: var(--muted); }}
"""

#: The page's grid: dials, picture, readings; on a narrow screen one below the other, the picture first.
LAYOUT = """
:host {
  display: grid !important; width: 100%; box-sizing: border-box; padding: 0 18px; column-gap: 20px;
  grid-template-columns: minmax(212px, 17.5vw) 50vw minmax(0, 1fr);
  grid-template-rows: 40px min(50vw, max(360px, calc(100vh - 80px))) 40px auto;
  grid-template-areas: "menu menu menu" "dials plane side" "dials player side" "target target target"
    "ahead ahead ahead" "lesson lesson lesson";
}
:host > * { min-width: 0; margin: 0 !important; width: auto !important; }
.menu { grid-area: menu; } .dials { grid-area: dials; } .plane { grid-area: plane; } .player { grid-area: player; }
.side { grid-area: side; } .ahead { grid-area: ahead; height: auto !important; }
.target { grid-area: target; height: auto !important; } .lesson { grid-area: lesson; }
.dials, .side { height: auto !important; min-height: 0; }
.dials { overflow-y: auto; scrollbar-width: thin; }
.side { display: flex; flex-direction: column; }
.plane { height: auto !important; position: relative; }
@media (max-width: 1000px) {
  :host {
    padding: 0 12px; grid-template-columns: minmax(0, 1fr); grid-template-rows: auto;
    grid-template-areas: "menu" "plane" "player" "side" "dials" "target" "ahead" "lesson"; row-gap: 6px;
  }
  .plane { height: min(calc(100vw + 70px), max(340px, calc(100vh - 150px))) !important; }
  .dials { overflow: visible; }
}
"""
