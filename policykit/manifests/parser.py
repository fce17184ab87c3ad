"""YAML text to documents whose nodes know their location.

Built from libyaml's events: the C composer would lose where aliases stand and which keys
stand twice, and its scalars follow other rules than Kubernetes'.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policykit.manifests.libyaml import (
    AliasEvent,
    CParser,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    MarkedYAMLError,
    ReaderError,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from policykit.manifests.node import BREAK, OFFSET_BITS, OFFSET_MASK, Duplicate, Lines, Node
from policykit.manifests.scalars import NOT_TEXT, resolve, tagged
from policykit.namedtuple import NamedTuple

MAX_DEPTH = 200
"""Deeper nesting is rejected, also through aliases: no manifest needs it, and later code recurses."""
MAX_ALIASED = 400_000
"""Nodes that aliases may add to a document: beyond, Kubernetes' own reader suspects an attack too."""

MAX_VALUES = 1_500_000
"""Keys, values and items of one document: a list of 5,000 nodes as kubectl prints it has about two thirds."""

_MERGE = "<<"
_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_MARKER = re.compile(r"(?:\A|(?<=[\n\r\x85\u2028\u2029]))---(?=[ \t\n\r\x85\u2028\u2029]|\Z)")


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


def parse(text: str) -> Iterator[ParsedDocument]:
    """Documents of a stream, lazily. After a syntax error reading goes on at the next `---`."""
    text = text.removeprefix("\ufeff")  # libyaml does not count it
    if text[:1] in ("{", "[") and "\\ud" in text.lower():
        text = _PAIR.sub(_one_escape, text)
    later: Iterator[_Start] | None = None
    lines = Lines(text)
    start = _Start(0, 0)
    while True:
        ended = None
        for parsed in _documents(text, start, lines):
            yield parsed
            if parsed.problem:
                # The problem may be the marker itself: something was still open there.
                ended = max(parsed.start_line, parsed.problem.line - 1)
        if ended is None:
            return
        later = later or _starts(text)
        following = next((each for each in later if each.line > ended), None)
        if following is None:
            return
        start = following


class _Start(NamedTuple):
    """Where reading goes on: a line and an offset in code points."""

    line: int
    offset: int


def _starts(text: str) -> Iterator[_Start]:
    """Every `---`, in order."""
    line = offset = 0
    for marker in _MARKER.finditer(text):
        line += sum(1 for _ in BREAK.finditer(text, offset, marker.start()))
        offset = marker.start()
        yield _Start(line, offset)


class _Rest:
    """A text from one `---` on, read up to the next: a syntax error does not require reading the rest."""

    def __init__(self, text: str, offset: int) -> None:
        self._text = text
        self._at = offset

    def read(self, _: int = 0, /) -> str:
        begin = self._at
        marker = _MARKER.search(self._text, begin + 1)
        self._at = marker.start() if marker else len(self._text)
        return self._text[begin : self._at]


class _Mark(NamedTuple):
    """As libyaml's marks."""

    index: int  # type: ignore[assignment]
    line: int
    column: int


class _ShiftedEvents:
    """Events of the rest of a text, at their places in the whole."""

    def __init__(self, loader: Any, start: _Start) -> None:
        self._loader = loader
        self._start = start

    def get_event(self) -> Any:
        try:
            event = self._loader.get_event()
        except MarkedYAMLError as error:
            error.problem_mark = self._mark(error.problem_mark)
            error.context_mark = self._mark(error.context_mark)
            raise
        if event is not None:
            event.start_mark, event.end_mark = self._mark(event.start_mark), self._mark(event.end_mark)
        return event

    def dispose(self) -> None:
        self._loader.dispose()

    def _mark(self, mark: Any) -> Any:
        line, offset = self._start
        return _Mark(mark.index + offset, mark.line + line, mark.column) if mark else None


def _one_escape(pair: re.Match[str]) -> str:
    """JSON escapes a character beyond the first plane as two, YAML as one."""
    high, low = (int(half, 16) for half in pair.groups())
    return f"\\U{0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00):08X}"


def _documents(text: str, start: _Start, lines: Lines) -> Iterator[ParsedDocument]:
    try:
        loader = _ShiftedEvents(CParser(_Rest(text, start.offset)), start) if start.line else CParser(text)
    except ReaderError as error:
        yield ParsedDocument(None, start.line, problem=_unreadable(text, start, error))
        return
    start_line = start.line
    try:
        while True:
            event: Any = loader.get_event()
            kind = type(event)
            if kind is StreamEndEvent or event is None:
                return
            if kind is DocumentStartEvent:
                start_line = event.start_mark.line
                yield _document(loader, start_line, lines)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = error.problem or error.context or "not YAML"
        line, column = (mark.line, mark.column) if mark else (start_line, 0)
        yield ParsedDocument(None, start_line, problem=Problem(message, line, column))
    except ReaderError as error:
        yield ParsedDocument(None, start_line, problem=_unreadable(text, start, error))
    except _RefusedError as refused:
        yield ParsedDocument(None, start_line, problem=refused.problem)
    finally:
        loader.dispose()


def _unreadable(text: str, start: _Start, error: ReaderError) -> Problem:
    # libyaml gives no position here that survives decoding: find the character itself.
    line, begin = start
    for offset in range(begin, len(text)):
        character = text[offset]
        if character == "\n":
            line, begin = line + 1, offset + 1
        elif not (character.isprintable() or character in "\t\r\x85\ufeff\u2028\u2029\xa0"):
            return Problem(f"control character U+{ord(character):04X}", line, offset - begin)
    return Problem(str(error.reason), 0, 0)


