"""What is to be written to a browser while Panel writes to it: written after that, and not with the next thing said."""

from typing import Any

from panel.io import document as panels

_theirs: Any = getattr(panels, "_dispatch_msgs", None)


def write_all() -> None:
    """Have Panel write what came while it was writing.

    When Panel 1.9.4 has written what could not be written at once, it takes away the mark by which a task knows that
    there is something to write. If more came in between, the task for that finds no mark, and a picture, or an address,
    waits until something else is said to the same browser.
    """
    if _theirs is not None:
        panels._dispatch_msgs = _written


async def _written(document: Any) -> None:
    await _theirs(document)
    while document in panels._WRITE_MSGS and document not in panels._WRITE_BLOCK:
        panels._WRITE_BLOCK[document] = True
        await _theirs(document)
