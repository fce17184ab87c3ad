"""Output formats: a table from format name to a function of a Report and its context."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from policykit.linter.finding import Report

_FUNCTIONS = {
    "text": "text",
    "concise": "concise",
    "json": "json_text",
    "jsonl": "jsonl",
    "sarif": "sarif",
    "github": "github",
    "gitlab": "gitlab",
    "junit": "junit",
    "rdjson": "rdjson",
}
"""Format name, which is also the module name, to the function in that module."""

FORMATS = tuple(_FUNCTIONS)

WITH_FIXES = frozenset({"json", "jsonl", "sarif", "rdjson"})
"""Formats that show the fix of each finding."""


class Around(NamedTuple):
    """What a format may use in addition to the report."""

    raw: Callable[[str], bytes] = lambda path: b""
    """Bytes of a reported file as linted; empty if not available."""
    root: str = ""
    """Folder that paths are relative to, in formats for services with repositories; empty: as reported."""
    files: tuple[str, ...] = ()
    """Every file of the run, as reported."""
    colour: bool = False
    version: str = "0"


Format = Callable[["Report", Around], str]


def format_named(name: str) -> Format:
    """The format's function, imported on demand. Raises KeyError."""
    function = _FUNCTIONS[name]
    found: Format = getattr(import_module(f"policykit.formats.{name}"), function)
    return found