class _RefusedError(Exception):
    """Ends a document that is YAML but that policykit will not read further."""

    def __init__(self, message: str, mark: Any) -> None:
        super().__init__(message)
        self.problem = Problem(message, mark.line, mark.column)


def _document(loader: Any, start_line: int, lines: Lines) -> ParsedDocument:
    """Reads one document up to its end event.

    The hot loop of every run, some fifty times a file: the open collection is held in local names, and
    only text that may be something else is resolved.
    """
    get_event = loader.get_event
    anchors: dict[str, Node] = {}
    measured: dict[int, tuple[int, int]] = {}
    aliased = values = 0
    duplicates: list[Duplicate] = []
    root: Node | None = None
    # The innermost open collection: its node, entries and data, the key that waits for its value, and
    # the sources of its merge keys. Those around it are on the stack.
    parent: Node | None = None
    entries: Any = None
    data: Any = None
    key_node: Node | None = None
    merges: list[Node] | None = None
    mapping = False
    stack: list[tuple[Any, ...]] = []
    while True:
        event = get_event()
        kind = type(event)
        if kind is ScalarEvent:
            text = event.value
            extent = event.start_mark.index << OFFSET_BITS | event.end_mark.index
            tag, style = event.tag, event.style
            if tag is None:
                value = text if style or text[:1] not in NOT_TEXT else resolve(text)
                node = Node(value, extent, lines, None, style)
                if value is not text:
                    node.written = text
            else:
                node = Node(text if tag == "!" else tagged(tag, text), extent, lines, None, style)
            if event.anchor:
                anchors[event.anchor] = node
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            if len(stack) >= MAX_DEPTH:
                raise _RefusedError(f"nested more than {MAX_DEPTH} levels deep", event.start_mark)
            stack.append((parent, entries, data, key_node, merges, mapping))
            mapping = kind is MappingStartEvent
            entries, data = ({}, {}) if mapping else ([], [])
            extent = event.start_mark.index << OFFSET_BITS | event.end_mark.index
            parent = Node(data, extent, lines, entries, event.flow_style)
            key_node = merges = None
            if event.anchor:
                anchors[event.anchor] = parent
            continue
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            assert parent is not None
            node = parent
            if merges:
                _merge(node, merges)
            end = event.end_mark.index if node.style else _content_end(node)
            node.extent = node.extent >> OFFSET_BITS << OFFSET_BITS | end
            parent, entries, data, key_node, merges, mapping = stack.pop()
        elif kind is AliasEvent:
            target = anchors.get(event.anchor)
            if target is None:
                raise _RefusedError(f"alias *{event.anchor} has no anchor before it", event.start_mark)
            if target is parent or any(frame[0] is target for frame in stack):
                raise _RefusedError(f"alias *{event.anchor} contains itself", event.start_mark)
            size, depth = _extent(target, measured)
            aliased += size
            if aliased > MAX_ALIASED:
                raise _RefusedError(f"aliases repeat more than {MAX_ALIASED} nodes", event.start_mark)
            if len(stack) + depth > MAX_DEPTH:
                raise _RefusedError(f"nested more than {MAX_DEPTH} levels deep", event.start_mark)
            extent = event.start_mark.index << OFFSET_BITS | event.end_mark.index
            node = Node(target.data, extent, lines, target.entries, target.style)
        else:  # DocumentEndEvent
            return ParsedDocument(root, start_line, tuple(duplicates))

        values += 1
        if values > MAX_VALUES:
            raise _RefusedError(f"more than {MAX_VALUES} keys, values and items", node.start)
        if key_node is not None:
            key = key_node.data
            if key == _MERGE and not key_node.style:
                merges = merges or []
                merges.append(node)
            else:
                if type(key) is not str:
                    key = _key_text(key)
                if key in entries:
                    duplicates.append(Duplicate(key, key_node, entries[key][0]))
                entries[key] = (key_node, node)
                data[key] = node.data
            key_node = None
        elif mapping:
            if node.entries is not None:
                raise _RefusedError("a mapping key must be text, not a collection", node.start)
            key_node = node
        elif parent is not None:
            entries.append(node)
            data.append(node.data)
        else:
            root = node


def _extent(node: Node, measured: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """(nodes, levels) below and with a node, aliases followed; `measured` keeps what is known."""
    entries = node.entries
    if entries is None:
        return 1, 0
    found = measured.get(id(entries))
    if found is None:
        children = [value for _, value in entries.values()] if isinstance(entries, dict) else entries
        extents = [_extent(child, measured) for child in children]
        found = 1 + sum(size for size, _ in extents), 1 + max((depth for _, depth in extents), default=0)
        measured[id(entries)] = found
    return found


def _key_text(data: object) -> str:
    """Keys become JSON object names: true is "true", 1 is "1"."""
    if data is None:
        return "null"
    if isinstance(data, bool):
        return "true" if data else "false"
    return str(data)


def _merge(node: Node, sources: list[Node]) -> None:
    """`<<`: keys of the sources that the mapping does not have itself; earlier sources win."""
    for source in sources:
        parts = source.entries if isinstance(source.entries, list) else [source]
        for part in parts:
            if not isinstance(part.entries, dict):
                raise _RefusedError("a merge key `<<` needs a mapping, or a list of mappings", part.start)
            for key, entry in part.entries.items():
                if key not in node.entries:
                    node.entries[key] = entry
                    node.data[key] = entry[1].data


def _content_end(node: Node) -> int:
    """A block collection's own end mark runs on to the next token: end at its last child."""
    entries = node.entries
    if not entries:
        return node.start_offset
    last: Node = next(reversed(entries.values()))[1] if type(entries) is dict else entries[-1]
    return last.extent & OFFSET_MASK
