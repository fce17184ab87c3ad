"""Parts of an object whatever its shape: what is not there, or is something else, is empty."""

from __future__ import annotations

import json
from typing import Any

from policykit.manifests.shape import mapping, text


def texts(data: object) -> dict[str, str]:
    """The entries of a map whose key and value are text."""
    entries = mapping(data).items()
    return {key: value for key, value in entries if isinstance(key, str) and isinstance(value, str)}


def names(data: object) -> tuple[str, ...]:
    """The text in a list."""
    return tuple(item for item in data if isinstance(item, str)) if isinstance(data, list) else ()


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
