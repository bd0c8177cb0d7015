"""The record that an exported file carries, found by its bytes, so that no picture, film or page need be read."""

import html
import re
from dataclasses import dataclass

from sim.codec import MAX_BYTES, leading
from sim.record import MARK

_BEGINS = re.compile(rb'\{\s*"%s"\s*:\s*"' % MARK.encode())
_ESCAPED = re.compile(rb"\{\s*&quot;%s&quot;\s*:\s*&quot;" % MARK.encode())
#: A comment's extension, with the length of its first block.
_COMMENT = re.compile(rb'!\xfe.\{\s*"%s"' % MARK.encode(), re.DOTALL)
#: How files begin that are a picture, film, page, table or archive, and no JSON.
_OTHERS = re.compile(rb"\x89PNG|GIF8|%PDF|PAR1|\x1aE\xdf\xa3|....ftyp|RIFF|\xff\xd8\xff|PK\x03\x04|\s*<", re.DOTALL)


@dataclass(frozen=True)
class Carried:
    """A record's text, and how many lines of the file come before it; None where the file has no lines."""

    text: str
    before: int | None


def carried(data: bytes) -> Carried | None:
    """The first record in a file, which need not be one; None where there is none.

    A record is an object whose first key is MARK with a text. It stands in HTML, CSV, JSON, Parquet, MP4, WebM and PNG
    as it is; in SVG as XML's text, in PDF as a string of its own, in GIF's comment in blocks of up to 255 bytes.
    """
    if data.startswith(b"GIF8"):
        found = _COMMENT.search(data)
        return Carried(_text(_blocks(data, found.start() + 2)), None) if found else None
    found = _BEGINS.search(data) or _ESCAPED.search(data)
    if found is None:
        return None
    # Twice the room, for what is escaped is longer.
    rest = data[found.start() : found.start() + 2 * MAX_BYTES]
    before = None if b"\0" in data[:1024] or data.startswith(b"%PDF") else data.count(b"\n", 0, found.start())
    if data.startswith(b"%PDF"):
        rest = re.sub(rb"\\([()\\])", rb"\1", rest)
    elif re.match(rb"\s*(<\?xml|<svg)", data):
        rest = html.unescape(rest.partition(b"<")[0].decode(errors="surrogateescape")).encode(errors="surrogateescape")
    return Carried(_text(rest), before)


def foreign(data: bytes) -> bool:
    """Whether a file begins as a picture, film, page, table or archive does, which cannot be a preset's JSON."""
    return _OTHERS.match(data) is not None


def _text(data: bytes) -> str:
    # A byte that is no UTF-8 becomes half of a surrogate pair, which strict JSON refuses.
    return leading(data.decode(errors="surrogateescape"))


def _blocks(data: bytes, start: int) -> bytes:
    """What a chain of a GIF's blocks holds, each after its length, up to the one of length 0."""
    found = list[bytes]()
    while start < len(data) and data[start] and len(found) < 2 * MAX_BYTES // 255:
        end = start + 1 + data[start]
        found.append(data[start + 1 : end])
        start = end
    return b"".join(found)
