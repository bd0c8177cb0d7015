"""JSON text packed into the few characters that an address may have, and back, from strangers."""

import base64
import binascii
import json
import zlib
from typing import Any

from sim.errors import InvalidInput

# Deflate without zlib's header and checksum: an address that was cut short is noticed by the stream's missing end.
_RAW = -zlib.MAX_WBITS


def pack(value: Any) -> str:
    """A JSON value as letters, digits, ``-`` and ``_``: deflated, then base64 without its padding."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    deflate = zlib.compressobj(9, zlib.DEFLATED, _RAW)
    return base64.urlsafe_b64encode(deflate.compress(text.encode()) + deflate.flush()).rstrip(b"=").decode()


def unpack(packed: str, origin: str, most: int) -> bytes:
    """The JSON text that was packed, which need not be any.

    Args:
        packed: what `pack` gave.
        origin: what messages call it.
        most: bytes that its text may have.

    Raises:
        InvalidInput: if it is cut short, damaged, or longer than allowed.
    """
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        inflate = zlib.decompressobj(_RAW)
        text = inflate.decompress(data, most + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise InvalidInput([f"{origin}: damaged; copy the whole link"]) from None
    if len(text) > most:
        raise InvalidInput([f"{origin}: over {most} bytes unpacked, allowed at most {most}; copy the link anew"])
    if not inflate.eof:
        raise InvalidInput([f"{origin}: cut short; copy the whole link"])
    return text
