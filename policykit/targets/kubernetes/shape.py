"""Parts of objects whatever their shape: what is not there, or is something else, is empty."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any


def mapping(data: object) -> Mapping[str, Any]:
    return data if isinstance(data, Mapping) else {}


def mappings(data: object) -> list[Mapping[str, Any]]:
    """The maps in a list."""
    return [item for item in data if isinstance(item, Mapping)] if isinstance(data, list) else []


def text(data: object) -> str:
    return data if isinstance(data, str) else ""


def texts(data: object) -> tuple[str, ...]:
    """The texts in a list."""
    return tuple(item for item in data if isinstance(item, str)) if isinstance(data, list) else ()


def whole(data: object) -> int | None:
    return data if isinstance(data, int) and not isinstance(data, bool) else None


def beside(data: Mapping[str, Any], known: Collection[str], under: str = "") -> tuple[str, ...]:
    """Dotted names of the fields that say something and are not among the known ones, sorted."""
    names = (key for key, value in data.items() if key not in known and value not in (None, "", [], {}))
    return tuple(sorted(f"{under}.{key}" if under else str(key) for key in names))
