"""Views in the outputs of a notebook: their changes sent together, and nothing fetched from the net."""

import asyncio
import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from importlib import import_module
from pathlib import Path
from typing import Any

import panel as pn
from panel.io.notebook import block_comm, push_notebook
from panel.io.resources import CDN_DIST, get_dist_path

_SHIPPED = Path(pn.__file__).parent / "dist"


class Uncaptured(list[str]):
    """Stands for the standard output of a message's handler, and lets what is printed pass."""

    def __enter__(self) -> "Uncaptured":
        return self

    def __exit__(self, *_: object) -> None:
        pass


def leave_output() -> None:
    """Let the kernel's standard output be, while messages are heard.

    Panel's messages replace it for the whole process and put it back. Where several threads hear messages, as they do
    under newer notebooks, two that overlap put it back in the wrong order, and no cell prints anything any more.
    """
    comms: Any = import_module("pyviz_comms")
    comms.StandardOutput = Uncaptured


class Outputs:
    """Stands for a visitor's document where there is none: the outputs of a notebook that show a view."""

    #: What tells a document that is served; this is none.
    session_context = None

    def __init__(self) -> None:
        self.view: Any = None

    @contextmanager
    def together(self) -> Iterator[None]:
        """Sends what is changed meanwhile as one message to each output; on its own, each change is one of several."""
        with block_comm():
            yield
        if self.view is not None:
            push_notebook(self.view)


class Output(pn.Column):
    """Views that a notebook shows as one output; what is said to them is heard in the loop that shows them."""

    def __init__(self, *views: Any, **params: Any) -> None:
        super().__init__(*views, **params)
        self.loop = _running()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """What the notebook shows."""
        bundle = super()._repr_mimebundle_(include, exclude)
        for reference in self._models:
            _bring(pn.state._views[reference][2])
        return bundle


def hear(document: Any, act: Callable[[], object]) -> None:
    """Do what a message from the output with this document asks for, and send what changes as one message.

    Newer notebooks let a thread of its own listen, so that messages are heard while a cell runs; tasks of a session
    belong to the loop that it began in.
    """
    view = next((view for view, _, each, _ in pn.state._views.values() if each is document), None)
    outputs = Outputs()
    outputs.view = view

    def heard() -> None:
        # What is begun now changes every output; in the document of this one, Panel would give its style sheets to all.
        pn.state.curdoc = None  # type: ignore[assignment]
        with outputs.together():
            act()

    loop = getattr(view, "loop", None)
    if loop is None or loop is _running():
        copy_context().run(heard)
    else:
        loop.call_soon_threadsafe(heard)


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _bring(document: Any) -> None:
    """Let what is rendered into a document from now on find Panel's style sheets in itself.

    Panel puts them into what it shows at first, and refers to the net in what it renders later.
    """
    known = pn.state._stylesheets.get(document, {})
    for sheet in list(known.values()):
        path = sheet.url.removeprefix(CDN_DIST).partition("?")[0]
        if sheet.url.startswith(CDN_DIST) and (_SHIPPED / path).is_file():
            sheet.url = f"data:text/css;base64,{base64.b64encode((_SHIPPED / path).read_bytes()).decode()}"
            # Later it goes by the place that it would have on a server.
            known[get_dist_path() + path] = sheet
