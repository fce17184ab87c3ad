"""Output formats of findings: a table from format name to a function of a report and its context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from policykit.lazy import Lazy
from policykit.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policykit.linter.finding import Report


class FormatContext(NamedTuple):
    """What a format may use in addition to the report."""

    raw: Callable[[str], bytes] = lambda path: b""
    """Bytes of a reported file as linted; empty if not available."""
    root: str = ""
    """Folder that paths are relative to, in formats for services with repositories; empty: as reported."""
    files: tuple[str, ...] = ()
    """Every file of the run, as reported."""
    colour: bool = False
    version: str = "0"
    clusters: tuple[str, ...] = ()
    """Names of the policies of the run, sorted."""
    category: str = ""
    """Names of the clusters that the run was asked for, where it was not asked for all: runs for others are
    kept apart from it."""
    live: bool = False
    """The paths are names of objects in a cluster: their lines and columns mean nothing to people."""


Format = Callable[["Report", FormatContext], str]

_FORMATS: dict[str, Lazy[Format]] = {
    "text": Lazy("policykit.formats.text:text"),
    "concise": Lazy("policykit.formats.text:concise"),
    "json": Lazy("policykit.formats.json:json_text"),
    "jsonl": Lazy("policykit.formats.json:jsonl"),
    "sarif": Lazy("policykit.formats.sarif:sarif"),
    "github": Lazy("policykit.formats.github:github"),
    "gitlab": Lazy("policykit.formats.gitlab:gitlab"),
    "junit": Lazy("policykit.formats.junit:junit"),
    "rdjson": Lazy("policykit.formats.rdjson:rdjson"),
    "metrics": Lazy("policykit.formats.metrics:metrics"),
}

_IN_PARTS: dict[str, Lazy[Callable[[Report, FormatContext], Iterator[str]]]] = {
    "text": Lazy("policykit.formats.text:text_parts"),
    "concise": Lazy("policykit.formats.text:concise_parts"),
}

FORMATS = tuple(_FORMATS)

_TOGETHER = 5_000
"""Findings that are printed at once."""
WITH_FIXES = frozenset({"json", "jsonl", "sarif", "rdjson"})
"""Formats that show the fix of each finding."""


def in_parts(name: str, report: Report, context: FormatContext) -> Iterator[str]:
    """A report in the format of this name, in pieces: all of many findings may take much memory."""
    if name not in _IN_PARTS:
        yield format_named(name)(report, context)
        return
    pieces: list[str] = []
    for piece in _IN_PARTS[name].load()(report, context):
        pieces.append(piece)
        if len(pieces) == _TOGETHER:
            yield "".join(pieces)
            pieces.clear()
    yield "".join(pieces)


def format_named(name: str) -> Format:
    """The format's function, imported on demand. Raises KeyError."""
    return _FORMATS[name].load()
