"""Values of policykit as bytes, and back: reading makes nothing but such values."""

from __future__ import annotations

import io
import pickle
from binascii import crc32
from typing import Any

DAMAGED = (
    pickle.UnpicklingError,
    AttributeError,
    EOFError,
    ImportError,
    IndexError,
    KeyError,
    MemoryError,
    OverflowError,
    TypeError,
    ValueError,
)
"""What reading raises for bytes that are no values of this version."""

_SUM = 4
"""Bytes of the checksum in front."""
_PLAIN = frozenset({("builtins", "frozenset"), ("builtins", "set"), ("fractions", "Fraction")})


def frozen(value: object) -> bytes:
    """A value as bytes."""
    body = pickle.dumps(value, protocol=5)
    return _sum(body) + body


def thawed(raw: bytes) -> Any:
    """The value again. Raises one of DAMAGED for bytes that are not as they were written, and for
    anything but plain data and policykit's own types: what somebody else has written cannot run anything.
    """
    if raw[:_SUM] != _sum(raw[_SUM:]):
        raise ValueError("the bytes are not as they were written")
    return _Own(io.BytesIO(raw[_SUM:])).load()


def _sum(body: bytes) -> bytes:
    return crc32(body).to_bytes(_SUM, "big")


class _Own(pickle.Unpickler):
    """Loads no name but those of plain types and of policykit's values."""

    def find_class(self, module: str, name: str) -> Any:
        """Raises UnpicklingError for anything else."""
        known = _FOUND.get((module, name))
        if known is not None:
            return known
        if (module, name) not in _PLAIN and not module.startswith("policykit."):
            raise pickle.UnpicklingError(f"{module}.{name} is no value of policykit")
        found = super().find_class(module, name)
        if not isinstance(found, type):
            raise pickle.UnpicklingError(f"{module}.{name} is no type")
        _FOUND[module, name] = found
        return found


_FOUND: dict[tuple[str, str], type] = {}
"""Types that were looked for before: there are few of them, and each file's result names them anew."""
