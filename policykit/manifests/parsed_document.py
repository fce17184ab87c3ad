"""What readers of YAML text make: documents of nodes, their bounds and limits, aliases and merge keys."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.manifests.node import OFFSET_MASK, Duplicate, Mark, Node
from policykit.namedtuple import NamedTuple

MAX_DEPTH = 200
"""Deeper nesting is rejected, also through aliases: no manifest needs it, and later code recurses."""
MAX_ALIASED = 400_000
"""Nodes that aliases may add to a document: beyond, Kubernetes' own reader suspects an attack too."""

MAX_VALUES = 1_500_000
"""Keys, values and items of one document: a list of 5,000 nodes as kubectl prints it has about two thirds.
Those of a list that is read item by item are counted in each item."""
COLLECTION_KEY = "a mapping key must be a string, not a collection"
"""The message about YAML that JSON, and so Kubernetes, cannot express."""
MERGE = "<<"
"""The key whose value is merged into its mapping."""


class Problem(NamedTuple):
    """Why text is not YAML that Kubernetes could read. Line and column count from 0."""

    message: str
    line: int
    column: int


class ParsedDocument(NamedTuple):
    """One document of a stream: its root (None: empty), or the problem that ended it."""

    root: Node | None
    start_line: int
    duplicates: tuple[Duplicate, ...] = ()
    problem: Problem | None = None
    items: Iterable[Node] | None = None
    """Of a large list: its items, which its root lacks; see `large_lists`."""


class UnreadError(Exception):
    """The text has a document that only the reader of events can judge."""


class RefusedError(Exception):
    """Ends a document that is YAML but that policykit will not read further."""

    def __init__(self, message: str, mark: Mark) -> None:
        super().__init__(message)
        self.problem = Problem(message, mark.line, mark.column)


def measure(node: Node, measured: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """(nodes, levels) below and with a node, aliases followed; `measured` keeps what is known."""
    entries = node.entries
    if entries is None:
        return 1, 0
    found = measured.get(id(entries))
    if found is None:
        children = [value for _, value in entries.values()] if isinstance(entries, dict) else entries
        extents = [measure(child, measured) for child in children]
        found = 1 + sum(size for size, _ in extents), 1 + max((depth for _, depth in extents), default=0)
        measured[id(entries)] = found
    return found


def key_text(data: object) -> str:
    """Keys become JSON object names: true is "true", 1 is "1"."""
    if data is None:
        return "null"
    if isinstance(data, bool):
        return "true" if data else "false"
    return str(data)


def merge(node: Node, sources: list[Node]) -> None:
    """`<<`: keys of the sources that the mapping does not have itself; earlier sources win."""
    for source in sources:
        parts = source.entries if isinstance(source.entries, list) else [source]
        for part in parts:
            if not isinstance(part.entries, dict):
                raise RefusedError("a merge key `<<` needs a mapping, or a list of mappings", part.start)
            for key, entry in part.entries.items():
                if key not in node.entries:
                    node.entries[key] = entry
                    node.data[key] = entry[1].data


def content_end(node: Node) -> int:
    """A block collection's own end mark runs on to the next token: end at its last child."""
    entries = node.entries
    if not entries:
        return node.start_offset
    last: Node = next(reversed(entries.values()))[1] if type(entries) is dict else entries[-1]
    return last.extent & OFFSET_MASK
