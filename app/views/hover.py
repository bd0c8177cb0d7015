"""What the hover on an arrow tells of its token."""

from typing import Any

from bokeh.models import CustomJSHover, HoverTool

from app import theme
from app.picture import MISSING

_DIM = 'style="color:var(--muted); padding-right:14px"'
_OTHER = 'style="display:@other"'
_HTML = f"""
<div style="max-width:320px; margin:-7px; padding:7px 10px; font:{theme.SMALL}/1.45 {theme.FONT}; color:var(--ink);
  background:var(--field); border:2px solid var(--edge)">
  <div {_DIM}>@before</div>
  <div style="font-size:{theme.BODY}; font-weight:600; margin:1px 0 4px">@token</div>
  <table style="border-spacing:0; font-variant-numeric:tabular-nums">
    <tr><td {_DIM}>student gives “@token”</td><td>@student{{custom}}</td></tr>
    <tr><td {_DIM}>teacher gives “@token”</td><td>@teacher{{custom}}</td></tr>
    <tr {_OTHER}><td {_DIM}>its step raises most</td><td>@raised</td></tr>
    <tr {_OTHER}><td {_DIM}>student gives “@raised”</td><td>@raised_student{{custom}}</td></tr>
    <tr {_OTHER}><td {_DIM}>teacher gives “@raised”</td><td>@raised_teacher{{custom}}</td></tr>
    <tr><td {_DIM}>signal</td><td>@signal{{custom}} nats</td></tr>
    <tr><td {_DIM}>gradient's norm</td><td>@norm{{custom}}</td></tr>
    <tr><td {_DIM}>this plane holds of it</td><td>@held</td></tr>
    <tr><td {_DIM}>share of the update</td><td>@share{{custom}} %</td></tr>
  </table>
</div>
"""
_NUMBERS = ("student", "teacher", "raised_student", "raised_teacher", "signal", "norm", "share")
# As app.numbers.significant writes them.
_WRITE = """
if (value <= %g) return "%s"
if (value === 0) return "0"
const [mantissa, exponent] = value.toExponential(2).split("e"), power = Number(exponent)
const raised = (digit) => digit === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]
const written = power < -3 || power >= 5
  ? `${mantissa} × 10${Array.from(String(power), raised).join("")}`
  : Number(`${mantissa}e${power}`).toFixed(Math.max(0, 2 - power))
return written.replace("-", "−")
"""


def hover(tips: Any) -> HoverTool:
    """The hover on the arrows' tips."""
    formatters: Any = {f"@{name}": CustomJSHover(code=_code(name)) for name in _NUMBERS}
    return HoverTool(
        renderers=[tips],
        tooltips=_HTML,
        formatters=formatters,
        limit=1,
        show_arrow=False,
        sort_by=[("length", "descending")],
        name="hover",
    )


def _code(column: str) -> str:
    return _WRITE % (MISSING / 2, "computing" if column == "norm" else "–")
