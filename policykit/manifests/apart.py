"""Changes to many objects of one document: a list of a thousand is not read a thousand times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

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
    """An item of a block sequence as a document of its own, and where it began."""

    text: str
    start: int


def edits(text: str, changes: Sequence[Change]) -> tuple[Edit, ...]:
    """The changes as edits of a text that holds one document, sorted, apart from each other.

    Raises EditError as `amended` does. Objects must not stand inside one another.
    """
    made = [change for change in changes if change.patches]
    if len(made) > 1 and not _ALIAS.search(text):
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


def _apart(text: str, root: Node, change: Change) -> tuple[Edit, ...]:
    piece = _piece(text, root, change.base)
    if piece is None:
        return amended(text, _led_in(change.base, change.patches)).edits
    changed = amended(piece.text, _led_in(("items", 0), change.patches))
    shift = piece.start - len(_HEAD)
    if shift + len(piece.text) < len(text) and not changed.text.endswith("\n"):
        raise EditError("the last line of an item of a list cannot be told from the next item")
    return tuple(Edit(one.start + shift, one.end + shift, one.text) for one in changed.edits)


def _piece(text: str, root: Node, base: Path) -> _Piece | None:
    """The lines of an item; None where it does not stand on lines of its own."""
    sequence = _at(root, base[:-1])
    position = base[-1] if base else None
    if sequence is None or sequence.style or not isinstance(position, int):
        return None
    items = sequence.entries
    try:
        start = line_start(text, dash(text, items[position]))
        last = position + 1 == len(items)
        end = len(text) if last else line_start(text, dash(text, items[position + 1]))
        piece = _HEAD + text[start:end]
        found = _at(read(piece)[0], ("items", 0))
    except EditError:
        return None
    alone = text[start : items[position].start.index].strip() == "-"
    whole = found is not None and same(found.data, items[position].data)
    return _Piece(piece, start) if alone and whole else None


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
