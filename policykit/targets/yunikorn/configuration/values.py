"""Values of a queue configuration, as YuniKorn and the Go libraries below it read them."""

from __future__ import annotations

import re
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


_BOOLEANS = frozenset({"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"})


def is_boolean(text: str) -> bool:
    """Whether Go's strconv.ParseBool takes it."""
    return text in _BOOLEANS


_CLASS = re.compile(r"\[:\^?[a-z]+:\]")
"""[:alpha:] within a set, which Python reads as a nested set."""
_ONLY_PYTHON = re.compile(r"\(\?(?:<?[=!]|\(|P=)|(?<!\\)(?:\\\\)*\\[1-9]")
"""Looking around, conditions and back references."""
_ONLY_GO = ("bad escape", "global flags", "unknown extension", "missing :", "unknown flag")
"""How Python's error messages begin for what Go may accept: \\pL, \\z, flags in the middle."""


def is_regular_expression(text: str) -> bool:
    """Whether Go (RE2) accepts it. Syntax that only Go knows is not checked and counts as valid."""
    if _ONLY_PYTHON.search(text):
        return False
    try:
        re.compile(_CLASS.sub("a", text))
    except re.error as error:
        return error.msg.startswith(_ONLY_GO)
    except (OverflowError, RecursionError):
        return True
    return True
