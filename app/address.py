"""What an address asks for, and the address of what a visitor has on show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app import compared
from app.frames import Frames
from app.look import Look
from app.session import LINKED, Session
from sim.errors import InvalidInput
from sim.link import LOOKS, PARAMETERS, TOKEN, Link, differing_looks, read_link, unescaped
from sim.sentences import either, limited, nearest, shown
from sim.timeline import Event, Timeline

KEYS = (*PARAMETERS, "page", "embed", "hide", *compared.PARAMETERS)
PAGES = ("claims", "compare")
#: The page that alone has a key, for those that not every page has; "" is that of the picture.
OWNERS = {"preset": "", "view": "", **dict.fromkeys(compared.PARAMETERS, "compare")}
#: Characters that the address of what is on show may have: servers and proxies refuse requests that are much longer.
LONGEST = 4000
#: Characters of a moment's key by which an entry of the browser's history knows it again.
MARK = 16


@dataclass(frozen=True)
class Asked:
    """What an address asks for, and what is wrong with it, a line a value; `together` says what stands side by side."""

    link: Link
    page: str = ""
    together: Mapping[str, Sequence[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def theme(self) -> str:
        """The theme; "" where the address asks for none."""
        return self.link.look.get("theme", "")


def asked(arguments: Mapping[str, Sequence[bytes]]) -> Asked:
    """What an address asks for that gives its parameters these values; whatever is wrong with it, the rest is kept.

    An address from before there was a `view` asks for a preset and a theme by parameters of their own.
    """
    said = {key: [value.decode("utf-8", "replace") for value in values] for key, values in unescaped(arguments).items()}
    page = said.get("page", [""])[-1]
    problems = [_unknown("key", key, KEYS) for key in said if key not in KEYS and not key.startswith("bokeh-")]
    if page not in ("", *PAGES):
        problems.append(_unknown("page", page, PAGES))
        page = ""
    elsewhere = [key for key in said if OWNERS.get(key, page) != page]
    if elsewhere:
        problems.append(_elsewhere(elsewhere, page))
        said = {key: values for key, values in said.items() if key not in elsewhere}
    # Panel has a theme of this name, which is none of the page's.
    said["theme"] = [value for value in said.get("theme", []) if value not in ("", "default")]
    link, wrong = read_link(said)
    told = limited([f"the address: {problem}" for problem in [*problems, *wrong]])
    return Asked(link, page, {key: said[key] for key in compared.PARAMETERS if key in said}, told)


def begun(frames: Frames, asked: Asked, document: Any = None) -> Session:
    """A visitor's session that shows what the address asks for, and tells what is wrong with it."""
    link = asked.link
    looks = {_PARAMS[key]: value for key, value in link.look.items() if key in LOOKS}
    session = Session(frames, link.preset, link.name, document, Look(**looks))
    if link.kept is None:
        session.begin(link.moment, _label(asked.problems))
    else:
        session.restore(link.kept)
    _pick(session, link, asked.problems)
    return session


def follow(session: Session, link: Link, problems: Sequence[str], label: str = "") -> None:
    """Open what a link leads to, and tell what is wrong with it; how it is looked at, and the log, stay as they are.

    Args:
        session: where it is opened.
        link: the link, or what a file held.
        problems: what is wrong with it, a line each.
        label: what the log calls the way there; by default what it calls a link's.
    """
    session.open(link.preset, link.name, link.moment, label or _label(problems))
    _pick(session, link, problems)


def session_link(session: Session, log: bool = False) -> Link:
    """The link to what a session has on show, with its log or without."""
    look = differing_looks({key: getattr(session.look, name) for key, name in _PARAMS.items()})
    if session.picked is not None:
        look[TOKEN] = str(session.picked)
    kept = session.so_far() if log else None
    return Link(session.preset, session.preset_name, session.timeline.current.moment, look, kept)


@dataclass(frozen=True)
class Place:
    """An entry of the browser's history: what was on show, and the event of the log that led there."""

    link: Link
    event: int

    @classmethod
    def of(cls, session: Session) -> "Place":
        """Where a session is."""
        return cls(session_link(session), origin(session.timeline.current))

    def is_at(self, other: "Place") -> bool:
        """Whether both are the same moment of the same preset, however they are looked at."""
        return self.link.moment.key == other.link.moment.key and self.link.preset == other.link.preset

    def said(self) -> dict[str, Any]:
        """What the browser is told: the query, "" for what is too long for an address, and how to know it again."""
        try:
            query = self.link.query()
        except InvalidInput:
            query = ""
        return {
            "query": query if len(query) <= LONGEST else "",
            "event": self.event,
            "moment": mark(self.link.moment.key),
        }


def origin(event: Event) -> int:
    """The index of the event whose moment this is: a return's is the one that it returned to."""
    return event.parent if event.kind == "rewind" and event.parent is not None else event.index


def mark(key: str) -> str:
    """By what the browser knows a moment again, from the moment's key."""
    return key[:MARK]


def remembered(timeline: Timeline, index: int | None, moment: str | None) -> Event | None:
    """The event of an entry of the browser's history; None unless the log still has it, and it is that moment."""
    event = next((event for event in timeline.events if event.index == index), None)
    return event if event is not None and mark(event.moment.key) == moment else None


def _pick(session: Session, link: Link, problems: Sequence[str]) -> None:
    if problems:
        session.refuse(list(problems), partly=True)
    if TOKEN in link.look:
        session.pick(int(link.look[TOKEN]))


def _label(problems: Sequence[str]) -> str:
    return f"{LINKED}, in part" if problems else LINKED


def _elsewhere(keys: Sequence[str], page: str) -> str:
    here = [key for key, owner in OWNERS.items() if owner == page]
    where = f"page={page}" if page else "no page=compare"
    instead = f"; say {either(here)} instead" if here else ""
    return f"{', '.join(keys)}: left out, as the address has {where}{instead}"


def _unknown(what: str, came: str, allowed: Sequence[str]) -> str:
    meant = nearest(came, allowed)
    return f"unknown {what} {shown(came)}; " + (f'did you mean "{meant}"?' if meant else f"allowed: {either(allowed)}")


#: What the looks of a link are called in a Look.
_PARAMS = {"theme": "theme", "scale": "radius", "side": "side"}
