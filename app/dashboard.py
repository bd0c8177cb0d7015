"""The page of one visitor, and what the process keeps for all of them."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import panel as pn

from app import compared, embed, framed, theme, unopened
from app.address import Asked, asked, begun
from app.files import Files
from app.frames import Frames
from app.linked import Comparison
from app.look import Look
from app.parts import parts
from app.runners import Runners
from app.share import Share
from app.target import Targets
from app.views.address import AddressBar
from app.views.claims import Claims
from app.views.compare import Compare
from app.views.embedded import Embedded, dressed
from app.views.files import FileDesk
from app.views.glossary import Glossary
from app.views.keeper import Keeper
from app.views.keys import Keys, of_session
from app.views.landmarks import SKIPS, Landmarks
from app.views.menu import Menu
from app.views.share import ShareDialog
from app.views.witness import Witness
from sim.link_items import DEFAULT
from sim.presets import builtin
from sim.sentences import limited
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
    wanted = asked(pn.state.session_args)
    if frame.on and wanted.page:
        frame, wrong = embed.Embed(), [*wrong, f"embed: the picture fills a frame, the page {wanted.page} does not"]
    wanted = replace(wanted, problems=limited([*wanted.problems, *(f"the address: {each}" for each in wrong)]))
    if wanted.page == "compare":
        return _compared(document, wanted)
    _dress(document, wanted.theme, frame.attributes())
    if wanted.page == "claims":
        return Claims(wanted.problems, f"theme={wanted.theme}" if wanted.theme else "").__panel__()
    session = begun(frames(), wanted, document)
    shown = parts(session, document, runners(), targets())
    keeper, address = Keeper(session, session, document), AddressBar(session, document)
    share = Share(session, runners(), quick(), frames(), document)
    files = Files(session, document)
    places = {"menu": Menu(session, css_classes=["menu"]), **shown.shown}
    if frame.on:
        places = {name: places[name] for name in framed.PLACES if name not in frame.hidden}
        document.template_variables[unopened.STYLE] = framed.variables(places)
    page = pn.Column(
        Landmarks(skips=[list(each) for each in SKIPS if each[0] in places]), keeper, address,
        Witness(session.seen), Keys(session, of_session(session)), *places.values(), Glossary(), ShareDialog(share),
        FileDesk(files, session), *[Embedded()] * frame.on,
        stylesheets=[theme.LAYOUT, *[framed.LAYOUT] * frame.on], margin=0, sizing_mode="stretch_width", name="page",
    )  # fmt: skip
    if frame.on:
        dressed(page, frame.hidden)
    for each in (shown, keeper, address, share, files):
        _closed_with_visit(each.close)
    return page


def _dress(document: Any, theme: str, more: str = "") -> None:
    """Say in the markup itself what no script has to come for: no other theme is seen before the page is alive."""
    document.template_variables["html_attrs"] = f'data-theme="{theme or "light"}" {more}'


def _closed_with_visit(close: Callable[[], None]) -> None:
    pn.state.on_session_destroyed(lambda _: close())


def _compared(document: Any, asked: Asked) -> pn.viewable.Viewable:
    """The page of comparison, with what is wrong with the address."""
    wanted = compared.asked(asked.together, [asked.theme] if asked.theme else ())
    look = Look(theme=wanted.look.get("theme", "light"), radius=wanted.look.get("scale", "log"))
    _dress(document, look.theme)
    comparison = Comparison(frames(), wanted.names, document, look, wanted.moments)
    comparison.refuse(limited([*asked.problems, *(f"the address: {each}" for each in wanted.problems)]))
    comparison.begin()
    _closed_with_visit(comparison.close)
    return Compare(comparison).__panel__()
