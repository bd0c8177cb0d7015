"""The address of a comparison: which presets stand side by side, and of each cell what differs from its preset.

``page=compare&with=NAME,NAME&view-a=1;seed=3;draw=2&view-b=1;clip.on=true`` says of each cell what a link's ``view``
says. What all cells share stands with A, and so do the batch, the theme and the scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app import compare
from app.compare import LETTERS, imposed
from app.linked import Comparison
from sim.errors import InvalidInput
from sim.link import Link, differing_looks, read_link
from sim.presets import builtin
from sim.timeline import Moment, Path

#: What of an address says what stands side by side.
NAMES = "with"
VIEWS: Mapping[str, str] = {letter: f"view-{letter.lower()}" for letter in LETTERS}
PARAMETERS = (NAMES, *VIEWS.values())


@dataclass(frozen=True)
class Compared:
    """What an address asks for of a comparison, and what is wrong with it, a line a value."""

    names: Sequence[str]
    moments: Sequence[Moment]
    look: Mapping[str, str] = field(default_factory=dict)
    problems: Sequence[str] = ()


def query(comparison: Comparison, most: int) -> str:
    """The query of a comparison; of the presets alone where the rest is too long for so many characters."""
    names = f"page=compare&{NAMES}={','.join(cell.preset_name for cell in comparison.cells)}"
    try:
        links = [_link(comparison, place) for place in range(len(comparison.cells))]
        views = {
            VIEWS[letter]: each.query().partition("&view=")[2] for letter, each in zip(LETTERS, links, strict=False)
        }
    except InvalidInput:
        return names
    whole = "&".join([names, *(f"{key}={view}" for key, view in views.items() if view)])
    return whole if len(whole) <= most else names


def first_query(comparison: Comparison) -> str:
    """The query of the page of what A has on show; of A's preset where the rest is too long."""
    try:
        return _link(comparison, 0).query()
    except InvalidInput:
        return f"preset={comparison.cells[0].preset_name}"


def _link(comparison: Comparison, place: int) -> Link:
    """What a cell has on show; without what it shares with A, unless it is A."""
    cell = comparison.cells[place]
    preset, moment = builtin(cell.preset_name), cell.moment
    if place:
        return Link(preset, cell.preset_name, Moment(imposed(moment.config, preset.config), moment.path))
    look = {"theme": comparison.look.theme, "scale": comparison.look.radius}
    return Link(preset, cell.preset_name, moment, differing_looks(look))


def asked(given: Mapping[str, Sequence[str]]) -> Compared:
    """What an address asks for that gives `PARAMETERS` these values; what is right is kept."""
    names, wrong = compare.asked(given[NAMES][-1] if given.get(NAMES) else None)
    shared = builtin(names[0]).config
    begun = [Moment(imposed(builtin(name).config, shared)) for name in names]
    views = {letter: given[key] for letter, key in VIEWS.items() if given.get(key)}
    if wrong and views:
        wrong = [*wrong, f"{', '.join(VIEWS[each] for each in views)}: left out, as it is not known of which presets"]
    if wrong or not views:
        return Compared(names, begun, problems=wrong)
    links = []
    for letter, name in zip(LETTERS, names, strict=False):
        link, problems = read_link({"preset": [name], **({"view": views[letter]} if letter in views else {})})
        if link.kept is not None:
            problems = [*problems, "log: a comparison has none from a link; leave it out"]
            link = Link(builtin(name), name, Moment(builtin(name).config))
        wrong += [f"{letter}: {problem}" for problem in problems]
        links.append(link)
    wrong += [f"{VIEWS[letter]}: there is no cell {letter}; name its preset in {NAMES}" for letter in views
              if letter not in LETTERS[: len(names)]]  # fmt: skip
    moments, told = _agreed(links)
    return Compared(names, moments, links[0].look, [*wrong, *told])


def _agreed(links: Sequence[Link]) -> tuple[list[Moment], list[str]]:
    """The moments of all cells, which have one clock and share some settings."""
    first, *others = links
    config, draw = first.moment.config, first.moment.draw
    told = [
        f"{letter}: {each.moment.step} steps, and A {first.moment.step}; all cells take the same, so all begin anew"
        for letter, each in zip(LETTERS[1:], others, strict=False)
        if each.moment.step != first.moment.step
    ]
    return [
        Moment(imposed(each.moment.config, config), Path() if told else each.moment.path, draw) for each in links
    ], told
