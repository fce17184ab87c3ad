"""Many entries in one file, each under a key, as bytes that can be copied without decoding."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from struct import Struct

from policykit.workspace.cache.codec import DamagedError

KEY = 20
"""Bytes of a key."""
_COUNT = Struct(">I")
_ROW = Struct(f">{KEY}sI")
"""A key and the length of its entry; the entries follow all rows."""


def pack(entries: Mapping[bytes, bytes]) -> bytes:
    """Encodes entries as one text."""
    rows = (_ROW.pack(key, len(entry)) for key, entry in entries.items())
    return b"".join((_COUNT.pack(len(entries)), *rows, *entries.values()))


def unpack(raw: bytes) -> dict[bytes, bytes]:
    """Decodes entries, in order. Raises DamagedError."""
    if not raw:
        return {}
    count = int.from_bytes(raw[: _COUNT.size], "big")
    start = _COUNT.size + count * _ROW.size
    if len(raw) < start:
        raise DamagedError("fewer entries than it says")
    rows = list(_ROW.iter_unpack(raw[_COUNT.size : start]))
    ends = list(accumulate((length for _, length in rows), initial=start))
    if ends[-1] != len(raw):
        raise DamagedError("not as long as it says")
    return {key: raw[begin : begin + length] for (key, length), begin in zip(rows, ends, strict=False)}
