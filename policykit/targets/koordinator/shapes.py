"""Parts of an object whatever its shape: what is not there, or is something else, is empty."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def mapping(data: object) -> Mapping[str, Any]:
    return data if isinstance(data, Mapping) else {}


def mappings(data: object) -> list[Mapping[str, Any]]:
    """The maps in a list."""
    return [item for item in data if isinstance(item, Mapping)] if isinstance(data, list) else []


def text(data: object) -> str:
    return data if isinstance(data, str) else ""


def texts(data: object) -> dict[str, str]:
    """The entries of a map whose key and value are text."""
    entries = mapping(data).items()
    return {key: value for key, value in entries if isinstance(key, str) and isinstance(value, str)}


def names(data: object) -> tuple[str, ...]:
    """The text in a list."""
    return tuple(item for item in data if isinstance(item, str)) if isinstance(data, list) else ()


def whole(data: object) -> int | None:
    return data if isinstance(data, int) and not isinstance(data, bool) else None


def number(data: object) -> int | None:
    """A whole number as the text of a label or an annotation."""
    written = text(data)
    return int(written) if written.isdecimal() and written.isascii() and len(written) < 10 else None


def parsed(data: object) -> Any:
    """The JSON in a text; None: it is none."""
    try:
        return json.loads(text(data))
    except (ValueError, RecursionError):
        return None


def compact(data: object) -> str:
    """JSON on one line, as annotations have it."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def present(**fields: Any) -> dict[str, Any]:
    """The fields that say something, in their order; a trailing underscore is no part of a name."""
    return {
        name.removesuffix("_"): value for name, value in fields.items() if value not in (None, "", {}, [])
    }
