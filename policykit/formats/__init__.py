"""Results as text: a table from format name to a function of a Report and what stands around it."""

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
"""Name of each format, and of its module, to the function in it."""

FORMATS = tuple(_FUNCTIONS)

WITH_FIXES = frozenset({"json", "jsonl", "sarif", "rdjson"})
"""Formats that show the fix of each finding."""


class Around(NamedTuple):
    """What a format may show beside the report; it asks for nothing else."""

    raw: Callable[[str], bytes] = lambda path: b""
    """Bytes of a reported file as they were linted; empty: they cannot be had."""
    root: str = ""
    """Folder that paths are told from, in formats for services that know a repository; empty: as reported."""
    files: tuple[str, ...] = ()
    """Every file of the run, as reported."""
    colour: bool = False
    version: str = "0"


Format = Callable[["Report", Around], str]


def format_named(name: str) -> Format:
    """The format's function, imported only when it is asked for. Raises KeyError."""
    function = _FUNCTIONS[name]
    found: Format = getattr(import_module(f"policykit.formats.{name}"), function)
    return found
