"""What the browser sends, which may be anything."""

from typing import Any, TypeVar

Value = TypeVar("Value")


def said(message: Any, key: str, kind: type[Value]) -> Value | None:
    """What a message says under a key; None where that is no value of exactly this kind, or the message no object."""
    value = message.get(key) if isinstance(message, dict) else None
    return value if type(value) is kind else None
