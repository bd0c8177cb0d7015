"""How many people look at once: who may come in, and what the others are told."""

import os
import time
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from app import theme
from sim.errors import InvalidInput
from sim.sentences import shown

#: Visitors at once by default, and at most; the variable by which the command line tells the server another number.
DEFAULT, MOST = 40, 1000
VARIABLE = "GRADCLOUD_SESSIONS"
#: Seconds that a browser may take from the page to its connection before its place is given away.
GRACE = 20.0
#: Seconds after which who was not let in tries again.
AGAIN = 15


class Visitors:
    """Counts who is connected, or about to be.

    Args:
        limit: how many may be at once.
        clock: seconds, ever more of them.
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._expected: dict[str, float] = {}
        self._arrived: set[str] = set()

    def admit(self, visitor: str, connections: Callable[[], Iterable[tuple[str, int]]]) -> bool:
        """Whether a visitor may come in; `connections` gives how many each session has that the server knows."""
        if self._present(dict(connections())) >= self.limit:
            return False
        self._expected[visitor] = self._clock()
        return True

    def arrived(self, visitor: str) -> None:
        """Note that the visitor's browser has connected."""
        if self._expected.pop(visitor, None) is not None:
            self._arrived.add(visitor)

    def left(self, visitor: str) -> None:
        """Forget a visitor, who has left for good."""
        self._expected.pop(visitor, None)
        self._arrived.discard(visitor)

    def _present(self, connections: dict[str, int]) -> int:
        # Who has been here and has no connection any more has left, though the server keeps his session for a while.
        here = sum(connections.get(visitor, 0) > 0 for visitor in self._arrived)
        now = self._clock()
        return here + sum(now - since < GRACE for since in self._expected.values())


@cache
def visitors() -> Visitors:
    """The process's visitors."""
    return Visitors(limit())


def limit() -> int:
    """How many may look at once, as the environment says.

    Raises:
        InvalidInput: if it says something else.
    """
    said = os.environ.get(VARIABLE, str(DEFAULT))
    if not (said.isascii() and said.isdigit() and len(said) <= 9 and 1 <= int(said) <= MOST):
        raise InvalidInput([f"{VARIABLE}: got {shown(said)}, allowed a whole number, 1 to {MOST}"])
    return int(said)


def let_in(document: Any, state: Any) -> bool:
    """Whether the visitor of a document may come in; if not, the document says so, and is a page without scripts."""
    context, here = document.session_context, visitors()
    if context is None:
        return True
    server = context.server_context
    if not here.admit(context.id, lambda: ((each.id, each.connection_count) for each in server.sessions)):
        document.template = full(here.limit)
        return False
    state.onload(lambda: here.arrived(context.id))
    state.on_session_destroyed(lambda gone: here.left(gone.id))
    return True


def full(limit: int) -> str:
    """The template of the page for who was not let in."""
    people = "1 person" if limit == 1 else f"{limit} people"
    return f"""
{{% block resources %}}{{% endblock %}}
{{% block postamble %}}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="{AGAIN}">
<style>{{% raw %}}{theme.PAGE}
main {{ max-width: 34em; margin: 12vh auto 0; padding: 0 20px; }} h1 {{ font-size: var(--large); font-weight: 600; }}
{{% endraw %}}</style>{{% endblock %}}
{{% block inner_body %}}<main><h1>gradcloud is full just now</h1>
<p>It is set to serve {people} at once, and that many are looking. This page tries again by itself every
{AGAIN} seconds; leave it open, and the picture comes as soon as somebody leaves.</p></main>{{% endblock %}}
"""
