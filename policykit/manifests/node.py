"""A YAML node: its value as plain data and where it stands."""

from __future__ import annotations

from typing import Any, NamedTuple


class Mark(NamedTuple):
    """A place in a text, all counted from 0, where libyaml gives none."""

    index: int = 0  # type: ignore[assignment]  # as libyaml's marks have it
    line: int = 0
    column: int = 0


class Node:
    """One node of a document. Marks count lines and columns from 0, in code points.

    `entries` is None for a scalar, a list of nodes for a sequence, and for a mapping a
    dict from key to (key node, value node). An alias is a node of its own place that
    shares `data` and `entries` with its anchor.
    """

    __slots__ = ("data", "end", "entries", "start", "style", "written")

    def __init__(self, data: Any, start: Any, end: Any, entries: Any, style: Any) -> None:
        self.data = data
        self.start = start
        self.end = end
        self.entries = entries
        self.style = style
        """Scalars: None or "" plain, `'`, `"`, `|`, `>`; collections: True when in flow style."""
        self.written = ""
        """The text of a plain scalar that is read as something else: 1.10, yes, 0777."""


class Span(NamedTuple):
    """A place in a file: lines and columns from 1, columns in code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Duplicate(NamedTuple):
    """A key that stands twice in one mapping; the later one wins."""

    key: str
    node: Node
    first: Node
