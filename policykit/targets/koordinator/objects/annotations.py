"""Helpers to read and write the text in labels and annotations."""

from __future__ import annotations

import json
from typing import Any

from policykit.manifests.shape import text


def parsed(data: object) -> Any:
    """The value of a JSON text; None if it is not JSON."""
    try:
        return json.loads(text(data))
    except (ValueError, RecursionError):
        return None


def compact(data: object) -> str:
    """JSON on one line, for annotations."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def present(**fields: Any) -> dict[str, Any]:
    """The fields that are not empty, in their order."""
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])}
