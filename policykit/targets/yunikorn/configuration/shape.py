"""Values of a queue configuration of any shape: what has the wrong type is ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.kube.structure.scalars import is_placeholder
from policykit.manifests.shape import mapping


def items(data: object) -> list[Mapping[str, Any]]:
    """The maps of a list; nulls are passed over as upstream, any other item counts as an empty map."""
    return [mapping(item) for item in data if item is not None] if isinstance(data, list) else []


def text(data: object) -> str:
    """A scalar as YuniKorn's decoder takes it for a text: numbers and booleans are texts too."""
    if isinstance(data, bool):
        return "true" if data else "false"
    return str(data) if isinstance(data, (str, int, float)) else ""


def texts(data: object) -> dict[str, str]:
    """A map of texts."""
    return {text(key): text(value) for key, value in data.items()} if isinstance(data, Mapping) else {}


def names(data: object) -> tuple[str, ...]:
    """A list of texts."""
    return tuple(text(item) for item in data if item is not None) if isinstance(data, list) else ()


def whole(data: object) -> int:
    """A count; 0 where there is none."""
    return data if isinstance(data, int) and not isinstance(data, bool) and data > 0 else 0


def flag(data: object) -> bool | None:
    """A boolean; the words of YAML 1.1 count, as upstream."""
    if isinstance(data, str):
        return _WORDS.get(data.lower())
    return data if isinstance(data, bool) else None


_WORDS = {"yes": True, "on": True, "y": True, "no": False, "off": False, "n": False}


def without_unset(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is unset: None, an empty text, 0, an empty list or map, False."""
    return {key: value for key, value in entries.items() if value}


def holds_placeholder(data: object) -> bool:
    """Whether anything in it is filled in later."""
    if isinstance(data, Mapping):
        return any(is_placeholder(key) or holds_placeholder(value) for key, value in data.items())
    if isinstance(data, (list, tuple, frozenset)):
        return any(map(holds_placeholder, data))
    return is_placeholder(data)
