"""Where the documents of a file and the parts of a document begin and end, to the character."""

from __future__ import annotations

import re
from functools import lru_cache

from policykit.manifests.node import Node
from policykit.manifests.patch import EditError
from policykit.namedtuple import NamedTuple


class Edit(NamedTuple):
    """Text in place of `[start, end)`, counted in code points of the text edited."""

    start: int
    end: int
    text: str


def own_pairs(node: Node) -> list[tuple[Node, Node]]:
    """Pairs (key, value) of the mapping itself, without merged and aliased ones."""
    return [pair for pair in node.entries.values() if pair[0].start_offset >= node.start_offset]


def own_items(node: Node) -> list[Node]:
    return [item for item in node.entries if item.start_offset >= node.start_offset]


def content_end(text: str, node: Node) -> int:
    """Where the last character of a node ends; the mark of a block scalar runs on to the next token."""
    node = _last(node)
    end = node.end_offset
    if node.style not in ("|", ">"):
        return end
    raw = text[node.start_offset : end]
    header = raw.partition("\n")[0].partition("#")[0]
    if "+" not in header:
        return node.start_offset + len(raw.rstrip(" \t\r\n"))
    return end - len(raw) + len(raw.removesuffix("\n").removesuffix("\r"))


def _last(node: Node) -> Node:
    """The node's last descendant in block style, or itself."""
    while node.entries and not node.style:
        mapping = isinstance(node.entries, dict)
        below = [value for _, value in own_pairs(node)] if mapping else own_items(node)
        if not below:
            return node
        node = max(below, key=lambda child: child.end_offset)
    return node


def line_end(text: str, at: int) -> int:
    """End of the line that contains `at`, before its line ending."""
    end = text.find("\n", at)
    if end < 0:
        return len(text)
    return end - 1 if end > at and text[end - 1] == "\r" else end


def line_break(text: str) -> str:
    """How most lines of a text end, for lines that are added."""
    return "\r\n" if "\r\n" in text and 2 * text.count("\r\n") > text.count("\n") else "\n"


def line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def after_line(text: str, node: Node) -> int:
    """End of the line a node ends in: behind a comment that follows it."""
    return line_end(text, content_end(text, node))


def colon(text: str, key: Node) -> int:
    """Just behind the colon of a key."""
    at = text.find(":", key.end_offset)
    if at < 0 or text[key.end_offset : at].strip():
        raise EditError("a key without a colon behind it cannot be edited")
    return at + 1


def after_comments(text: str, at: int, column: int) -> int:
    """After the comment lines that follow and are indented deeper than `column`:
    they belong to the lines above."""
    while True:
        start = text.find("\n", at) + 1
        line = text[start : line_end(text, start)]
        inner = line.lstrip(" ")
        if not start or not inner.startswith("#") or len(line) - len(inner) <= column:
            return at
        at = start + len(line)


def dash(text: str, item: Node) -> int:
    """The dash that introduces an item of a block sequence."""
    at = item.start_offset - 1
    while at >= 0 and text[at] in " \t\r\n":
        at -= 1
    if at < 0 or text[at] != "-":
        raise EditError("an item without a dash before it cannot be edited")
    return at


_BEGINNING = r"(?m)^---(?=[ \t\r\n]|\Z)"
_END = r"(?m)^\.\.\.(?=[ \t\r\n]|\Z)[^\n]*\n"
_RARE_BREAK = "\r(?!\n)|[\x85\u2028\u2029]"
"""Line breaks of YAML 1.1 that hardly anybody means: no document is looked for behind them."""
_NOTHING = r"(?:[ \t]*(?:#[^\n]*|\r)?\n|%[^\n]*\n|\ufeff)*[ \t]*(?:#[^\n]*)?\Z"
"""Blank lines, comments and directives: no document yet. Each line matches in one way only."""


class Slice(NamedTuple):
    """The extent of one document, its `---` with it, in code points of the file."""

    start: int
    end: int


@lru_cache(maxsize=4)
def slices(text: str) -> tuple[Slice, ...]:
    """One per document, in order, without gaps: what leads to a document belongs to it.

    A marker ends whatever is open (YAML 1.2, 9.1.2), so looking at the starts of lines is exact.
    """
    marks = [match.start() for match in re.finditer(_BEGINNING, text)]
    marks += [match.end() for match in re.finditer(_END, text)]
    starts = [0]
    for at in sorted(marks):
        if _is_document(text[starts[-1] : at]):
            starts.append(at)
    if not _is_document(text[starts[-1] :]):
        starts.pop()
    return tuple(Slice(start, end) for start, end in zip(starts, [*starts[1:], len(text)], strict=False))


def rare_break(text: str) -> str:
    """What is unusual about the line breaks of a text whose documents cannot be told apart, or nothing."""
    found = re.search(_RARE_BREAK, text)
    return f"a line ends with U+{ord(found[0]):04X}" if found else ""


EVEN_BREAKS = "end all lines with LF, or all with CR LF"


def slice_of(text: str, document: int) -> Slice:
    """The extent of a document. Raises EditError where the markers alone do not tell where it is: text
    that the parser could not read, such as a directive that a line separator breaks, may be between them.
    """
    found = slices(text)
    if not 0 <= document < len(found):
        if rare := rare_break(text):
            raise EditError(f"{rare}: {EVEN_BREAKS}")
        raise EditError(f"the text has no document {document + 1}")
    return found[document]


def _is_document(piece: str) -> bool:
    return re.search(_BEGINNING, piece) is not None or re.match(_NOTHING, piece) is None
