"""What the browser sends, which may be anything, and when it is heard."""

from typing import Any, TypeVar

import panel as pn
from panel.custom import JSComponent

from app.outputs import hear

Value = TypeVar("Value")


class Component(JSComponent):
    """A component that hears its messages while its document is locked.

    Panel hands on without the lock what arrives together with a change of a property, and what arrives before all is
    connected; a model that is changed then is an error.
    """

    __abstract = True

    def _process_event(self, event: Any) -> None:
        document: Any = pn.state.curdoc
        if document is None:
            super()._process_event(event)
        elif document.session_context is None:
            hear(document, lambda: super(Component, self)._process_event(event))
        else:
            document.add_next_tick_callback(lambda: super(Component, self)._process_event(event))


def said(message: Any, key: str, kind: type[Value]) -> Value | None:
    """What a message says under a key; None where that is no value of exactly this kind, or the message no object."""
    value = message.get(key) if isinstance(message, dict) else None
    return value if type(value) is kind else None
