"""The page in a frame of another: what its address asks for, and the frame as HTML for whoever builds that page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType

from sim.errors import InvalidInput
from sim.link import unescaped
from sim.sentences import either, limited, nearest, shown

#: What a frame may do without, and what each is; the picture stays.
PARTS: Mapping[str, str] = MappingProxyType({
    "menu": "the head: presets and theme",
    "dials": "the dials",
    "caption": "the words in the picture's corners",
    "side": "all that stands beside the picture",
    "tabs": "the tabs of readings, tokens and tour",
    "readings": "the readings below the verdict",
    "log": "the log",
    "player": "the player",
})  # fmt: skip
#: Pixels that a frame may be wide or high, and the size that is offered first.
SMALLEST, LARGEST = 120, 8000
WIDTH, HEIGHT = 960, 540
#: Where the page is served by default.
PAGE = "http://localhost:5006/app"

_ON, _OFF = "1", "0"


@dataclass(frozen=True)
class Embed:
    """Whether the page stands in a frame, and which of its parts are left out."""

    on: bool = False
    hidden: frozenset[str] = frozenset()

    def attributes(self) -> str:
        """What the page's markup says of it, for scripts and style sheets."""
        return 'data-embed=""' if self.on else ""


def asked(arguments: Mapping[str, Sequence[bytes]]) -> tuple[Embed, list[str]]:
    """What an address asks for by ``embed`` and ``hide``, and what is wrong with it; the good parts are kept."""
    arguments = unescaped(arguments)
    flag, names = (_last(arguments, key) for key in ("embed", "hide"))
    problems = []
    if flag not in (None, _ON, _OFF):
        problems.append(f"embed: got {shown(flag)}, allowed {_ON} or {_OFF}")
    on = flag == _ON
    named = dict.fromkeys(name.strip() for name in (names or "").split(",") if name.strip())
    problems += [_unknown(name) for name in named if name not in PARTS]
    if names is not None and not on:
        problems.append(f"hide: parts are left out only in a frame; add embed={_ON}")
    return Embed(on, frozenset(named) & PARTS.keys() if on else frozenset()), limited(problems)


def query(link: str, hidden: Iterable[str] = ()) -> str:
    """The query of a page in a frame, from the query of a link and the parts that are left out.

    Raises:
        InvalidInput: if there is no such part.
    """
    names = sorted(set(hidden), key=lambda name: [*PARTS, name].index(name))
    if wrong := [_unknown(name) for name in names if name not in PARTS]:
        raise InvalidInput(wrong)
    hide = [f"hide={','.join(names)}"] if names else []
    # What follows a # is no part of a query, and would swallow what comes after it.
    bare = link.lstrip("?").split("#")[0]
    return "&".join([*filter(None, [bare]), f"embed={_ON}", *hide])


def iframe(link: str, hidden: Iterable[str] = (), width: int = WIDTH, height: int = HEIGHT, page: str = PAGE) -> str:
    """The frame as HTML, to be pasted into another page.

    Args:
        link: the query of what it shows, as a link writes it.
        hidden: names of `PARTS` that are left out.
        width: its width in pixels.
        height: its height in pixels.
        page: where the page is served, without a query.

    Raises:
        InvalidInput: for a size or a part that there is not.
    """
    problems = [
        f"{name}: got {shown(size)}, allowed a whole number, {SMALLEST} to {LARGEST}"
        for name, size in (("width", width), ("height", height))
        if type(size) is not int or not SMALLEST <= size <= LARGEST
    ]
    if problems:
        raise InvalidInput(problems)
    source = escape(f"{page.split('?')[0].split('#')[0]}?{query(link, hidden)}")
    return f'<iframe src="{source}" title="gradcloud" width="{width}" height="{height}" style="border: 0"></iframe>'


def _unknown(name: str) -> str:
    meant = nearest(name, list(PARTS))
    return f"hide: unknown part {shown(name)}; " + (
        f'did you mean "{meant}"?' if meant else f"allowed: {either(list(PARTS))}, with commas between"
    )


def _last(arguments: Mapping[str, Sequence[bytes]], key: str) -> str | None:
    """What the address gives a key, the last time that it stands there."""
    values = arguments.get(key)
    return values[-1].decode("utf-8", "replace") if values else None
