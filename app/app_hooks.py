"""What ``panel serve app`` runs once, when the server starts and when it ends."""

from typing import Any

from app.dashboard import frames, quick, runners, warm


def on_server_loaded(_: Any) -> None:
    """Compute the first picture before anybody asks for it."""
    warm()


def on_server_unloaded(_: Any) -> None:
    """Stop what is under way, which would keep the process alive to its end."""
    runners().close()
    quick().close()
    frames().close()
