"""Changes to many objects of one document: a list of a thousand is not read a thousand times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import yaml
from yaml.events import AliasEvent

from policykit.manifests.amend import amended
from policykit.manifests.edit import read, same
from policykit.manifests.extents import Edit, dash, line_start
from policykit.manifests.node import Node
from policykit.manifests.patch import EditError, Patch
from policykit.manifests.path import Path

_ALIAS = re.compile(r"(?:^|[\s\[{,:-])\*[^\s,\]}]", re.MULTILINE)
"""Perhaps an alias: what one object says may then stand in another."""
_HEAD = "items:\n"


class Change(NamedTuple):
    """What is to be changed in one object of a document."""

    base: Path
    """From the document's root to the object."""
    patches: tuple[Patch, ...]
    """Relative to the object, to be made in order."""


class _Piece(NamedTuple):
    """An item of a sequence as a document of its own."""

    text: str
    shift: int
    """From a place in it to the same place in the whole text."""
    path: Path
    """To the item."""


def edits(text: str, changes: Sequence[Change]) -> tuple[Edit, ...]:
    """The changes as edits of a text that holds one document, sorted, apart from each other.

    Raises EditError as `amended` does. Objects must not stand inside one another.
    """
    made = [change for change in changes if change.patches]
    if len(made) > 1 and not _has_alias(text):
        root = read(text)[0]
        if root is not None:
            return tuple(sorted(edit for change in made for edit in _apart(text, root, change)))
    return amended(text, (patch for change in made for patch in _led_in(change.base, change.patches))).edits


def spliced(text: str, made: Iterable[Edit]) -> str:
    """The text with sorted edits made, in one go."""
    parts: list[str] = []
    at = 0
    for one in made:
        parts += (text[at : one.start], one.text)
        at = one.end
    return "".join([*parts, text[at:]])


def _led_in(base: Path, patches: Iterable[Patch]) -> Iterator[Patch]:
    return (patch._replace(path=(*base, *patch.path)) for patch in patches)


def _has_alias(text: str) -> bool:
    # Most texts need not be read for it; a schedule like `*/5 */2` must be.
    return _ALIAS.search(text) is not None and any(
        isinstance(event, AliasEvent) for event in yaml.parse(text, Loader=yaml.CSafeLoader)
    )


def _apart(text: str, root: Node, change: Change) -> tuple[Edit, ...]:
    piece = _piece(text, root, change.base)
    if piece is None:
        return amended(text, _led_in(change.base, change.patches)).edits
    changed = amended(piece.text, _led_in(piece.path, change.patches))
    if piece.shift + len(piece.text) < len(text) and changed.text[-1:] not in ("\n", "]"):
        raise EditError("the last line of an item of a list cannot be told from the next item")
    return tuple(Edit(one.start + piece.shift, one.end + piece.shift, one.text) for one in changed.edits)


def _piece(text: str, root: Node, base: Path) -> _Piece | None:
    """The item by itself; None where it cannot be told from its surroundings."""
    sequence = _at(root, base[:-1])
    position = base[-1] if base else None
    if sequence is None or not isinstance(position, int):
        return None
    item = sequence.entries[position]
    try:
        if sequence.style:
            piece = _in_flow(text, item) if root.style is True else None
        else:
            piece = _on_lines(text, sequence.entries, position)
        found = _at(read(piece.text)[0], piece.path) if piece else None
    except EditError:
        return None
    return piece if found is not None and same(found.data, item.data) else None


def _on_lines(text: str, items: Sequence[Node], position: int) -> _Piece | None:
    """The lines of an item of a block sequence, where they are its own."""
    start = line_start(text, dash(text, items[position]))
    last = position + 1 == len(items)
    end = len(text) if last else line_start(text, dash(text, items[position + 1]))
    alone = text[start : items[position].start.index].strip() == "-"
    return _Piece(_HEAD + text[start:end], start - len(_HEAD), ("items", 0)) if alone else None


def _in_flow(text: str, item: Node) -> _Piece:
    """An item of a list in a JSON document, its lines in the columns they had."""
    lead = "[\n" + " " * (item.start.column if item.end.line > item.start.line else 0)
    start, end = item.start.index, item.end.index
    return _Piece(f"{lead}{text[start:end]}]", start - len(lead), (0,))


def _at(node: Node | None, path: Path) -> Node | None:
    for step in path:
        entries = node.entries if node is not None else None
        if isinstance(entries, dict):
            pair = entries.get(step)
            node = pair[1] if pair else None
        elif isinstance(entries, list) and isinstance(step, int) and step < len(entries):
            node = entries[step]
        else:
            return None
    return node
