from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from panel.models.esm import DataEvent

from app.views.messages import Component


class Heard(Component):
    """Notes what it hears."""

    _esm = "export function render() { return document.createElement('p') }"

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Any] = []

    def _handle_msg(self, data: Any) -> None:
        self.heard.append(data)


def test_a_message_is_heard_only_once_the_document_is_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduled: list[Callable[[], None]] = []
    document = SimpleNamespace(session_context=object(), add_next_tick_callback=scheduled.append)
    monkeypatch.setattr("app.views.messages.pn", SimpleNamespace(state=SimpleNamespace(curdoc=document)))
    component = Heard()
    for word in ("one", "two"):
        component._process_event(DataEvent(model=None, data=word))
    assert component.heard == []
    for each in scheduled:
        each()
    assert component.heard == ["one", "two"]


def test_where_nothing_is_served_a_message_is_heard_at_once() -> None:
    component = Heard()
    component._process_event(DataEvent(model=None, data="one"))
    assert component.heard == ["one"]
