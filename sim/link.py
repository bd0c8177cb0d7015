"""A link: a moment of a preset, how it is looked at and what was done, as the query of an address.

``preset=NAME&view=1;clip.on=true;step=2;draw=3;theme=dark`` is a shipped preset's name and, in one parameter that
begins with its version, what differs from it: settings by dotted key, the number of steps taken and the batch, the
looks, and packed what has no short form: ``path``, steps that were not all alike; ``own``, a preset that does not ship;
``log``, the session, which has such a preset too. A link to one begins with ``preset=own``, and the steps stand beside
the log, so that a link whose end was cut off keeps them or has none, and never others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import parse_qs, quote

from sim import link_items as items
from sim.config import Config
from sim.errors import InvalidInput
from sim.link_items import DEFAULT
from sim.link_path import packed_path, unpacked_path
from sim.override import canonical, settings
from sim.presets import Preset
from sim.sentences import dotted, either, limited, nearest, shown
from sim.session_file import Kept
from sim.session_rows import shipped
from sim.timeline import Moment, Path

Value = TypeVar("Value")

#: The version of the parameter, characters that a query may have where all browsers, mail and chats take it whole,
#: characters of one that is read at all, and values that one may have.
VERSION = 1
MAX_QUERY = 1900
MAX_READ = 100_000
MAX_VALUES = 100
#: Ways to look, beside the token that is picked out: what each may be, what goes without saying first.
LOOKS: Mapping[str, tuple[str, ...]] = {
    "theme": ("light", "dark", "projector"),
    "scale": ("log", "linear"),
    "side": ("readings", "tokens", "tour"),
}
TOKEN = "token"
#: The parameters of an address that a link is; `theme` is from before there were versions.
PARAMETERS = ("preset", "view", "theme")

#: What stands in a preset's place where it does not ship, so that it is missed where the link's end was cut off.
OWN = "own"

_KEYS = ("step", "draw", "path", OWN, "log", TOKEN, *LOOKS)


@dataclass(frozen=True)
class Link:
    """A moment of a preset; `look` has only what does not go without saying, `kept` the session that led there."""

    preset: Preset
    name: str | None
    moment: Moment
    look: Mapping[str, str] = field(default_factory=dict)
    kept: Kept | None = None

    def looked(self, key: str) -> str:
        """Which of `LOOKS` it is looked at by, under a key."""
        return self.look.get(key, LOOKS[key][0])

    def query(self) -> str:
        """The link without its host, percent-encoded; the same each time.

        Raises:
            InvalidInput: if the session or the steps are more than a link may hold.
        """
        view = self.view()
        return "&".join([f"preset={self.name if self._named else OWN}", *[f"view={view}"] * bool(view)])

    def view(self) -> str:
        """What the parameter says of it, percent-encoded; "" where the preset's name says all.

        Raises:
            InvalidInput: as for `query`.
        """
        path = self.moment.path
        alike = path == Path().then(self.moment.config, 0, path.length)
        said = {key: items.written(value) for key, value in items.differing(self.moment.config, self.preset.config)}
        # Before their number, and beside any log: where the end is cut off, none are left that look as if all alike.
        if path.length and (self.kept is not None or not alike):
            said["path"] = packed_path(path, self.preset.config)
        if path.length:
            said["step"] = str(path.length)
        if self.moment.draw:
            said["draw"] = str(self.moment.draw)
        said |= {key: self.look[key] for key in (*LOOKS, TOKEN) if key in self.look}
        if self.kept is not None:
            said["log"] = items.packed_log(self.kept)
        else:
            said |= {} if self._named else {OWN: items.packed_preset(self.preset)}
        view = ";".join([str(VERSION), *(f"{key}={value}" for key, value in said.items())])
        return quote(view, safe=";=") if said else ""

    @property
    def _named(self) -> bool:
        return self.name is not None and shipped(self.name) == self.preset


def differing_looks(look: Mapping[str, str]) -> dict[str, str]:
    """What of a look does not go without saying."""
    return {key: value for key, value in look.items() if key not in LOOKS or value != LOOKS[key][0]}


def fits(query: str) -> bool:
    """Whether a query is short enough to be passed on."""
    return len(query) <= MAX_QUERY


def parse_link(text: str) -> tuple[Link, list[str]]:
    """The link that is an address or the query of one, and what is wrong with it, a line a value.

    What is right is kept. Parameters that are none of a link's are passed over.
    """
    if len(text) > MAX_READ:
        return _none(f"over {MAX_READ} characters, allowed at most {MAX_READ}")
    query = text.partition("#")[0]
    query = query.partition("?")[2] if "?" in query else query
    try:
        found = parse_qs(query, keep_blank_values=True, max_num_fields=100, errors="replace")
    except ValueError:
        return _none("over 100 parameters, allowed are preset and view")
    if not {"preset", "view"} & unescaped(found).keys():
        return _none(f"got {shown(text)}, allowed is an address with preset=, view= or both")
    return read_link(found)


def read_link(parameters: Mapping[str, Sequence[str]]) -> tuple[Link, list[str]]:
    """The link of an address that gives its parameters these values, and what is wrong with it, a line a value.

    Of what is given twice the last counts; a theme in `view` goes before one beside it. Other parameters are passed
    over.
    """
    parameters = unescaped(parameters)
    given = {key: parameters[key] for key in PARAMETERS if parameters.get(key)}
    problems = [
        f"{key}: given {len(values)} times, allowed once; the last is kept"
        for key, values in given.items()
        if len(values) > 1
    ]
    said = _said(given["view"][-1], problems) if "view" in given else {}
    if "theme" in given:
        said.setdefault("theme", given["theme"][-1])
    log = _unpacked(items.unpacked_log, said.get("log"), problems)
    name, opened, meant = _opened(given["preset"][-1] if "preset" in given else None, said, log, problems)
    config = items.assigned(opened.config, {key: each for key, each in said.items() if key not in _KEYS}, problems)
    look = _look(said, problems)
    draw = items.whole("draw", said.get("draw", "0"), problems) or 0
    step = items.whole("step", said["step"], problems) if "step" in said else None
    if log is not None:
        there, grown = log.timeline.current.moment, items.grown(log)
        here = Moment(config, there.path, draw)
        # The log says all of it again, also what was refused.
        if problems or (grown[1], there.step, there.key) == (opened, step or 0, here.key):
            name, opened = grown
            return Link(opened, name, there, look, log), limited(problems)
        problems.append("log: leads to another moment than the rest of the link, which is kept; copy the link anew")
    known = meant and (log is not None or "log" not in said)
    steps = _stepped(said.get("path"), step, opened if meant else None, config, known, problems)
    return Link(opened, name, Moment(config, steps, draw), look), limited(problems)


def unescaped(parameters: Mapping[str, Sequence[Value]]) -> dict[str, list[Value]]:
    """The parameters of an address, also where it was copied out of HTML, which writes ``&`` as ``&amp;``."""
    found = dict[str, list[Value]]()
    for key, values in parameters.items():
        found.setdefault(key.removeprefix("amp;"), []).extend(values)
    return found


def _none(why: str) -> tuple[Link, list[str]]:
    return read_link({})[0], [f"the link: {why}; copy it anew"]


def _said(view: str, problems: list[str]) -> dict[str, str]:
    """What the parameter says, by key."""
    version, *rest = view.split(";")
    if not (version.isascii() and version.isdigit()):
        problems.append(f"view: got {shown(version)} where its version stands, allowed {VERSION}; begin with it")
        rest = [version, *rest] if "=" in version else rest
    elif version.lstrip("0") != str(VERSION):
        newer = "made by a newer gradcloud; what this one knows of it is kept"
        older = "there was no such version; correct it"
        number = int(version[:9])
        problems.append(f"view: got version {number}, allowed {VERSION}: {newer if number > VERSION else older}")
    said, rest = dict[str, str](), [each for each in rest if each]
    if len(rest) > MAX_VALUES:
        problems.append(f"view: got {len(rest)} values, allowed {MAX_VALUES}; the first {MAX_VALUES} are kept")
    for each in rest[:MAX_VALUES]:
        key, equals, value = each.partition("=")
        key = canonical(key)
        if not equals:
            problems.append(f"view: got {shown(each)}, allowed is key=value, such as clip.on=true; correct it")
        elif key in said:
            name = key if key in settings() else dotted((key,))
            problems.append(f"{name}: given twice, allowed once; the first is kept")
        else:
            said[key] = value
    return said


def _unpacked(read: Callable[[str], Value], text: str | None, problems: list[str]) -> Value | None:
    try:
        return None if text is None else read(text)
    except InvalidInput as error:
        problems += error.problems
        return None


def _stepped(
    packed: str | None, step: int | None, preset: Preset | None, config: Config, alike: bool, problems: list[str]
) -> Path:
    """The steps that a link says; where they cannot be known that is told, and there are none.

    Args:
        packed: the steps, where they are packed.
        step: how many there are, None where the link does not say so in a way that can be read.
        preset: what the link was made of, None where that cannot be known.
        config: the settings on show.
        alike: whether steps that are not packed were all taken under these settings.
        problems: what is wrong with the link, which is added to.
    """
    if packed is not None and preset is not None:
        path = _unpacked(lambda text: unpacked_path(text, preset.config), packed, problems)
        if path is not None and step in (None, path.length):
            return path
        if path is not None:
            problems.append(f"path: has {path.length} steps and the link {step}, both left out; copy the link anew")
            return Path()
    if packed is None and alike:
        return items.stepped(step or 0, config, problems)
    if step:
        problems.append(f"step: under what settings the {step} were taken cannot be read, left out; copy the link anew")
    return Path()


def _opened(
    preset: str | None, said: Mapping[str, str], log: Kept | None, problems: list[str]
) -> tuple[str | None, Preset, bool]:
    """The preset's name, the preset, and whether it is the one that was meant."""
    if preset not in (None, OWN):
        if OWN in said:
            problems.append("own: a preset of its own beside the name of one, allowed is either; the name is kept")
        try:
            return preset, shipped(preset), True
        except InvalidInput as error:
            problems += error.problems
    elif OWN in said:
        try:
            return None, items.unpacked_preset(said[OWN]), True
        except InvalidInput as error:
            problems += error.problems
    elif log is not None:
        return *items.grown(log), True
    elif "log" in said or preset == OWN:
        problems.append(f"preset: the link's own cannot be read, {DEFAULT} is opened; copy the link anew")
    else:
        return DEFAULT, shipped(DEFAULT), True
    return DEFAULT, shipped(DEFAULT), False


def _look(said: Mapping[str, str], problems: list[str]) -> dict[str, str]:
    given = {key: said[key] for key in LOOKS if key in said}
    problems += [_unknown(key, value, LOOKS[key]) for key, value in given.items() if value not in LOOKS[key]]
    look = differing_looks({key: value for key, value in given.items() if value in LOOKS[key]})
    token = items.whole(TOKEN, said[TOKEN], problems) if TOKEN in said else None
    return look if token is None else {**look, TOKEN: str(token)}


def _unknown(key: str, came: str, allowed: Sequence[str]) -> str:
    meant = nearest(came, allowed)
    return f"{key}: got {shown(came)}; " + (f'did you mean "{meant}"?' if meant else f"allowed: {either(allowed)}")
