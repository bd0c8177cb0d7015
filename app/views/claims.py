"""The page of claims: each sentence with its verdict, what was measured of it, and the presets that show it."""

import re
from collections.abc import Iterable, Sequence
from html import escape

import panel as pn

from app import theme
from app.numbers import significant
from sim.errors import InvalidInput
from sim.ledger_file import COMMAND, FILE, VERDICTS, Cell, Claim, Ledger, Made, Measurement, Table, load_ledger
from sim.presets import builtin

#: Values of a measurement that are shown one by one; of more, only the mean and the extremes.
_MOST_COLUMNS = 5
_KINDS = dict(zip(VERDICTS, ("holds", "when", "fails"), strict=True))
_FORMS = {
    "holds": '<path d="M2.5 8.5l4 4 7-9" fill="none" stroke="var(--inside)" stroke-width="2.6"/>',
    "when": '<circle cx="8" cy="8" r="6" fill="none" stroke="var(--near)" stroke-width="2"/>'
    '<path d="M8 2a6 6 0 0 1 0 12z" fill="var(--near)"/>',
    "fails": '<path d="M3 3l10 10M13 3L3 13" stroke="var(--past)" stroke-width="2.6"/>',
}
_FILTERS = "\n".join(
    f".claims:has(#only-{kind}:checked) :is(.claim:not(.{kind}), .topic:not(:has(.{kind}))) {{ display: none; }}"
    for kind in _KINDS.values()
)
_CSS = f"""
.claims {{ max-width: 1180px; margin: 0 auto; padding: 0 18px 40px; overflow-wrap: anywhere; }}
header {{ display: flex; align-items: baseline; gap: 6px 16px; flex-wrap: wrap; min-height: 40px; padding-top: 8px; }}
header a {{ margin-left: auto; }}
h1 {{ margin: 0; font-size: {theme.LARGE}; font-weight: 600; letter-spacing: -0.01em; line-height: 1.25; }}
h2 {{ margin: 26px 0 0; font-size: {theme.LARGE}; font-weight: 600; line-height: 1.25; }}
h2::first-letter {{ text-transform: uppercase; }}
h3 {{ margin: 0; font-size: {theme.BODY}; font-weight: 600; line-height: 1.45; }}
p {{ margin: 4px 0 0; line-height: 1.5; }} .lead {{ max-width: 76ch; color: var(--muted); }}
fieldset {{ display: flex; flex-wrap: wrap; gap: 4px 18px; border: 0; margin: 12px 0 0; padding: 0; min-width: 0; }}
legend {{ float: left; padding: 0 4px 0 0; color: var(--muted); }}
label {{ display: inline-flex; align-items: center; gap: 6px; cursor: pointer; }}
label input {{ width: 14px; height: 14px; margin: 0; accent-color: var(--ink); }}
label span {{ color: var(--muted); }}
svg {{ flex: none; }}
.claim {{
  display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); gap: 4px 32px; padding: 14px 0;
  border-top: 1px solid var(--hair);
}}
h2 + .claim {{ margin-top: 8px; }}
.verdict {{ display: flex; gap: 7px; margin-top: 5px; }} .verdict svg {{ margin-top: 2px; }}
.verdict b {{ font-weight: 600; }}
.facts {{ margin: 6px 0 0; font-size: {theme.SMALL}; line-height: 1.5; }}
dl {{ display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 1px 10px; }}
dt {{ color: var(--muted); }} dd {{ margin: 0; }}
dd a + a::before {{ content: ""; display: inline-block; width: 12px; }}
.wide {{ overflow-x: auto; }}
.tables th[scope=row], .wide .short {{ white-space: nowrap; }} .wide th.text {{ text-align: left; }}
table {{ width: 100%; border-collapse: collapse; font-size: {theme.SMALL}; line-height: 1.4; }}
th, td {{ padding: 3px 0 3px 12px; text-align: right; vertical-align: top; font-weight: 400; white-space: nowrap; }}
th:first-child {{ padding-left: 0; text-align: left; white-space: normal; }}
thead th {{ color: var(--muted); }} tbody tr {{ border-top: 1px solid var(--hair); }}
.mean {{ width: 6.2em; }} .range {{ width: 12em; }} .seeds {{ width: 5.2em; }}
td.mean {{ font-weight: 600; }} td.text {{ text-align: left; white-space: normal; }}
.tables table {{ width: auto; min-width: min(100%, 480px); }} .tables section {{ margin-top: 16px; }}
details {{ margin-top: 30px; border-top: 1px solid var(--hair); padding-top: 8px; }}
summary {{ cursor: pointer; color: var(--muted); }}
code {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 0.94em; }}
[role=alert] {{ margin-top: 14px; padding: 10px 12px; border: 1px solid var(--past); border-left-width: 5px;
  border-radius: 5px; background: var(--field); }}
[role=alert] ul {{ margin: 6px 0 0; padding-left: 18px; }}
@media (max-width: 760px) {{
  .claims {{ padding: 0 12px 30px; }}
  .claim {{ grid-template-columns: minmax(0, 1fr); gap: 8px; }}
  legend {{ width: 100%; }}
  .claim th, .claim td {{ white-space: normal; overflow-wrap: normal; }}
  .seeds {{ display: none; }}
}}
@media (max-width: 1000px), (pointer: coarse) {{
  label, summary {{ min-height: 28px; }} header a, .facts a {{ display: inline-block; padding: 4px 0; }}
}}
{_FILTERS}
"""
_LEAD = """Each sentence is a claim about post-training that somebody has made; beside it is what this program
measured of it. A verdict is about the small model that ships here, at the setting named, and about nothing larger."""


