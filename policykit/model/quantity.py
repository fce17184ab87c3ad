"""Resource amounts: `500m`, `1.5Gi`, `2e3`, read and written exactly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from policykit.namedtuple import NamedTuple

_TEXT = re.compile(
    r"([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))"
    r"(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?[0-9]+))?\Z"
)
_NANO = 10**9
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SUFFIXES = {power: suffix for suffix, power in _DECIMAL.items()}
_LARGEST = (1 << 63) - 1
# What is longer or has a larger exponent is not an amount of anything, and slow to compute.
_MAX_LENGTH = 500
_MAX_EXPONENT = 1000
_MAX_BITS = 1661
"""Of 10**_MAX_LENGTH."""
_BYTES = frozenset({"memory", "ephemeral-storage", "storage"})


class Quantity(NamedTuple):
    """An amount in billionths of a unit, and the family of suffixes it was written with."""

    nanos: int
    style: str = "decimal"
    """decimal (k, M, G), binary (Ki, Mi, Gi) or exponent (e3)."""

    @property
    def units(self) -> int:
        """Rounded up, away from zero: Quantity.Value upstream."""
        return _up(self.nanos, _NANO)

    @property
    def milli(self) -> int:
        """Thousandths, rounded up, away from zero: Quantity.MilliValue upstream."""
        return _up(self.nanos, _NANO // 1000)

    @property
    def whole(self) -> bool:
        """Whether an extended resource may have it: decoding rounds up to milli first."""
        return self.milli % 1000 == 0

    def format(self) -> str:
        """Canonical text: the largest suffix without a fraction.

        Quantity.CanonicalizeBytes upstream; the API server itself keeps texts like `5e0` as written.
        """
        if not self.nanos:
            return "0"
        if self.style == "binary" and abs(self.nanos) >= 1024 * _NANO and not self.nanos % _NANO:
            return _binary_text(self.nanos // _NANO)
        return _decimal_text(self.nanos, self.style == "exponent")


def parse(value: object) -> Quantity | None:
    """A quantity from YAML data; None: outside the grammar.

    Grammar and rounding follow apimachinery `resource.ParseQuantity` (v1.36), but texts
    without a digit (`Gi`, `.`), which it takes for 0, are refused.
    """
    if isinstance(value, str):
        return _parse_text(value.strip())
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        short = value.bit_length() < _MAX_BITS or abs(value) < 10**_MAX_LENGTH
        return _whole(value) if short else None
    # JSON carries a float as its shortest text, which may have an exponent.
    return _parse_text(repr(value)) if isinstance(value, float) else None


def amount(resource: str, value: object) -> int | None:
    """The amount the scheduler counts: cpu in milli-cores, everything else in units; None: not a quantity."""
    if isinstance(value, str):
        return _amount_of_text(value, resource == "cpu")
    if type(value) is int and value.bit_length() < _MAX_BITS:  # most amounts of cards
        return value * 1000 if resource == "cpu" else value
    quantity = parse(value)
    if quantity is None:
        return None
    return quantity.milli if resource == "cpu" else quantity.units


@lru_cache(maxsize=1024)
def _whole(value: int) -> Quantity:
    return Quantity(value * _NANO)


@lru_cache(maxsize=1024)
def _amount_of_text(text: str, of_cpu: bool) -> int | None:
    quantity = parse(text)
    if quantity is None:
        return None
    return quantity.milli if of_cpu else quantity.units


def cpu_text(milli: int) -> str:
    """Milli-cores in the usual form: 16000 is 16, 500 is 500m."""
    return f"{milli}m" if milli % 1000 else str(milli // 1000)


def amount_text(resource: str, amount: int) -> str:
    """An amount in the unit of `model.pool.Amounts`: 64Gi or 100G of memory, 500m of cpu, 8 cards."""
    if resource == "cpu":
        return cpu_text(amount)
    if amount and (resource in _BYTES or resource.startswith("hugepages-")):
        return min(_binary_text(amount), _decimal_text(amount * _NANO, exponent=False), key=len)
    return str(amount)


def resource_list(amounts: Mapping[str, int]) -> dict[str, str]:
    """Amounts as Kubernetes writes them, sorted by resource."""
    return {resource: amount_text(resource, amounts[resource]) for resource in sorted(amounts)}


@lru_cache(maxsize=1024)
def _parse_text(text: str) -> Quantity | None:
    match = _TEXT.match(text) if len(text) <= _MAX_LENGTH else None
    if match is None:
        return None
    sign, integer, fraction, bare_fraction, binary, decimal, exponent = match.groups()
    decimals = fraction or bare_fraction or ""
    digits = int((integer or "") + decimals)
    style = "binary" if binary else "exponent" if exponent else "decimal"
    if binary:
        scaled, power = digits * 1024 ** _BINARY[binary], 9 - len(decimals)
    elif exponent:
        scaled, power = digits, 9 - len(decimals) + max(-_MAX_EXPONENT, min(_MAX_EXPONENT, int(exponent)))
    else:
        scaled, power = digits, 9 - len(decimals) + _DECIMAL[decimal or ""]
    nanos = scaled * 10**power if power >= 0 else _up(scaled, 10**-power)
    if binary:
        nanos = min(nanos, _LARGEST * _NANO)
    return Quantity(-nanos if sign == "-" else nanos, style)


def _up(amount: int, unit: int) -> int:
    return -(-amount // unit) if amount >= 0 else amount // unit


def _binary_text(amount: int) -> str:
    suffix = ""
    for larger in _BINARY:
        if not amount or amount % 1024:
            break
        amount, suffix = amount // 1024, larger
    return f"{amount}{suffix}"


def _decimal_text(nanos: int, exponent: bool) -> str:
    power = -9
    while not nanos % 1000 and (exponent or power < 18):
        nanos, power = nanos // 1000, power + 3
    if exponent:
        return f"{nanos}e{power}" if power else str(nanos)
    return f"{nanos}{_SUFFIXES[power]}"
