"""What ``panel serve app`` runs once, when the server starts and when it ends."""

from typing import Any

from app.dashboard import frames, quick, runners, warm
from app.writes import write_all


def on_server_loaded(_: Any) -> None:
    """Have all be written that is said to a browser, and compute the first picture before anybody asks for it."""
    write_all()
    warm()


def on_server_unloaded(_: Any) -> None:
    """Stop what is under way, which would keep the process alive to its end."""
    runners().close()
    quick().close()
    frames().close()
