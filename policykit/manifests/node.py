"""A YAML node: its value as plain data, and its location."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, count
from operator import add
from typing import Any

from policykit.manifests.path import Step
from policykit.namedtuple import NamedTuple

BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""What ends a line for libyaml."""
BREAK_IN_UTF8 = rb"\r\n|[\n\r]|\xc2\x85|\xe2\x80[\xa8\xa9]"
"""The same, in UTF-8."""
_LARGE = 1_000_000
"""Characters of a text from which a list of its lines takes too much memory."""
OFFSET_BITS = 32
"""An extent is an offset of as many bits before another: `start << OFFSET_BITS | end`."""
OFFSET_MASK = (1 << OFFSET_BITS) - 1


class Mark(NamedTuple):
    """A location in a text, counted from 0, columns in code points."""

    line: int
    column: int


class Span(NamedTuple):
    """A location in a file: lines and columns from 1, columns in code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Lines:
    """Where the lines of a text begin: what offsets are as lines and columns."""

    __slots__ = ("_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: array[int] | None = None

    def mark(self, offset: int) -> Mark:
        """The place of an offset in code points."""
        starts = self._starts or self._listed()
        line = bisect_right(starts, offset) - 1
        return Mark(line, offset - starts[line])

    def span(self, start: int, end: int) -> Span:
        """Lines and columns, from 1, of the text between two offsets."""
        starts = self._starts or self._listed()
        line = bisect_right(starts, start) - 1
        end_line = bisect_right(starts, end, line) - 1
        return Span(line + 1, start - starts[line] + 1, end_line + 1, end - starts[end_line] + 1)

    def offset(self, line: int) -> int:
        """Where a line begins, in code points."""
        return (self._starts or self._listed())[line]

    def _listed(self) -> array[int]:
        found = self._starts = array("I", _starts(self._text))
        self._text = ""
        return found


def _starts(text: str) -> Iterable[int]:
    if len(text) > _LARGE or not _has_plain_breaks(text):
        return chain((0,), (found.end() for found in BREAK.finditer(text)))
    # Each line begins behind the characters of those before it, and as many line feeds.
    return chain((0,), map(add, accumulate(map(len, text.split("\n"))), count(1)))


def _has_plain_breaks(text: str) -> bool:
    """Whether only line feeds end its lines."""
    return "\r" not in text and (text.isascii() or not any(each in text for each in "\x85\u2028\u2029"))


class LargeText:
    """The lines of a text in UTF-8, which is much smaller than a list of them."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._starts = array("I", chain((0,), (found.end() for found in re.finditer(BREAK_IN_UTF8, raw))))

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, number: int) -> str:
        start, *after = self._starts[number : number + 2]
        line = self._raw[start : after[0] if after else None].decode(errors="replace")
        return BREAK.split(line, 1)[0]


def lines_of(raw: bytes) -> list[str] | LargeText:
    """The lines of a text in UTF-8 as findings count them, without what ends them."""
    if len(raw) > _LARGE:
        return LargeText(raw)
    text = raw.decode(errors="replace")
    return text.split("\n") if _has_plain_breaks(text) else BREAK.split(text)


class Node:
    """One node of a document.

    `entries` is None for a scalar, a list of nodes for a sequence, and for a mapping a
    dict from key to (key node, value node). An alias is a node with its own location that
    shares `data` and `entries` with its anchor.

    A document may have millions, so `extent` is both ends in one number, offsets in code points:
    see OFFSET_BITS.
    """

    __slots__ = ("_lines", "data", "entries", "extent", "style", "written")

    def __init__(self, data: Any, extent: int, lines: Lines, entries: Any, style: Any) -> None:
        self.data = data
        self.extent = extent
        self._lines = lines
        self.entries = entries
        self.style = style
        """Scalars: None or "" plain, `'`, `"`, `|`, `>`; collections: True when in flow style."""
        self.written = ""
        """The text of a plain scalar that is read as something else: 1.10, yes, 0777."""

    def child(self, step: Step) -> Node | None:
        """The node of the value at a step; None: it is not there."""
        entries = self.entries
        if isinstance(entries, dict):
            return entries[step][1] if step in entries else None
        if isinstance(entries, list) and isinstance(step, int) and step < len(entries):
            found: Node = entries[step]
            return found
        return None

    def key(self, step: Step) -> Node | None:
        """The node of the key at a step; None: it is not there, or an item of a list."""
        entries = self.entries
        return entries[step][0] if isinstance(entries, dict) and step in entries else None

    def location(self, path: Sequence[Step], *, key: bool = False) -> Span:
        """The location of the value at `path`, or of the nearest parent that exists.

        A scalar is its own text; a collection is the key that introduces it, or in a list
        its first line. With `key` it is the key in every case.
        """
        node = self
        for step in path:
            child = node.child(step)
            if child is None:
                break
            parent, node, last = node, child, step
        if node is not self and (key or node.is_collection or _is_empty(node)):
            introduced_by = parent.key(last)
            if introduced_by is not None:
                return introduced_by.head
        return _first_line(node) if node.is_collection else node.head

    @property
    def is_collection(self) -> bool:
        return type(self.data) is dict or type(self.data) is list

    @property
    def start_offset(self) -> int:
        return self.extent >> OFFSET_BITS

    @property
    def end_offset(self) -> int:
        """Behind its last character."""
        return self.extent & OFFSET_MASK

    @property
    def start(self) -> Mark:
        return self._lines.mark(self.start_offset)

    @property
    def end(self) -> Mark:
        return self._lines.mark(self.end_offset)

    @property
    def span(self) -> Span:
        """All of its text."""
        extent = self.extent
        return self._lines.span(extent >> OFFSET_BITS, extent & OFFSET_MASK)

    @property
    def head(self) -> Span:
        """Where findings about it point: all of its text, or the indicator of a block scalar."""
        if self.style not in ("|", ">"):
            return self.span
        start = self.start
        return Span(start.line + 1, start.column + 1, start.line + 1, start.column + 2)


def _is_empty(node: Node) -> bool:
    return not node.data and node.start_offset == node.end_offset


def _first_line(node: Node) -> Span:
    """A collection without a key of its own: up to the end of its first child."""
    start = node.start
    first: Node | None = None
    if isinstance(node.entries, dict):
        first = next((k for k, _ in node.entries.values()), None)
    elif node.entries:
        first = node.entries[0]
    if first is None or first.entries is not None or first.end.line != start.line:
        end = node.end if node.end.line == start.line else start
        return Span(start.line + 1, start.column + 1, end.line + 1, max(end.column, start.column + 1) + 1)
    return Span(start.line + 1, start.column + 1, first.end.line + 1, first.end.column + 1)


class Duplicate(NamedTuple):
    """A key that appears twice in one mapping; the later one wins."""

    key: str
    node: Node
    first: Node


def node_at(root: Node, path: Sequence[Step]) -> Node | None:
    """The node at a path."""
    node: Node | None = root
    for step in path:
        node = node and node.child(step)
    return node
