"""Renames and moves a field, with its lines, quotes and comments."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.manifests import rendering
from policykit.manifests.entry_edits import removed
from policykit.manifests.extents import (
    Edit,
    after_line,
    colon,
    content_end,
    line_break,
    line_end,
    line_start,
    own_pairs,
)
from policykit.manifests.node import Node
from policykit.manifests.patch import EditError
from policykit.manifests.path import Path, Step
from policykit.manifests.writer import Layout, scalar
from policykit.namedtuple import NamedTuple


class _Block(NamedTuple):
    """The lines of a field, comments above it included."""

    start: int
    """Of its first line, or of the key if a dash comes before it."""
    end: int
    """Before the line ending of its last line."""
    column: int
    beside_dash: bool


class _Opening(NamedTuple):
    """Where a field may be put: behind `at`, on lines of its own."""

    at: int
    column: int
    parents: tuple[str, ...]
    """Mappings to begin on the way to it."""


def renamed(text: str, parent: Node, step: Step, name: str, *, json: bool) -> Edit:
    """The edit that writes another key, with the quotes of the old one. Raises EditError."""
    key = _own_key(parent, step)
    if key is None or text[key.start_offset] in "&!*":
        raise EditError(f"{step}: a key that is defined elsewhere, or has an anchor or a tag, is not renamed")
    if key.style in ("'", '"'):
        written = rendering.requoted(name, key.style)
    else:
        written = rendering.flow(name, json) if parent.style else rendering.inline(name)
    return Edit(key.start_offset, content_end(text, key), written or rendering.flow(name, quoted=True))


def moved(text: str, root: Node, old: Path, new: Path, layout: Layout) -> tuple[Edit, ...] | None:
    """The edits that take a field's lines elsewhere, each in the text the one before left.

    None if the field, or the place it goes to, shares a line with something else.
    """
    inside = new[: len(old) - 1] == old[:-1]
    block = _block(text, root, old, last_stays=inside)
    opening = _opening(text, root, new, layout)
    if block is None or opening is None or old[-1] != new[-1]:
        return None
    newline = line_break(text)
    shift = opening.column + layout.mapping * len(opening.parents) - block.column
    lead = block.column if block.beside_dash else 0
    own = (" " * lead + text[block.start : block.end]).split("\n")
    lines = [*_parents(opening, layout), *(_shifted(line, shift) for line in own)]
    written = newline.join(line.removesuffix("\r") for line in lines)
    if opening.at == block.end or (opening.at <= block.start and not text[opening.at : block.start].strip()):
        return (Edit(block.start, block.end, written[lead:]),)
    put = Edit(opening.at, opening.at, newline + written)
    if block.beside_dash:
        cut = removed(text, _reached(root, old[:-1])[0], old[-1])
    else:
        cut = _cut(text, block.start, block.end)
    return tuple(sorted((put, cut), reverse=True))


def _own_key(parent: Node, step: Step) -> Node | None:
    pair = parent.entries.get(step) if isinstance(parent.entries, dict) else None
    return pair[0] if pair and pair[0].start_offset >= parent.start_offset else None


def _block(text: str, root: Node, path: Path, *, last_stays: bool) -> _Block | None:
    """The field's lines; `last_stays`: its mapping is not left empty though it has no other."""
    parent, _, rest = _reached(root, path[:-1])
    key = _own_key(parent, path[-1])
    if rest or key is None or parent.style or (len(parent.entries) == 1 and not last_stays):
        return None
    at, column = key.start_offset, key.start.column
    end = after_line(text, parent.entries[path[-1]][1])
    start = line_start(text, at)
    if text[start:at].strip(" "):
        return _Block(at, end, column, beside_dash=True)
    if own_pairs(parent)[0][0] is not key:
        start = _above(text, start, column)
    return _Block(start, end, column, beside_dash=False)


def _above(text: str, start: int, column: int) -> int:
    """Start of the comments right above a line that are indented as it is."""
    while start > 0:
        before = line_start(text, start - 1)
        if not text[before:start].startswith(" " * column + "#"):
            break
        start = before
    return start


def _cut(text: str, start: int, end: int) -> Edit:
    for ending in ("\r\n", "\n"):
        if text.startswith(ending, end):
            return Edit(start, end + len(ending), "")
    # The last line of a text without line ending: the one before becomes the last.
    return Edit(line_end(text, line_start(text, start - 1)) if start else 0, end, "")


def _opening(text: str, root: Node, path: Path, layout: Layout) -> _Opening | None:
    node, key, rest = _reached(root, path)
    parents = tuple(step for step in rest[:-1] if isinstance(step, str))
    if not rest or len(parents) < len(rest) - 1:
        return None
    if node.data is None and key is not None and node.start_offset == node.end_offset:
        return _Opening(line_end(text, colon(text, key)), key.start.column + layout.mapping, parents)
    pairs = own_pairs(node) if isinstance(node.entries, dict) and not node.style else []
    if not pairs:
        return None
    last = max(pairs, key=lambda pair: pair[1].end_offset)[1]
    return _Opening(after_line(text, last), pairs[0][0].start.column, parents)


def _reached(root: Node, path: Path) -> tuple[Node, Node | None, Sequence[Step]]:
    """The deepest node on a path, the key it has in a block mapping, and the steps beyond."""
    node, key = root, None
    for depth, step in enumerate(path):
        entries = node.entries
        if isinstance(entries, dict) and step in entries:
            key = _own_key(node, step) if not node.style else None
            node = entries[step][1]
        elif isinstance(entries, list) and isinstance(step, int) and step < len(entries):
            node, key = entries[step], None
        else:
            return node, key, path[depth:]
    return node, key, ()


def _parents(opening: _Opening, layout: Layout) -> list[str]:
    return [
        " " * (opening.column + layout.mapping * depth) + f"{scalar(name)}:"
        for depth, name in enumerate(opening.parents)
    ]


def _shifted(line: str, by: int) -> str:
    """A line further right or left; an empty line of a text stays empty."""
    if by >= 0:
        return " " * by + line if line.rstrip("\r") else line
    return line[min(-by, len(line) - len(line.lstrip(" "))) :]
