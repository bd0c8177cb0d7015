"""Memory that nothing uses any more, given back to the system: the C library keeps what was freed in pieces."""

import ctypes
import threading
from collections.abc import Callable

#: Frames after which it is given back.
FRAMES = 50


class Spare:
    """Counts what is done, and gives memory back each time that much was done; where the library cannot, does nothing.

    Args:
        every: after how many it is given back.
        trim: gives it back; by default the C library's own way, which glibc alone has.
    """

    def __init__(self, every: int = FRAMES, trim: Callable[[], object] | None = None) -> None:
        self._every, self._trim = every, trim or _trim()
        self._lock, self._count = threading.Lock(), 0

    def count(self) -> None:
        """Count one more."""
        with self._lock:
            self._count += 1
            due = self._count % self._every == 0
        if due:
            self._trim()


def _trim() -> Callable[[], object]:
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return lambda: None
    return lambda: trim(0)