class Claims(pn.viewable.Viewer):
    """The page of the ledger that ships, with what was wrong with the address.

    Args:
        problems: what was wrong with it, a line each.
        kept: what the addresses that it links to keep of its own: "theme=dark", or nothing.
    """

    def __init__(self, problems: Sequence[str] = (), kept: str = "") -> None:
        super().__init__()
        try:
            body = claims(load_ledger(), problems, kept)
        except InvalidInput as error:
            body = _page(_alert(f"{FILE} could not be read", [*problems, *error.problems]), kept)
        self._pane = pn.pane.HTML(
            body, stylesheets=[theme.BASE, _CSS], margin=0, sizing_mode="stretch_width", name="claims"
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._pane


def claims(ledger: Ledger | None, problems: Sequence[str] = (), kept: str = "") -> str:
    """The page of a ledger, as HTML, every character of its texts escaped; None is a ledger that is missing."""
    alert = _alert("The address was not understood", problems) if problems else ""
    if ledger is None:
        return _page(
            alert + f"<p>No claim has been measured in this copy: <code>assets/{FILE}</code> is missing. "
            f"Make it: <code>{escape(COMMAND)}</code></p>",
            kept,
        )
    topics: dict[str, list[Claim]] = {}
    for each in ledger.claims:
        topics.setdefault(each.topic, []).append(each)
    body = alert + f'<p class="lead">{_LEAD}</p>' + _filter(ledger.claims)
    for topic, told in topics.items():
        articles = "".join(_claim(each, ledger.made.seeds, kept) for each in told)
        body += f'<section class="topic"><h2>{escape(topic)}</h2>{articles}</section>'
    if ledger.tables:
        body += f'<div class="tables"><h2>Tables</h2>{"".join(map(_table, ledger.tables))}</div>'
    return _page(body + _made(ledger.made), kept)


def _page(body: str, kept: str) -> str:
    return (
        f'<div class="claims"><header><h1>Claims, measured</h1><a href="?{escape(kept)}">to the picture</a></header>'
        f"<main>{body}</main></div>"
    )


def _alert(title: str, problems: Iterable[str]) -> str:
    lines = "".join(f"<li>{escape(each)}</li>" for each in problems)
    return f'<div role="alert">{escape(title)}:<ul>{lines}</ul></div>'


def _filter(told: Sequence[Claim]) -> str:
    """One radio button a verdict; the style sheet hides what the checked one leaves out."""
    counts = {verdict: sum(each.verdict == verdict for each in told) for verdict in VERDICTS}
    choices = [("all", "", "all", len(told))]
    choices += [(kind, _form(kind), verdict, counts[verdict]) for verdict, kind in _KINDS.items()]
    return "<fieldset><legend>Verdict</legend>" + "".join(
        f'<label><input type="radio" name="verdict" id="only-{kind}"{" checked" * (kind == "all")}>'
        f"{form}{words} <span>{count}</span></label>"
        for kind, form, words, count in choices
    ) + "</fieldset>"  # fmt: skip


def _form(kind: str) -> str:
    return f'<svg width="16" height="16" aria-hidden="true">{_FORMS[kind]}</svg>'


def _claim(each: Claim, seeds: Sequence[int], kept: str) -> str:
    kind = _KINDS[each.verdict]
    more = escape(f"&{kept}") if kept else ""
    links = "".join(f'<a href="?preset={name}{more}">{escape(builtin(name).title)}</a> ' for name in each.presets)
    facts = [("text", escape(each.source)), ("setting", escape(each.setting)), ("see it", links)]
    rows = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in facts if words)
    return (
        f'<article class="claim {kind}"><div><h3>{escape(each.claim)}</h3>'
        f'<p class="verdict">{_form(kind)}<span><b>{each.verdict}</b> {_told(each.condition)}</span></p>'
        + (f"<p>{_told(each.note)}</p>" if each.note else "")
        + f'<dl class="facts">{rows}</dl></div><div>{_measured(each.measurements, seeds)}</div></article>'
    )


