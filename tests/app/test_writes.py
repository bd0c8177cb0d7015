"""What is said to a browser while Panel writes to it arrives, whether or not anything is said after it."""

import asyncio
from typing import Any

import pytest
from bokeh.document import Document
from panel.io import document as panels

from app.writes import write_all
from tests.app.conftest import run


class Browser:
    """A connection and the socket behind it: messages are words, and a write is done when the test says so."""

    def __init__(self) -> None:
        self._socket = self.protocol = self
        self.heard: list[str] = []
        self.writes: list[asyncio.Future[None]] = []

    def create(self, _: str, words: list[str]) -> str:
        return " ".join(words)

    def write(self, msg: str) -> list[asyncio.Future[None]]:
        self.heard.append(msg)
        self.writes.append(asyncio.get_running_loop().create_future())
        return self.writes[-1:]


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Browser:
    monkeypatch.setattr(panels, "_dispatch_msgs", panels._dispatch_msgs)
    monkeypatch.setitem(panels.extra_socket_handlers, Browser, lambda conn, msg: conn.write(msg))
    return Browser()


async def told(browser: Browser, words: list[str]) -> None:
    """Say one word after the other, each just when the write of the one before it is done; then let all be written."""
    document: Any = Document()
    connections: Any = [browser]
    for word in words:
        if browser.writes:
            browser.writes[-1].set_result(None)
        said: Any = [word]
        panels.schedule_write_events(document, connections, said)
        await asyncio.sleep(0.01)
    for _ in words:
        for write in browser.writes:
            if not write.done():
                write.set_result(None)
        await asyncio.sleep(0.01)
    assert document not in panels._WRITE_BLOCK


def test_panel_keeps_back_what_is_said_just_when_it_has_written(browser: Browser) -> None:
    # When this fails, Panel has been mended, and app/writes.py may go.
    run(told(browser, ["first", "second"]))
    assert browser.heard == ["first"]


def test_all_is_written_in_the_order_in_which_it_was_said(browser: Browser) -> None:
    write_all()
    write_all()
    run(told(browser, ["first", "second", "third"]))
    assert browser.heard == ["first", "second", "third"]


def test_what_is_said_while_a_write_is_under_way_is_written_once(browser: Browser) -> None:
    write_all()

    async def three() -> None:
        document: Any = Document()
        connections: Any = [browser]
        for word in ("first", "second", "third"):
            said: Any = [word]
            panels.schedule_write_events(document, connections, said)
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        for write in browser.writes:
            write.set_result(None)
        await asyncio.sleep(0.01)
        assert document not in panels._WRITE_MSGS

    run(three())
    assert browser.heard == ["first", "second", "third"]
