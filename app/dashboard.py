"""The page of one visitor, and what the process keeps for all of them."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import panel as pn

from app import compare, embed, framed, theme, unopened
from app.frames import Frames
from app.linked import Comparison
from app.look import Look
from app.palette import THEMES
from app.parts import parts
from app.runners import Runners
from app.session import DEFAULT, Session
from app.share import Share
from app.target import Targets
from app.views.claims import Claims
from app.views.compare import Compare
from app.views.embedded import Embedded, dressed
from app.views.glossary import Glossary
from app.views.keeper import Keeper
from app.views.keys import Keys, of_session
from app.views.landmarks import SKIPS, Landmarks
from app.views.menu import Menu
from app.views.share import ShareDialog
from sim.errors import InvalidInput
from sim.presets import Preset, builtin
from sim.sentences import either, limited, nearest, shown
from sim.simulator import Simulator
from sim.timeline import Moment
from sim.world import World


@cache
def frames() -> Frames:
    """The process's frames."""
    return Frames(lambda: Simulator(World.load()))


@cache
def runners() -> Runners:
    """The process's threads for runs."""
    return Runners(frames())


@cache
def quick() -> Runners:
    """The process's thread for files that are made in a moment, which wait for no run."""
    return Runners(frames(), threads=1)


@cache
def targets() -> Targets:
    """The process's implicit targets."""
    return Targets(frames())


def warm() -> None:
    """Begin to compute what most visitors see first."""
    frames().warm(Moment(builtin(DEFAULT).config))


def dashboard() -> pn.viewable.Viewable:
    """The page of the visitor who is being served."""
    document: Any = pn.state.curdoc
    document.template = unopened.TEMPLATE
    frame, wrong = embed.asked(pn.state.session_args)
    # In the markup itself, so that no other theme is seen before the page has come to life.
    document.template_variables["html_attrs"] = f'data-theme="{theme_asked() or "light"}" {frame.attributes()}'
    name, preset, problems = asked()
    problems = limited([*problems, *(f"the address: {each}" for each in wrong)])
    if page_asked() == "claims":
        return Claims(problems, f"theme={theme_asked()}" if theme_asked() else "").__panel__()
    if page_asked() == "compare":
        return _compared(document, problems)
    session = Session(frames(), preset, name, document, Look(theme=theme_asked() or "light"))
    session.refuse(problems)
    session.begin()
    shown = parts(session, document, runners(), targets())
    keeper = Keeper(session, session, document)
    share = Share(session, runners(), quick(), frames(), document)
    places = {"menu": Menu(session, css_classes=["menu"]), **shown.shown}
    if frame.on:
        places = {name: places[name] for name in framed.PLACES if name not in frame.hidden}
        document.template_variables[unopened.STYLE] = framed.variables(places)
    page = pn.Column(
        Landmarks(skips=[list(each) for each in SKIPS if each[0] in places]), keeper,
        Keys(session, of_session(session)), *places.values(), Glossary(), ShareDialog(share), *[Embedded()] * frame.on,
        stylesheets=[theme.LAYOUT, *[framed.LAYOUT] * frame.on], margin=0, sizing_mode="stretch_width", name="page",
    )  # fmt: skip
    if frame.on:
        dressed(page, frame.hidden)
    pn.state.on_session_destroyed(lambda _: shown.close())
    pn.state.on_session_destroyed(lambda _: keeper.close())
    pn.state.on_session_destroyed(lambda _: share.close())
    return page


def _compared(document: Any, problems: list[str]) -> pn.viewable.Viewable:
    """The page of comparison, with what is wrong with the address."""
    wanted, wrong = compare.asked(_last("with") if "with" in pn.state.session_args else None)
    comparison = Comparison(frames(), wanted, document, Look(theme=theme_asked() or "light"))
    comparison.refuse(limited([*problems, *(f"the address: {each}" for each in wrong)]))
    comparison.begin()
    pn.state.on_session_destroyed(lambda _: comparison.close())
    return Compare(comparison).__panel__()


def asked() -> tuple[str, Preset, list[str]]:
    """The preset that the address asks for, else the default, with what is wrong with the address."""
    query = pn.state.session_args
    problems = [_unknown("key", key, _KEYS) for key in query if key not in _KEYS and not key.startswith("bokeh-")]
    if page_asked() not in ("", *_PAGES):
        problems.append(_unknown("page", page_asked(), _PAGES))
    if _last("theme") not in ("", "default", *THEMES):
        problems.append(_unknown("theme", _last("theme"), list(THEMES)))
    name = _last("preset") if "preset" in query else DEFAULT
    try:
        preset = builtin(name)
    except InvalidInput as error:
        name, preset = DEFAULT, builtin(DEFAULT)
        problems += error.problems
    return name, preset, limited([f"the address: {problem}" for problem in problems])


def page_asked() -> str:
    """The page that the address asks for; "" for the picture."""
    return _last("page")


def theme_asked() -> str:
    """The theme that the address asks for; "" for none, or for one that there is not."""
    return _last("theme") if _last("theme") in THEMES else ""


def _last(key: str) -> str:
    """What the address gives a key, the last time that it stands there."""
    return pn.state.session_args.get(key, [b""])[-1].decode("utf-8", "replace")


def _unknown(what: str, came: str, allowed: Sequence[str]) -> str:
    meant = nearest(came, allowed)
    return f"unknown {what} {shown(came)}; " + (f'did you mean "{meant}"?' if meant else f"allowed: {either(allowed)}")


_KEYS = ("preset", "page", "theme", "with", "embed", "hide")
_PAGES = ("claims", "compare")
