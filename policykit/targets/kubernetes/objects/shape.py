"""Parts of objects whatever their shape: what is not there, or is something else, is empty."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any


def beside(data: Mapping[str, Any], known: Collection[str], under: str = "") -> tuple[str, ...]:
    """Dotted names of the fields that say something and are not among the known ones, sorted."""
    names = (key for key, value in data.items() if key not in known and value not in (None, "", [], {}))
    return tuple(sorted(f"{under}.{key}" if under else str(key) for key in names))
