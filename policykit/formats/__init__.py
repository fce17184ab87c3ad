"""Results as text: a table from format name to a function of a Report."""

from __future__ import annotations

from collections.abc import Callable

from policykit.linter.finding import Report

Format = Callable[[Report], str]


def format_named(name: str) -> Format:
    """The format's function, imported only when it is asked for. Raises KeyError."""
    if name == "text":
        from policykit.formats.text import text

        return text
    if name == "json":
        from policykit.formats.json import json_text

        return json_text
    raise KeyError(name)


FORMATS = ("text", "json")

WITH_FIXES = frozenset({"json"})
"""Formats that show the fix of each finding."""
