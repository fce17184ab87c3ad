"""Arguments of plugins and actions: their types, and which values are of a type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from policykit.catalogue.volcano.wording import Release

TYPES: Mapping[str, str] = {
    "whole": "a whole number",
    "number": "a number",
    "switch": "true or false",
    "text": "a string",
    "names": "a string of comma-separated names",
    "duration": "a duration such as 1h30m",
    "hours": "hours such as 20:00-08:00",
    "list": "a list",
    "map": "a map",
}
"""Type of an argument, in words."""
TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
"""Strings that Go's strconv.ParseBool reads."""
_DURATION = re.compile(r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|ms|s|m|h))+\Z|[-+]?0\Z")
_HOURS = re.compile(r"\s*([01]?[0-9]|2[0-3]):[0-5][0-9]-([01]?[0-9]|2[0-3]):[0-5][0-9]\s*\Z")


class Argument(NamedTuple):
    """One argument. Volcano ignores a value of another type, or exits."""

    kind: str
    """One of `TYPES`."""
    default: object = None
    """What Volcano uses where it is left out; None: nothing, or it depends."""
    since: Release = ()
    gone: Release = ()
    """First release without it; empty: it is still there."""
    least: int | None = None
    choices: tuple[str, ...] = ()
    fields: Mapping[str, Argument] = {}
    """Of a map: the keys it may have; empty: any."""
    each: Argument | None = None
    """Of a list its items, of a map with any keys their values."""


def is_duration(text: str) -> bool:
    """Whether Go's time.ParseDuration takes it."""
    return _DURATION.match(text) is not None


def is_on(value: object) -> bool:
    """Whether a switch is on: Volcano takes strings as strconv.ParseBool does."""
    return value is True or (isinstance(value, str) and value in TRUE)


def is_of_type(value: object, kind: str) -> bool:
    """Whether a value is of the type itself, without anything that Volcano converts."""
    if kind == "switch":
        return isinstance(value, bool)
    if kind in ("whole", "number"):
        numbers = int if kind == "whole" else (int, float)
        return isinstance(value, numbers) and not isinstance(value, bool)
    if kind in ("list", "map"):
        return isinstance(value, list if kind == "list" else Mapping)
    if not isinstance(value, str):
        return False
    form = {"duration": _DURATION, "hours": _HOURS}.get(kind)
    return form is None or form.match(value) is not None
