"""Values in a queue configuration, read as YuniKorn and its Go libraries read them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from policykit.kube.placeholders import is_placeholder
from policykit.manifests.shape import mapping
from policykit.model.release import Version
from policykit.namedtuple import NamedTuple
from policykit.nearest import nearest


def items(data: object) -> list[Mapping[str, Any]]:
    """The maps of a list. As upstream, nulls are skipped; any other item counts as an empty map."""
    return [mapping(item) for item in data if item is not None] if isinstance(data, list) else []


def text(data: object) -> str:
    """A scalar as a string: YuniKorn's decoder accepts numbers and booleans as strings."""
    if isinstance(data, bool):
        return "true" if data else "false"
    return str(data) if isinstance(data, (str, int, float)) else ""


def texts(data: object) -> dict[str, str]:
    """A map of strings."""
    return {text(key): text(value) for key, value in data.items()} if isinstance(data, Mapping) else {}


def names(data: object) -> tuple[str, ...]:
    """A list of strings."""
    return tuple(text(item) for item in data if item is not None) if isinstance(data, list) else ()


def whole(data: object) -> int:
    """A count; 0 if there is none."""
    return data if isinstance(data, int) and not isinstance(data, bool) and data > 0 else 0


def flag(data: object) -> bool | None:
    """A boolean. As upstream, the words of YAML 1.1 count."""
    if isinstance(data, str):
        return _WORDS.get(data.lower())
    return data if isinstance(data, bool) else None


_WORDS = {"yes": True, "on": True, "y": True, "no": False, "off": False, "n": False}


def without_unset(entries: Mapping[str, Any]) -> dict[str, Any]:
    """The entries with a value other than None, False, 0, or an empty string, list or map."""
    return {key: value for key, value in entries.items() if value}


def contains_placeholder(data: object) -> bool:
    """Whether any value or key in the data is a placeholder of a template."""
    if isinstance(data, Mapping):
        return any(is_placeholder(key) or contains_placeholder(value) for key, value in data.items())
    if isinstance(data, (list, tuple, frozenset)):
        return any(map(contains_placeholder, data))
    return is_placeholder(data)


_BOOLEANS = frozenset({"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"})


def is_boolean(text: str) -> bool:
    """Whether Go's strconv.ParseBool accepts it."""
    return text in _BOOLEANS


_CLASS = re.compile(r"\[:\^?[a-z]+:\]")
"""[:alpha:] within a set, which Python reads as a nested set."""
_ONLY_PYTHON = re.compile(r"\(\?(?:<?[=!]|\(|P=)|(?<!\\)(?:\\\\)*\\[1-9]")
"""Lookaround, conditions and back references."""
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


class Parameter(NamedTuple):
    """The values of a property or setting that YuniKorn reads."""

    takes: Callable[[str], bool]
    words: str = ""
    """The valid values, for messages."""
    since: Version | None = None
    gone: Version | None = None
    """First release that no longer reads it."""


def parameter_problem(
    what: str, known: Mapping[str, Parameter], name: str, text: str, version: Version
) -> str:
    """Why a property or setting, as `what` says, has no effect; empty: it has one."""
    parameter = known.get(name)
    if parameter is None:
        near = nearest(name, tuple(known))
        return f"is not a {what} that YuniKorn reads{f': did you mean {near}?' if near else ''}"
    if parameter.since and version < parameter.since:
        return f"requires YuniKorn {parameter.since} or later"
    if parameter.gone and version >= parameter.gone:
        return f"was removed in YuniKorn {parameter.gone}"
    return "" if parameter.takes(text) else f"is {text!r}, not {parameter.words}"
