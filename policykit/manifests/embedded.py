"""YAML inside a string of another document, and its location in the file."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from policykit.manifests.document_edits import apply
from policykit.manifests.edit import edit, read, same, spliced
from policykit.manifests.extents import Edit, line_break
from policykit.manifests.node import Node
from policykit.manifests.parser import parse
from policykit.manifests.patch import EditError, Patch, patched
from policykit.manifests.path import Path, dotted
from policykit.namedtuple import NamedTuple

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}
_SPACE = " \t\r\n"


class OffsetMap:
    """Outer offsets of the characters of a text: each run of neighbours by its beginning."""

    def __init__(self, start: int, offsets: Iterable[int] = ()) -> None:
        """`offsets` from `start` on, one for each character; none: all are at `start`."""
        self._inner = array("q")
        self._outer = array("q")
        following = -1
        for inner, offset in enumerate(offsets):
            if offset != following:
                self._inner.append(inner)
                self._outer.append(start + offset)
            following = offset + 1
        self._start = start

    def outer(self, inner: int) -> int:
        run = bisect_right(self._inner, inner) - 1
        return self._outer[run] + inner - self._inner[run] if run >= 0 else self._start


class EmbeddedText(NamedTuple):
    """A string scalar whose value is a text of its own. Lines and columns count from 0."""

    path: Path
    """Its path in the outer document."""
    text: str
    """Its value, with `\\n` line endings."""
    literal: bool
    """A block scalar of style `|`: it can be edited in place."""
    runs: OffsetMap
    """Offsets of its characters in the outer text."""
    indent: int
    """Of a literal block's lines."""

    def offset(self, inner: int) -> int:
        """Outer offset of a character, or of the end, in code points."""
        return self.runs.outer(min(inner, len(self.text)))

    def place(self, outer: str, line: int, column: int) -> tuple[int, int]:
        """Line and column in the outer file of a place inside."""
        starts = _line_starts(self.text)
        return _place(outer, self.offset(starts[min(line, len(starts) - 1)] + column))

    def inner_place(self, outer: str, line: int, column: int) -> tuple[int, int] | None:
        """The place inside of one in the outer file; None: it is not a place of the string."""
        starts = _line_starts(outer)
        wanted = starts[min(line, len(starts) - 1)] + column
        inner = bisect_left(range(len(self.text) + 1), wanted, key=self.offset)
        return _place(self.text, inner) if self.offset(inner) == wanted else None


