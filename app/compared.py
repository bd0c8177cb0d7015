"""The address of a comparison: which presets stand side by side, and of each cell what differs from its preset.

``page=compare&with=NAME,NAME&view-a=1;seed=3;draw=2&view-b=1;clip.on=true`` says of each cell what a link's ``view``
says. What all cells share stands with A, and so do the batch, the theme and the scale; the others take A's steps under
settings of their own, unless a packed path says under which.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from app import compare
from app.compare import LETTERS, imposed
from app.linked import Comparison
from sim.config import Config
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


def queries(comparison: Comparison, most: int) -> tuple[str, str]:
    """The query of a comparison, and that of the page of what A has on show.

    Where they would be longer than so many characters, they have of the settings nothing but theme and scale.
    """
    names = [cell.preset_name for cell in comparison.cells]
    look = differing_looks({"theme": comparison.look.theme, "scale": comparison.look.radius})
    together = f"page=compare&{NAMES}={','.join(names)}"
    begun = Link(builtin(names[0]), names[0], Moment(builtin(names[0]).config), look)
    short = "&".join([together, *[f"{VIEWS['A']}={begun.view()}"] * bool(look)]), begun.query()
    try:
        first = Link(begun.preset, names[0], comparison.cells[0].moment, look)
        links = [first, *(_own(name, cell.moment) for name, cell in zip(names[1:], comparison.cells[1:], strict=True))]
        views = [f"{key}={view}" for key, each in zip(VIEWS.values(), links, strict=False) if (view := each.view())]
        whole = "&".join([together, *views]), first.query()
    except InvalidInput:
        return short
    return whole if max(map(len, whole)) <= most else short


def asked(given: Mapping[str, Sequence[str]], theme: Sequence[str] = ()) -> Compared:
    """What an address asks for that gives `PARAMETERS` these values, and a theme beside them; what is right is kept."""
    names, problems = compare.asked(given[NAMES][-1] if given.get(NAMES) else None)
    views = {letter: given[key] for letter, key in VIEWS.items() if given.get(key)}
    if problems and views:
        problems.append(f"{', '.join(VIEWS[each] for each in views)}: left out, as it is not known of which presets")
        views = {}
    if len(given.get(NAMES, ())) > 1:
        problems.append(f"{NAMES}: given {len(given[NAMES])} times, allowed once; the last is kept")
    cells = dict(zip(LETTERS, names, strict=False))
    problems += [
        f"{VIEWS[each]}: there is no cell {each}; name its preset in {NAMES}" for each in views if each not in cells
    ]
    links = {letter: _read(letter, name, views.get(letter, ()), theme, problems) for letter, name in cells.items()}
    first = links.pop("A")
    paths = [first.moment.path, *(_path(letter, each, first, problems) for letter, each in links.items())]
    apart = any(path is None for path in paths)
    configs = [imposed(each.moment.config, first.moment.config) for each in (first, *links.values())]
    moments = [
        Moment(config) if apart or path is None else Moment(config, path, first.moment.draw)
        for config, path in zip(configs, paths, strict=True)
    ]
    return Compared(names, moments, first.look, problems)


def _own(name: str, moment: Moment) -> Link:
    """The link to what a cell after A has on show, without what stands with A."""
    preset = builtin(name)
    return Link(preset, name, Moment(imposed(moment.config, preset.config), moment.path))


def _read(letter: str, name: str, views: Sequence[str], theme: Sequence[str], problems: list[str]) -> Link:
    """The link that a cell's views are."""
    bare = [";".join(each for each in view.split(";") if not each.startswith("log=")) for view in views]
    if bare != list(views):
        problems.append(f"{letter}: log: a comparison begins with none, left out")
    given = {"preset": [name], **({"view": bare} if bare else {})}
    link, wrong = read_link({**given, "theme": theme} if letter == "A" and theme else given)
    for each in wrong:
        key, colon, rest = each.partition(":")
        problems.append(f"{VIEWS[letter]}{colon}{rest}" if key == "view" else f"{letter}: {each}")
    if letter != "A" and (link.moment.key != _own(name, link.moment).moment.key or link.look):
        problems.append(f"{letter}: what all cells share, the batch and the looks stand with A; left out")
    return link


def _path(letter: str, link: Link, first: Link, problems: list[str]) -> Path | None:
    """A cell's steps, which are A's under its own settings; None, which is told, where they cannot be that."""
    own, theirs = link.moment, first.moment
    if own.step not in (0, theirs.step):
        problems.append(f"{letter}: {own.step} steps, and A {theirs.step}; all cells take the same, so all begin anew")
        return None
    if own.path == Path().then(own.config, 0, own.step):
        path = Path()
        for (config, draw), steps in groupby(theirs.path.steps, lambda each: (each.config, each.draw)):
            assert config is not None
            path = path.then(imposed(own.config, config), draw, len(list(steps)))
        return path
    if [_drawn(each) for each in own.path.steps] != [_drawn(each) for each in theirs.path.steps]:
        problems.append(f"{letter}: its steps saw other batches than A's; all cells see the same, so all begin anew")
        return None
    return own.path


def _drawn(step: Path) -> tuple[object, ...]:
    """What batch a step saw, as far as all cells share it."""
    config: Config | None = step.config
    assert config is not None
    return config.seed, config.source.prompts, config.source.group_size, config.source.temperature, step.draw
