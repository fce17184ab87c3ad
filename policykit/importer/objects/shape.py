"""Parts of an object whatever its shape: what is not there, or is something else, is empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def mapping(data: object) -> Mapping[str, Any]:
    return data if isinstance(data, Mapping) else {}


def mappings(data: object) -> list[Mapping[str, Any]]:
    """The maps in a list."""
    return [item for item in data if isinstance(item, Mapping)] if isinstance(data, list) else []


def text(data: object) -> str:
    return data if isinstance(data, str) else ""
