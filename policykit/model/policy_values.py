"""Values in the form in which a policy states them: quantities and durations."""

from __future__ import annotations

from typing import Any

from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text

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
