"""What the readers of targets share: values with locations, and values in the form of a policy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Generic, TypeVar

from policykit.manifests.path import Path
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.namedtuple import NamedTuple

Value = TypeVar("Value")


class Read(NamedTuple, Generic[Value]):
    """A value found in a text."""

    value: Value
    document: int = 0
    """Index of its document in the text, from 0."""
    path: Path = ()
    """Location in the document; for a value inside a string, the location of the string."""
    inner: Path | None = None
    """Location within that string; None: the value is not inside a string."""


def unread_fields(data: Mapping[str, Any], known: Collection[str], under: str = "") -> tuple[str, ...]:
    """Dotted names of the non-empty fields that are not in `known`, sorted."""
    names = (key for key, value in data.items() if key not in known and value not in (None, "", [], {}))
    return tuple(sorted(f"{under}.{key}" if under else str(key) for key in names))


_DECIMAL = (("G", 10**9), ("M", 10**6), ("k", 10**3))
_BYTES = frozenset({"memory", "ephemeral-storage"})
_UNITS = (("h", 3600), ("m", 60), ("s", 1))


def without_empty(**parts: Any) -> dict[str, Any]:
    """The parts that are neither empty nor None."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in parts.items()
        if value is not None and value != "" and value != {} and value != () and value != []
    }


_LARGE_BINARY = ("Mi", "Gi", "Ti", "Pi", "Ei")


def quantities(amounts: Amounts) -> dict[str, str | int]:
    """Resource to quantity: 180 cores, 1900Gi, 2200M; numbers without a suffix stay numbers."""
    found: dict[str, str | int] = {}
    for resource, amount in amounts.items():
        text = _quantity(resource, amount)
        found[resource] = int(text) if text.isdecimal() else text
    return found


def _quantity(resource: str, amount: int) -> str:
    """The binary form if it is of mebibytes or more, as nodes and pods state memory; else the shorter one."""
    binary = amount_text(resource, amount)
    if resource not in _BYTES or binary.endswith(_LARGE_BINARY):
        return binary
    decimal = [f"{amount // unit}{suffix}" for suffix, unit in _DECIMAL if amount and not amount % unit]
    return min([binary, *decimal], key=len)


def duration(seconds: int) -> str:
    """86400 seconds are 24h, 5400 are 1h30m."""
    parts = []
    for unit, size in _UNITS:
        number, seconds = divmod(seconds, size)
        parts += [f"{number}{unit}"] if number else []
    return "".join(parts)