def strings(root: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every string of more than one line below a node, with its path."""
    if isinstance(root.entries, dict):
        for key, (_, value) in root.entries.items():
            yield from strings(value, (*path, key))
    elif isinstance(root.entries, list):
        for index, item in enumerate(root.entries):
            yield from strings(item, (*path, index))
    elif isinstance(root.data, str) and "\n" in root.data:
        yield path, root


def kinds(text: str) -> frozenset[str]:
    """The `kind` of each document in a text, where it has any that is YAML."""
    found = (parsed.root.data for parsed in parse(text) if parsed.root)
    return frozenset(d["kind"] for d in found if isinstance(d, dict) and isinstance(d.get("kind"), str))


def embedded(outer: str, path: Path, node: Node) -> EmbeddedText:
    """The text inside a string scalar of `outer`."""
    text: str = node.data
    shift = 1 if outer.startswith("\ufeff") else 0
    properties = _PROPERTIES.match(outer, node.start_offset + shift)
    start = properties.end() if properties else node.start_offset + shift
    raw = outer[start : node.end_offset + shift]
    if node.style == "|":
        found = _literal(raw, text)
        if found:
            offsets, indent = found
            return EmbeddedText(path, text, True, OffsetMap(start, offsets), indent)
    aligned = _aligned(raw, text, node.style)
    if aligned is None:
        return EmbeddedText(path, text, False, OffsetMap(start), 0)
    return EmbeddedText(path, text, False, OffsetMap(start, aligned), 0)


def apply_inside(outer: str, path: Path, patches: Iterable[Patch], document: int = 0, inner: int = 0) -> str:
    """`outer` with the text at `path` changed: a literal block line by line, any other string whole.

    `inner` counts the documents of that text. Raises EditError as `amend.apply` does, and
    if the value at `path` is not a string.
    """
    for patch in patches:
        inside = _at(outer, path, document)
        text = apply(inside.text, [patch], inner)
        made = edit(inside.text, patch, inner)
        candidate = _in_place(outer, inside, made, document) if inside.literal else None
        if candidate is None or _at(candidate, path, document).text.rstrip("\n") != text.rstrip("\n"):
            candidate = apply(outer, [Patch("replace", path, text)], document)
        outer = candidate
    return outer


def _in_place(outer: str, inside: EmbeddedText, made: Edit, document: int) -> str | None:
    """`outer` with an edit made inside a literal block; None where that would change anything else."""
    candidate = spliced(outer, _outward(inside, made, line_break(outer)))
    before = [root.data if root else None for root in read(outer)]
    after = [root.data if root else None for root in read(candidate)]
    before[document] = patched(before[document], Patch("replace", inside.path, None))
    after[document] = patched(after[document], Patch("replace", inside.path, None))
    return candidate if same(before, after) else None


def _at(outer: str, path: Path, document: int) -> EmbeddedText:
    node: Any = read(outer)[document]
    for step in path:
        entries = node.entries if node else None
        if not isinstance(entries, (dict, list)) or step not in (
            entries if isinstance(entries, dict) else range(len(entries))
        ):
            raise EditError(f"{dotted(path)}: there is no value there")
        node = entries[step][1] if isinstance(entries, dict) else entries[step]  # type: ignore[index]
    if node is None or not isinstance(node.data, str):
        raise EditError(f"{dotted(path)}: not a text")
    return embedded(outer, path, node)


def _outward(inside: EmbeddedText, made: Edit, newline: str) -> Edit:
    """An edit inside a literal block as an edit of the outer text."""
    lines = made.text.split("\n")
    pad = " " * inside.indent
    text = newline.join([lines[0], *(pad + line if line else "" for line in lines[1:])])
    if made.text.endswith("\n") and made.end < len(inside.text):
        text += pad
    start = inside.offset(made.start)
    if made.end == len(inside.text) and inside.text[: made.start].endswith("\n") and not made.text:
        # Its last lines go: so does the indentation that led to them.
        start -= inside.indent
    return Edit(start, inside.offset(made.end), text)


def _literal(raw: str, text: str) -> tuple[array[int], int] | None:
    """Offsets in `raw` of each character of a literal block, and its indentation."""
    header, _, _ = raw.partition("\n")
    at = len(header) + 1
    lines = text.split("\n")
    indent = _indent(header, raw[at:], lines)
    offsets = array("q")
    for position, line in enumerate(lines):
        begin = min(at + indent, len(raw)) if line else min(at, len(raw))
        if raw[begin : begin + len(line)] != line:
            return None
        end = raw.find("\n", begin)
        last = position == len(lines) - 1
        if last:
            offsets.extend(range(begin, begin + len(line) + 1))
        else:
            content = end if end >= 0 else len(raw)
            blank = max(content - (raw[content - 1 : content] == "\r"), begin) if not line else begin
            offsets.extend(range(begin, begin + len(line)))
            offsets.append(blank if not line else begin + len(line))
        at = end + 1 if end >= 0 else len(raw)
    return offsets, indent


def _indent(header: str, body: str, lines: list[str]) -> int:
    first = next((line for line in lines if line.strip()), "")
    for line in body.split("\n"):
        if line.strip():
            return len(line.rstrip("\r")) - len(first)
    return 0


def _aligned(raw: str, text: str, style: object) -> array[int] | None:
    """Folding and quoting only touch blanks and escapes: everything else keeps its order."""
    units = (unit for unit in _units(raw, style) if unit[0] not in _SPACE)
    offsets = array("q")
    after = 1 if style in ("'", '"') else 0
    for char in text:
        if char in _SPACE:
            offsets.append(after)
            continue
        unit, at = next(units, ("", 0))
        if unit != char:
            return None
        offsets.append(at)
        after = at + 1
    offsets.append(after)
    return offsets


def _units(raw: str, style: object) -> Iterator[tuple[str, int]]:
    """Characters that a scalar's source represents, with the offset of each."""
    if style == '"':
        yield from _unescaped(raw)
    elif style == "'":
        for match in re.finditer(r"''|[^']", raw[1:-1]):
            yield match.group()[0], match.start() + 1
    else:
        begin = raw.find("\n") + 1 if style in ("|", ">") else 0
        yield from ((raw[at], at) for at in range(begin, len(raw)))


def _unescaped(raw: str) -> Iterator[tuple[str, int]]:
    at = 1
    while at < len(raw) - 1:
        char = raw[at]
        if char != "\\":
            yield char, at
            at += 1
            continue
        name = raw[at + 1]
        digits = _HEX_ESCAPES.get(name, 0)
        if digits:
            yield chr(int(raw[at + 2 : at + 2 + digits], 16)), at
        elif name not in "abtnvferN_LP0 \t\r\n":
            yield name, at
        at += 2 + digits


def _place(text: str, at: int) -> tuple[int, int]:
    starts = _line_starts(text)
    line = bisect_right(starts, at) - 1
    return line, at - starts[line]


@lru_cache(maxsize=8)  # many findings are in one string of one file
def _line_starts(text: str) -> array[int]:
    return array("q", [0, *(match.end() for match in re.finditer("\n", text))])
