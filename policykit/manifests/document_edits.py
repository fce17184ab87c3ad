"""Several changes to one document as edits of its text, verified by reading the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policykit.manifests.edit import edits, read, same, spliced
from policykit.manifests.extents import Edit, slice_of
from policykit.manifests.node import Node
from policykit.manifests.patch import EditError, Patch, patched
from policykit.manifests.path import dotted
from policykit.namedtuple import NamedTuple

_Piece = tuple[int, int] | str
"""A stretch of the text as read, or text that was written."""


class EditResult(NamedTuple):
    """A text with changes made, and the same changes as edits of the text before."""

    text: str
    edits: tuple[Edit, ...]
    """Sorted and apart from each other, in code points of the text before."""


def amended(text: str, patches: Iterable[Patch], document: int = 0) -> EditResult:
    """The text with changes made to one document, one after another.

    Only that document is read; after each change it is read again. Raises EditError where it
    is not YAML, a path leads nowhere, or the result would not read as intended (an edit below
    an alias, say).
    """
    extent = slice_of(text, document)
    last = extent.end == len(text)
    made = amended_document(text[extent.start : extent.end], patches, last=last)
    moved = (Edit(e.start + extent.start, e.end + extent.start, e.text) for e in made.edits)
    return EditResult(text[: extent.start] + made.text + text[extent.end :], tuple(moved))


def amended_document(
    text: str, patches: Iterable[Patch], *, last: bool = True, like: Node | None = None
) -> EditResult:
    """As `amended`, of a text that holds one document; `last`: no other follows it.

    New text is laid out as in `like`, the root of a document that this one is a part of.
    """
    piece = text
    changes: list[Edit] = []
    data = _data(piece)
    for patch in patches:
        data = patched(data, patch)
        made = edits(piece, patch, like=like)
        for one in made:
            piece = spliced(piece, one)
        if not same(_data(piece), data) or (not last and piece[-1:] != "\n"):
            raise EditError(
                f"{dotted(patch.path)}: cannot be edited in place without changing something else"
            )
        changes.extend(made)
    return EditResult(piece, composed(text, changes))


def apply(text: str, patches: Iterable[Patch], document: int = 0) -> str:
    """The text with the changes made in order. Raises EditError as `amended` does."""
    return amended(text, patches, document).text


def composed(text: str, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Edits made one after another, each in the text the one before left, as edits of `text`."""
    pieces: list[_Piece] = [(0, len(text))]
    for one in edits:
        pieces = [*_cut(pieces, 0, one.start), one.text, *_cut(pieces, one.end, len(text) + _grown(pieces))]
    found: list[Edit] = []
    at, written = 0, ""
    for piece in [*pieces, (len(text), len(text))]:
        if isinstance(piece, str):
            written += piece
            continue
        if written or piece[0] > at:
            found.extend(_trimmed(text, Edit(at, piece[0], written)))
        at, written = piece[1], ""
    return tuple(found)


def _data(piece: str) -> object:
    roots = read(piece)
    if len(roots) != 1:
        raise EditError("the document cannot be told from its neighbours")
    return roots[0].data if roots[0] else None


def _size(piece: _Piece) -> int:
    return len(piece) if isinstance(piece, str) else piece[1] - piece[0]


def _grown(pieces: Sequence[_Piece]) -> int:
    return sum(_size(piece) for piece in pieces)


def _cut(pieces: Sequence[_Piece], start: int, end: int) -> list[_Piece]:
    """The pieces of `[start, end)` of the text they make."""
    found: list[_Piece] = []
    at = 0
    for piece in pieces:
        first, last = max(start - at, 0), min(end - at, _size(piece))
        if first < last:
            whole = isinstance(piece, str)
            found.append(piece[first:last] if whole else (piece[0] + first, piece[0] + last))  # type: ignore[operator, arg-type]
        at += _size(piece)
    return found


def _trimmed(text: str, one: Edit) -> list[Edit]:
    """The edit without what it puts back where it was; nothing where it changes nothing."""
    old, new = text[one.start : one.end], one.text
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    old, new = old[head:], new[head:]
    tail = 0
    while tail < min(len(old), len(new)) and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    end = one.end - tail
    if one.start + head == end and len(new) == tail:
        return []
    return [Edit(one.start + head, end, new[: len(new) - tail])]