def _told(text: str) -> str:
    """A sentence as HTML, its minus signs as the tables write them."""
    return escape(re.sub(r"(?<![\w.])-(?=\d)", "−", text))


def _measured(told: Sequence[Measurement], seeds: Sequence[int]) -> str:
    # A column a seed, where each has one value; else what there is, in the order of the ledger.
    most = max(len(each.values) for each in told)
    columns = [f"seed {seed}" for seed in seeds] if len(seeds) == most else [f"#{i}" for i in range(1, most + 1)]
    shown = columns if most <= _MOST_COLUMNS else []
    head = "".join(f'<th scope="col" class="seeds">{escape(column)}</th>' for column in shown)
    rows = ""
    for each in told:
        values = (*each.values, *[None] * (most - len(each.values))) if shown else ()
        cells = "".join(f'<td class="seeds">{_number(value)}</td>' for value in values)
        unit = f", {escape(each.unit)}" if each.unit else ""
        rows += (
            f'<tr><th scope="row">{escape(each.name)}{unit}</th><td class="mean">{_number(each.mean)}</td>'
            f"<td>{_range(each)}</td>{cells}</tr>"
        )
    return (
        '<div class="wide"><table><thead><tr><th scope="col">measured</th><th scope="col" class="mean">mean</th>'
        f'<th scope="col" class="range">lowest to highest</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _range(each: Measurement) -> str:
    if each.low is None or each.high is None:
        return "undetermined"
    return "one value" if len(each.determined) == 1 else f"{_number(each.low)} to {_number(each.high)}"


#: Letters of a cell that is never broken.
_SHORT = 16


def _table(each: Table) -> str:
    # A column is set like what stands in it.
    worded = [any(isinstance(row[i], str) for row in each.rows) for i in range(len(each.columns))]
    head = "".join(
        f'<th scope="col"{" class=text" * text}>{escape(column)}</th>'
        for column, text in zip(each.columns, worded, strict=True)
    )
    rows = "".join(
        f'<tr><th scope="row">{_cell(row[0])}</th>{"".join(_td(value) for value in row[1:])}</tr>' for row in each.rows
    )
    note = f"<p>{escape(each.note)}</p>" if each.note else ""
    return (
        f'<section><h3>{escape(each.title)}</h3>{note}<div class="wide" tabindex="0" role="region" '
        f'aria-label="{escape(each.title)}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _td(value: Cell) -> str:
    if not isinstance(value, str):
        return f"<td>{_cell(value)}</td>"
    return f'<td class="text{" short" * (len(value) <= _SHORT)}">{_cell(value)}</td>'


def _cell(value: Cell) -> str:
    if isinstance(value, str):
        return escape(value)
    return f"{value:,}".replace("-", "−") if isinstance(value, int) else _number(value)


def _number(value: float | None) -> str:
    return "–" if value is None else escape(significant(value))


def _made(made: Made) -> str:
    versions = f"gradcloud {made.gradcloud}, Python {made.python}, torch {made.torch}, numpy {made.numpy}"
    weights = "<br>".join(f"{escape(name)} <code>{digest[:12]}</code>" for name, digest in made.weights.items())
    facts = {
        "versions": escape(versions), "machine": escape(made.machine), "seeds": ", ".join(map(str, made.seeds)),
        "weights": weights, "again": f"<code>{escape(COMMAND)}</code>",
    }  # fmt: skip
    rows = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in facts.items())
    return f'<details><summary>How these were measured</summary><dl class="facts">{rows}</dl></details>'
