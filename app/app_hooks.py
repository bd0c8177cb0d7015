"""What ``panel serve app`` runs once, when the server starts."""

from typing import Any

from app.dashboard import warm


def on_server_loaded(_: Any) -> None:
    """Compute the first picture before anybody asks for it."""
    warm()
