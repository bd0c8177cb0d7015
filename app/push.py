"""Changes to a visitor's document from a task: made where they may be made, each as one message."""

import asyncio
from collections.abc import Callable
from typing import Any

import panel as pn

from app.outputs import Outputs


class Push:
    """Makes changes to a document, one after the other; to a notebook's outputs, or without a document, at once.

    Awaiting a change waits until it is made, so that whoever makes many never gets ahead of the server. The first
    waits until the browser is there: what changes while the browser fetches the document would not reach it.
    """

    def __init__(self, document: Any = None) -> None:
        self._document = document
        self._closed = False
        self._ready = asyncio.Event()
        if self._served():
            pn.state.onload(self._ready.set)

    def close(self) -> None:
        """Make no change any more: the visitor has left."""
        self._closed = True

    async def __call__(self, change: Callable[[], object]) -> None:
        """Make a change, unless this is closed or the task is cancelled before its turn comes."""
        if self._closed:
            raise asyncio.CancelledError
        if isinstance(self._document, Outputs):
            with self._document.together():
                change()
            return
        if not self._served():
            change()
            return
        await self._ready.wait()
        made = asyncio.get_running_loop().create_future()

        def run() -> None:
            if made.done() or self._closed:
                return
            try:
                with pn.io.hold(self._document):
                    change()
            except Exception as error:
                made.set_exception(error)
            else:
                made.set_result(None)

        self._document.add_next_tick_callback(run)
        await made

    def _served(self) -> bool:
        return self._document is not None and self._document.session_context is not None
