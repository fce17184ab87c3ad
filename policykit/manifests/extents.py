"""Where the parts of a YAML text begin and end, to the character."""

from __future__ import annotations

from typing import NamedTuple

from policykit.manifests.node import Node
from policykit.manifests.patch import EditError


class Edit(NamedTuple):
    """Text in place of `[start, end)`, counted in code points of the text edited."""

    start: int
    end: int
    text: str


def own_pairs(node: Node) -> list[tuple[Node, Node]]:
    """Pairs (key, value) that stand in the mapping itself, not in what it merges or aliases."""
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
    """End of the line that `at` stands in, before its line ending."""
    end = text.find("\n", at)
    if end < 0:
        return len(text)
    return end - 1 if end > at and text[end - 1] == "\r" else end


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
    """Behind the comments of the lines that follow, where they stand further right than `column`:
    they belong to what is above them."""
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
