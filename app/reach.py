"""Where the page is served, and who can get at it: addresses, host names and ports, checked before a server starts."""

import errno
import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address

from sim.errors import InvalidInput
from sim.sentences import shown

ANY = "*"
#: What Bokeh makes of the origin "null", which a frame has that is sandboxed without an origin: no host, its port 80.
NO_ORIGIN = ":80"
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")

_NAME = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?P<host>{_NAME}(\.{_NAME})*|\[[0-9a-f:.]+\])(:(?P<port>[0-9]{{1,5}}))?")
_PREFIX = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*")


def origin(text: str) -> str:
    """A host and port under which browsers may reach the page, as a server compares them.

    Raises:
        InvalidInput: if it is none.
    """
    if text == ANY:
        return ANY
    found = _HOST.fullmatch(text.lower())
    if found and 1 <= int(found["port"] or 80) <= 65535:
        # A browser leaves out the port that goes without saying, for which Bokeh puts 80 whatever the scheme.
        return f"{found['host']}:{int(found['port'] or 80)}"
    meant = _HOST.match(re.sub(r"^[a-z]+://", "", text.lower()))
    hint = f'; did you mean "{meant[0]}"?' if meant and meant[0] != text.lower() and "*" not in text else ""
    raise InvalidInput([
        f"--origin: got {shown(text)}, allowed HOST or HOST:PORT as in lectures.example.org, without scheme or path, "
        f"or {ANY} for any{hint}"
    ])  # fmt: skip


def prefix(text: str) -> str:
    """The part of the address's path before the page, without slashes around it.

    Raises:
        InvalidInput: if it is none.
    """
    bare = text.strip("/")
    if bare and not _PREFIX.fullmatch(bare):
        raise InvalidInput(
            [f"--prefix: got {shown(text)}, allowed a path as in lectures/spring, of letters, digits and . _ ~ -"]
        )
    return bare


def listened(address: str, port: int) -> tuple[str, ...]:
    """The numeric addresses on which a server would listen; each is free now.

    Raises:
        InvalidInput: if this machine has no such address, or the port cannot be had there.
    """
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        found = []
    numeric = [str(each[4][0]) for each in found if address and _free(each[0], each[4], address, port)]
    if not numeric:
        raise InvalidInput([
            f"--address: got {shown(address)}, which is no address of this machine; "
            "allowed: localhost for this machine only, 0.0.0.0 for all its networks, or one of its addresses"
        ])  # fmt: skip
    return tuple(dict.fromkeys(numeric))


def private(addresses: Sequence[str]) -> bool:
    """Whether only this machine gets at the addresses."""
    return all(ip_address(each).is_loopback for each in addresses)


def hosts(address: str, addresses: Sequence[str]) -> tuple[str, ...]:
    """What browsers may call this machine, the best name first, where a server listens on the addresses."""
    if private(addresses):
        return LOOPBACK
    everywhere = [ip_address(each).is_unspecified for each in addresses]
    own = _own_names() if any(everywhere) else (address.lower(),)
    named = (_bracketed(each) for each in own)
    return tuple(dict.fromkeys([*named, *LOOPBACK]))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _own_names() -> tuple[str, ...]:
    """The addresses of this machine in its networks, and its name."""
    name = socket.gethostname().lower()
    found = [_towards(socket.AF_INET, "192.0.2.1"), _towards(socket.AF_INET6, "2001:db8::1")]
    with suppress(OSError, UnicodeError):
        found += [str(each[4][0]) for each in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]
    numeric = [each for each in found if each and "%" not in each and not ip_address(each).is_loopback]
    return tuple(dict.fromkeys([*numeric, *([name] if _HOST.fullmatch(name) else [])]))


def _towards(family: int, elsewhere: str) -> str:
    """This machine's address on the way to another; nothing is sent."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as way:
            way.connect((elsewhere, 9))
            return str(way.getsockname()[0])
    except OSError:
        return ""


def _free(family: int, where: tuple[object, ...], address: str, port: int) -> bool:
    """Whether a server can listen there; InvalidInput if somebody else does, or it may not."""
    try:
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                tried.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            tried.bind(where)
            return True
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InvalidInput([
                f"--port: {port} is taken on {address}; stop what listens there, or take another port"
            ]) from None  # fmt: skip
        if isinstance(error, PermissionError):
            raise InvalidInput([f"--port: {port} is not for this user to open; take one from 1024 on"]) from None
        return False
