"""A queue configuration in `binaryData`: gzip in base64, under the key with .gz behind it."""

from __future__ import annotations

SUFFIX = ".gz"
_LARGEST = 1 << 22
"""Bytes; a ConfigMap holds 1 MiB, and a queue configuration packs about tenfold."""


def unpack(text: str) -> str | None:
    """The text; None for what is not gzip in base64, is no text, or is unreasonably large."""
    import zlib
    from base64 import b64decode

    try:
        packed = b64decode("".join(text.split()), validate=True)
        reader = zlib.decompressobj(wbits=31)
        raw = reader.decompress(packed, _LARGEST)
        return raw.decode("utf-8") if reader.eof else None
    except (ValueError, zlib.error):
        return None
