"""The reader of YAML text that is always there: nodes from the events that PyYAML makes of libyaml's.

The C composer would lose where aliases are and which keys are repeated, and its scalars follow other
rules than Kubernetes'. `extension/tree.c` makes the same nodes; every problem is reported here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policykit.manifests import parsed_document
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
from policykit.manifests.node import BREAK, OFFSET_BITS, Duplicate, Lines, Node
from policykit.manifests.parsed_document import (
    MERGE,
    ParsedDocument,
    Problem,
    RefusedError,
    content_end,
    key_text,
    measure,
    merge,
)
from policykit.manifests.scalars import NOT_TEXT, resolve, tagged
from policykit.namedtuple import NamedTuple

_TOO_DEEP = "exceeded maximum nesting depth"
"""libyaml's own limit, 1,000 levels since 0.2.6. It looks ahead: the levels before are no events yet."""

_MARKER = re.compile(r"(?:\A|(?<=[\n\r\x85\u2028\u2029]))---(?=[ \t\n\r\x85\u2028\u2029]|\Z)")


def documents(text: str, lines: Lines) -> Iterator[ParsedDocument]:
    """Documents of a stream, lazily. After a syntax error reading goes on at the next `---`."""
    later: Iterator[_Start] | None = None
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


def documents_of_part(text: str, start: int, end: int, lines: Lines) -> Iterator[ParsedDocument]:
    """Documents of the part of a text between two offsets, up to the first with a problem; lines of marks are
    counted in the part."""
    return _documents(text, _Start(0, start), lines, text[start:end])


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


def _documents(text: str, start: _Start, lines: Lines, part: str = "") -> Iterator[ParsedDocument]:
    try:
        rest = CParser(part or (_Rest(text, start.offset) if start.offset else text))
        loader = _ShiftedEvents(rest, start) if start.offset else rest
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
        problem = Problem(message, line, column)
        if message == _TOO_DEEP and mark:
            before = _documents(text[: mark.index], start, lines)
            problem = next((each.problem for each in before if each.problem), problem)
        yield ParsedDocument(None, start_line, problem=problem)
    except ReaderError as error:
        yield ParsedDocument(None, start_line, problem=_unreadable(text, start, error))
    except UnicodeDecodeError:
        # PyYAML tells no place: libyaml accepts some escapes in tags, such as %C0%80, that are not text.
        problem = Problem("a tag has %-escapes that are not UTF-8", start_line, 0)
        yield ParsedDocument(None, start_line, problem=problem)
    except RefusedError as refused:
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


def _document(loader: Any, start_line: int, lines: Lines) -> ParsedDocument:
    """Reads one document up to its end event.

    The hot loop of every run, some fifty times a file: the open collection is held in local names, and
    only text that may be something else is resolved.
    """
    get_event = loader.get_event
    anchors: dict[str, Node] = {}
    measured: dict[int, tuple[int, int]] = {}
    aliased = values = 0
    max_values = parsed_document.MAX_VALUES
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
            if len(stack) >= parsed_document.MAX_DEPTH:
                raise RefusedError(
                    f"nested more than {parsed_document.MAX_DEPTH} levels deep", event.start_mark
                )
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
                merge(node, merges)
            end = event.end_mark.index if node.style else content_end(node)
            node.extent = node.extent >> OFFSET_BITS << OFFSET_BITS | end
            parent, entries, data, key_node, merges, mapping = stack.pop()
        elif kind is AliasEvent:
            target = anchors.get(event.anchor)
            if target is None:
                raise RefusedError(f"alias *{event.anchor} has no anchor before it", event.start_mark)
            if target is parent or any(frame[0] is target for frame in stack):
                raise RefusedError(f"alias *{event.anchor} contains itself", event.start_mark)
            size, depth = measure(target, measured)
            aliased += size
            if aliased > parsed_document.MAX_ALIASED:
                raise RefusedError(
                    f"aliases repeat more than {parsed_document.MAX_ALIASED} nodes", event.start_mark
                )
            if len(stack) + depth > parsed_document.MAX_DEPTH:
                raise RefusedError(
                    f"nested more than {parsed_document.MAX_DEPTH} levels deep", event.start_mark
                )
            extent = event.start_mark.index << OFFSET_BITS | event.end_mark.index
            node = Node(target.data, extent, lines, target.entries, target.style)
        else:  # DocumentEndEvent
            return ParsedDocument(root, start_line, tuple(duplicates))

        values += 1
        if values > max_values:
            raise RefusedError(f"more than {max_values} keys, values and items", node.start)
        if key_node is not None:
            key = key_node.data
            if key == MERGE and not key_node.style:
                merges = merges or []
                merges.append(node)
            else:
                if type(key) is not str:
                    key = key_text(key)
                if key in entries:
                    duplicates.append(Duplicate(key, key_node, entries[key][0]))
                entries[key] = (key_node, node)
                data[key] = node.data
            key_node = None
        elif mapping:
            if node.entries is not None:
                raise RefusedError(parsed_document.COLLECTION_KEY, node.start)
            key_node = node
        elif parent is not None:
            entries.append(node)
            data.append(node.data)
        else:
            root = node
