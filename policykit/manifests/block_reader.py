"""The reader of most manifests: block YAML with one key or item a line, read without libyaml.

One expression takes the text apart. What it does not match is left to the reader of events, and so is every
problem: anchors, tags, folded text, values of several lines but for literal text. Only data is made at once:
few ask where a value is, so a node knows its line, which is read again when somebody asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from policykit.manifests import flow, parsed_document
from policykit.manifests.node import OFFSET_BITS, Lines, Node, Span
from policykit.manifests.parsed_document import ParsedDocument, UnreadError
from policykit.manifests.path import Step
from policykit.manifests.scalars import NOT_TEXT, NUMBER_STARTS, WORDS, resolve

_LONGEST_TEXT = 1_000_000
"""Characters. All lines of a text are held at once."""
# Characters beyond ASCII are excluded from no class, as in `flow`.
_LINE = re.compile(
    rf"""
    (---)[ ]*+(?:\n|\Z)                                                  # 1: a document begins
    | ([ ]*+)(-[ ]++)?+                                                  # 2, 3: indentation, dash
      (?:([A-Za-z_][A-Za-z0-9_./-]*+|{flow.QUOTED}):(?=[ \n]|\Z)[ ]*+)?+  # 4: key
      (                                                                  # 5: value, or how it begins
        (?:[^\x00- \x7f!"\#%&'*,:>?@`|\[\]{{}}-]|-(?=[^\x00- \x7f]))
        (?:[^\x00- \x7f:]++|:(?=[^\x00- \x7f])|[ ]++(?![\#\n]|\Z))*+
        | {flow.QUOTED}
        | [{{[](?:[^\x00- \x7f]++|[ ]++(?!\#))*+
        | \|-?+
      )?+
      [ ]*+(?:(?<![^ \n])\#[^\x00-\x1f\x7f]*+)?+(?:\n|\Z)
    | ([^\n]++\n?+)                                                      # 6: anything else
    """,
    re.VERBOSE,
)
_DASH, _KEY, _VALUE, _OTHER = 3, 4, 5, 6
_OTHER_OF = itemgetter(_OTHER - 1)
_number = lru_cache(maxsize=4096)(resolve)  # files repeat few of them
_NOT_PLAIN = frozenset("\"'[{|")


def documents(text: str, lines: Lines) -> Iterator[ParsedDocument]:
    """Documents of a text, lazily. Raises UnreadError in place of the first that it cannot judge."""
    if len(text) >= min(_LONGEST_TEXT, parsed_document.MAX_VALUES):
        raise UnreadError
    block = _Block(text, lines)
    found = _LINE.findall(text)
    if (not text.isascii() or any(map(_OTHER_OF, found))) and not _is_printable(text):
        raise UnreadError
    number = start_line = 0
    begun = False
    while number < len(found):
        if found[number][0]:
            if begun:
                raise UnreadError
            begun, start_line = True, number
            number += 1
            continue
        number, line, data, places = _collection(block, found, number)
        if places is not None:
            yield ParsedDocument(_BlockNode(data, block, places, 0), start_line if begun else line)
            begun = False
    if begun:
        raise UnreadError


def _is_printable(text: str) -> bool:
    """Whether a text has no character that is not text for libyaml, or that ends a line for it: few that are
    not printable would do."""
    return text.replace("\n", "").replace("\t", "").isprintable()


def _collection(block: _Block, found: list[tuple[str, ...]], first: int) -> tuple[int, int, Any, Any]:
    """The collection that begins at the first line with content, up to the next document: the line behind it,
    its own first, its data, and the places of what is in it; None: there is no content.

    The hot loop of every run, once a line. The open collection is in local names, those around it on the
    stack. Places are beside the data: the line of a value, and for a block collection also those in it.
    """
    stack: list[tuple[int, bool, Any, Any]] = []
    most = parsed_document.MAX_DEPTH - flow.MAX_DEPTH - 2
    if most < 0:
        raise UnreadError
    column, mapping = -1, False
    data: Any = None
    places: Any = None
    waits = ""  # the key of the open mapping that has no value yet
    begin = first
    numbers = iter(range(first, len(found)))
    for line in numbers:
        document, indent, dash, key, value, other = found[line]
        at = len(indent)
        if dash or key:
            sequence = bool(dash)
            if sequence or at != column or not mapping:
                if waits and (at > column or (sequence and at == column)):
                    if len(stack) >= most:
                        raise UnreadError
                    stack.append((column, mapping, data, places))
                    child: Any = [] if sequence else {}
                    below: Any = [] if sequence else {}
                    data[waits] = child
                    places[waits] = (places[waits], below)
                    column, mapping, data, places = at, not sequence, child, below
                elif data is None:
                    begin = line
                    column, mapping = at, not sequence
                    data, places = ([], []) if sequence else ({}, {})
                else:
                    while column > at or (column == at and mapping is sequence):
                        if not stack:
                            raise UnreadError
                        column, mapping, data, places = stack.pop()
                    if column != at or mapping is sequence:
                        raise UnreadError
            if sequence:
                waits = ""
                if key:
                    if len(stack) >= most:
                        raise UnreadError
                    stack.append((column, mapping, data, places))
                    child, below = {}, {}
                    data.append(child)
                    places.append(below)
                    column, mapping, data, places = at + len(dash), True, child, below
        elif document:
            break
        elif value or other:
            raise UnreadError
        else:
            continue
        read: Any = value
        lines = 0
        if value:
            begins = value[0]
            if begins in _NOT_PLAIN:
                read, lines = block.value(value, line, column)
            elif begins in NOT_TEXT:
                read = _number(value) if begins in NUMBER_STARTS else WORDS.get(value, value)
        if key:
            if key < "A":
                key = key[1:-1]
            elif key in WORDS:
                raise UnreadError
            if key in data or len(key) > flow.LONGEST_KEY:
                raise UnreadError
            waits = "" if value else key
            data[key] = read if value else None
            places[key] = line
        elif value:
            data.append(read)
            places.append(line)
        else:
            raise UnreadError
        if lines:
            for _ in range(lines):
                line = next(numbers)
    else:
        line = len(found)
    if stack:
        _, _, data, places = stack[0]
    return line, begin, data, places


class _Block:
    """A text whose nodes are read again line by line."""

    __slots__ = ("_raw", "lines", "text")

    def __init__(self, text: str, lines: Lines) -> None:
        self.text = text
        self.lines = lines
        self._raw: list[str] = []

    def value(self, begins: str, line: int, column: int) -> tuple[Any, int]:
        """What a value that is not plain text begins on its line, in a collection at a column, and the number
        of lines below that belong to it."""
        first = begins[0]
        if first == "{":
            return ({} if begins == "{}" else flow.value(begins)), 0
        if first == "[":
            return ([] if begins == "[]" else flow.value(begins)), 0
        return self.literal(begins, line, column) if first == "|" else (begins[1:-1], 0)

    def literal(self, mark: str, line: int, column: int) -> tuple[str, int]:
        """The text below `|` or `|-`: lines that are indented as its first, and empty ones."""
        raw = self.raw()
        count = len(raw) - (not raw[-1])
        first = line + 1
        while first < count and not raw[first].strip(" "):
            first += 1
        if first >= count:
            raise UnreadError
        indent = len(raw[first]) - len(raw[first].lstrip(" "))
        if indent <= column or raw[first][indent] == "\t":
            raise UnreadError
        margin = " " * indent
        body = []
        for number in range(line + 1, count):
            text = raw[number]
            if text.startswith(margin):
                if number < first:
                    raise UnreadError
                body.append(text[indent:])
            elif not (content := text.lstrip(" ")):
                body.append("")
            elif content[0] == "\t":
                raise UnreadError
            else:
                break
        lines = len(body)
        while not body[-1]:
            body.pop()
        unended = line + 1 + len(body) == len(raw)
        if line + 1 + lines == len(raw) and not unended:
            raise UnreadError
        value = "\n".join(body)
        return (value if unended or mark == "|-" else value + "\n"), lines

    def match(self, number: int) -> re.Match[str]:
        found = _LINE.match(self.raw()[number])
        assert found is not None
        return found

    def part(self, number: int, group: int) -> tuple[int, int]:
        """Columns of the key or value in a line; a value that is not there is empty, behind the colon."""
        found = self.match(number)
        start, end = found.span(group)
        return (start, end) if start >= 0 else (found.end(_KEY) + 1,) * 2

    def scalar(self, number: int, group: int) -> tuple[int, int]:
        """Offsets of the key or value that begins in a line."""
        offset = self.lines.offset(number)
        start, end = (offset + column for column in self.part(number, group))
        begins = self.text[start : start + 1] if group == _VALUE else ""
        if begins == "|":
            _, lines = self.literal("|", number, -1)
            return start, min(self.lines.offset(number + 1 + lines), len(self.text))
        if begins and begins in "[{":
            return start, start + len(self.text[start:end].rstrip(" "))
        return start, end

    def raw(self) -> list[str]:
        """The lines of the text."""
        raw = self._raw
        if not raw:
            raw = self._raw = self.text.split("\n")
        return raw

    def start(self, place: Any) -> int:
        """Offset of a block collection: its first key or dash."""
        group = _KEY if type(place) is dict else _DASH
        while type(place) is not int:
            place = next(iter(place.values())) if type(place) is dict else place[0]
        return self.lines.offset(place) + self.part(place, group)[0]

    def end(self, place: Any) -> int:
        """Offset behind a block collection: the end of its last scalar."""
        while type(place) is not int:
            place = next(reversed(place.values())) if type(place) is dict else place[-1]
        return self.scalar(place, _VALUE)[1]


class _BlockNode(Node):
    """A node of which only data and place are known until another attribute is read."""

    __slots__ = ("_block", "_children", "_group", "_place")

    def __init__(self, data: Any, block: _Block, place: Any, group: int) -> None:
        """`place`: the line of a key or a value, as `group` says, or the places in a collection."""
        self.data = data
        self._block = block
        self._lines = block.lines
        self._place = place
        self._group = group
        self._children: dict[Any, Node] | None = None

    @property
    def head(self) -> Span:
        place = self._place
        if type(place) is not int or self.is_collection:
            return super().head
        start, end = self._block.part(place, self._group)
        if self._group == _VALUE and self._block.raw()[place][start : start + 1] == "|":
            end = start + 1
        return Span(place + 1, start + 1, place + 1, end + 1)

    def location(self, path: Sequence[Step], *, key: bool = False) -> Span:
        """Most values have a key in their line, which tells it without nodes."""
        place, data = self._place, self.data
        line = -1  # of the key
        for step in path:
            if type(place) is dict:
                if step not in place:
                    break
                place, data = place[step], data[step]
                if type(place) is int:
                    line = place
                else:
                    line, place = place
            elif type(place) is list and type(step) is int and 0 <= step < len(place):
                place, data, line = place[step], data[step], -1
            elif type(data) is dict or type(data) is list:
                return super().location(path, key=key)
            else:
                break
        group = _KEY
        if line < 0:  # an item of a list, or all: a mapping is its first key
            if type(place) is dict and place:
                line = next(iter(place.values()))
                line = line if type(line) is int else line[0]
            elif type(place) is int and type(data) is not dict and type(data) is not list:
                line, group = place, _VALUE
            else:
                return super().location(path, key=key)
        elif not (key or type(data) is dict or type(data) is list):
            group = _VALUE
        match = self._block.match(line)
        start, end = match.span(group)
        if start < 0:
            start, end = match.span(_KEY)
        elif match.string[start] == "|":
            end = start + 1
        return Span(line + 1, start + 1, line + 1, end + 1)

    def child(self, step: Step) -> Node | None:
        place = self._place
        if type(place) is not dict:
            return super().child(step)
        known = self._children
        if known is None:
            known = self._children = {}
        found = known.get(step)
        if found is None and step in place:
            where = place[step]
            where = where if type(where) is int else where[1]
            found = known[step] = _BlockNode(self.data[step], self._block, where, _VALUE)
        return found

    def key(self, step: Step) -> Node | None:
        place = self._place
        if type(place) is not dict:
            return super().key(step)
        where = place.get(step)
        if where is None:
            return None
        return _BlockNode(step, self._block, where if type(where) is int else where[0], _KEY)

    def __getattr__(self, name: str) -> Any:
        """Called for what is not there yet."""
        block, place, data = self._block, self._place, self.data
        if type(place) is not int:
            return self._of_collection(name)
        if name == "entries" and type(data) is not dict and type(data) is not list:
            self.entries = None
            return None
        start, end = block.scalar(place, self._group)
        text = block.text[start:end]
        begins = text[:1]
        self.extent = start << OFFSET_BITS | end
        self.style: Any = begins if begins in ("'", '"', "|") else ""
        self.written = ""
        if type(data) is dict or type(data) is list:
            self.style = True
            self.entries = flow.node(data, text, start, block.lines).entries
        else:
            self.entries = None
            if type(data) is not str:
                self.written = text
        return object.__getattribute__(self, name)

    def _of_collection(self, name: str) -> Any:
        block, place, data = self._block, self._place, self.data
        if name == "extent":
            self.extent = block.start(place) << OFFSET_BITS | block.end(place)
        elif name == "entries":
            if type(place) is dict:
                self.entries = {key: (self.key(key), self.child(key)) for key in place}
            else:
                self.entries = [
                    _BlockNode(value, block, where, _VALUE) for where, value in zip(place, data, strict=True)
                ]
        else:
            self.style, self.written = False, ""
        return object.__getattribute__(self, name)
