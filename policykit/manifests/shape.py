"""Typed access to plain data: a missing value, or one of another type, counts as empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def mapping(data: object) -> Mapping[str, Any]:
    return data if isinstance(data, dict) else {}


def mappings(data: object) -> list[Mapping[str, Any]]:
    """The maps in a list."""
    return [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []


def numbered(data: object) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The maps in a list, each with its position."""
    for position, item in enumerate(data if isinstance(data, list) else ()):
        if isinstance(item, dict):
            yield position, item


def text(data: object) -> str:
    return data if isinstance(data, str) else ""


def texts(data: object) -> tuple[str, ...]:
    """The texts in a list."""
    return tuple(item for item in data if isinstance(item, str)) if isinstance(data, list) else ()


def pairs(data: object) -> dict[str, str]:
    """The entries of a map whose key and value are text."""
    entries = mapping(data).items()
    return {key: value for key, value in entries if isinstance(key, str) and isinstance(value, str)}


def whole(data: object) -> int | None:
    return data if isinstance(data, int) and not isinstance(data, bool) else None


def is_number(data: object) -> bool:
    return isinstance(data, int | float) and not isinstance(data, bool)


TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
"""Texts that Go's `strconv.ParseBool` reads."""


def is_boolean(value: str) -> bool:
    """Whether Go's `strconv.ParseBool` reads it."""
    return value in TRUE or value in FALSE


_MAX_DIGITS = 18


def digits(data: object) -> int | None:
    """A number from 0 in text. No field takes one of more than 18 digits, and int() raises beyond 4,300."""
    decimal = isinstance(data, str) and data.isascii() and data.isdecimal() and len(data) <= _MAX_DIGITS
    return int(data) if isinstance(data, str) and decimal else None
