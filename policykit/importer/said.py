"""Parts of a policy that say something: what is empty, or as it is by itself, is not written."""

from __future__ import annotations

from typing import Any


def said(**parts: Any) -> dict[str, Any]:
    """The parts that are neither empty nor None; a trailing underscore is no part of a key."""
    kept = {key.rstrip("_"): value for key, value in parts.items()}
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in kept.items()
        if value is not None and value != "" and value != {} and value != () and value != []
    }
