"""Amounts of resources as people write them in a policy."""

from __future__ import annotations

from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text

_DECIMAL = (("G", 10**9), ("M", 10**6), ("k", 10**3))
_BYTES = frozenset({"memory", "ephemeral-storage"})


def amounts(counted: Amounts) -> dict[str, str | int]:
    """Resource to quantity: 180 cores, 1900Gi, 2200M; numbers without a suffix stay numbers."""
    found: dict[str, str | int] = {}
    for resource, number in counted.items():
        text = _text(resource, number)
        found[resource] = int(text) if text.isdecimal() else text
    return found


def _text(resource: str, number: int) -> str:
    """The shorter of the binary and the decimal form."""
    binary = amount_text(resource, number)
    if resource not in _BYTES:
        return binary
    decimal = [f"{number // unit}{suffix}" for suffix, unit in _DECIMAL if number and not number % unit]
    return min([binary, *decimal], key=len)
