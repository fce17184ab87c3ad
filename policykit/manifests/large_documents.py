"""Edits of large documents: each change reads again only the list item that it is made in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from policykit.manifests.document_edits import amended_document
from policykit.manifests.edit import read, same
from policykit.manifests.extents import Edit, after_comments, after_line, dash, line_break, line_start
from policykit.manifests.libyaml import AliasEvent, CParser
from policykit.manifests.node import Node
from policykit.manifests.patch import EditError, Patch
from policykit.manifests.path import Path, Step
from policykit.namedtuple import NamedTuple

_ALIAS = re.compile(r"(?:^|[\s\[{,:-])\*[^\s,\]}]", re.MULTILINE)
"""Possibly an alias: objects may then share data."""
_ALWAYS = 1_000_000
_TIMES = 20
"""A document is read for changes that concern all of it until that makes so many characters, or as
many times its own; then it counts as too large for so many changes."""


class ObjectPatches(NamedTuple):
    """The changes to one object of a document."""

    base: Path
    """Path of the object from the root of the document."""
    patches: tuple[Patch, ...]
    """Relative to the object, to be made in order."""


TOO_MANY = "the document is too large for so many changes in one run"


class TooManyError(EditError):
    """So many changes of so large a document cannot be made in one run."""


class _Excerpt(NamedTuple):
    """An item of a sequence as a document of its own."""

    text: str
    shift: int
    """From a place in it to the same place in the whole text."""
    path: Path
    """To the item."""


class Document:
    """A text that holds one document: each change reads the smallest part of it that it can be made in."""

    def __init__(self, text: str, *, last: bool = True) -> None:
        """`last`: no other document follows in the file."""
        self._text = text
        self._last = last
        self._left = max(_ALWAYS, _TIMES * len(text))

    def edits(self, patches: Sequence[Patch]) -> tuple[Edit, ...]:
        """Changes made in order, as edits of the text, sorted, apart from each other.

        The smallest item of a sequence that holds them all is edited by itself, where it can be told
        from its surroundings. Raises EditError as `amended` does, and TooManyError.
        """
        if self.has_parts and self._root is not None:
            for base in _items(patches):
                piece = _excerpt(self._text, self._root, base, self._line_break)
                if piece is not None:
                    return self._inside(piece, len(base), patches)
        return self.whole(patches)

    def whole(self, patches: Sequence[Patch]) -> tuple[Edit, ...]:
        """As `edits`, reading all of the text. Raises EditError and TooManyError."""
        for _ in patches:
            self.spend()
        return amended_document(self._text, patches, last=self._last).edits

    def spend(self) -> None:
        """Counts one more reading of the whole text. Raises TooManyError."""
        if self._left <= 0:
            raise TooManyError(TOO_MANY)
        self._left -= len(self._text)

    def _inside(self, piece: _Excerpt, depth: int, patches: Sequence[Patch]) -> tuple[Edit, ...]:
        led = [patch._replace(path=(*piece.path, *patch.path[depth:])) for patch in patches]
        changed = amended_document(piece.text, led, like=self._root)
        if piece.shift + len(piece.text) < len(self._text) and changed.text[-1:] not in ("\n", "]"):
            raise EditError("the last line of an item of a list cannot be told from the next item")
        return tuple(Edit(one.start + piece.shift, one.end + piece.shift, one.text) for one in changed.edits)

    @cached_property
    def _line_break(self) -> str:
        return line_break(self._text)

    @cached_property
    def _root(self) -> Node | None:
        roots = read(self._text)
        return roots[0] if len(roots) == 1 else None

    @cached_property
    def has_parts(self) -> bool:
        """Whether items can be edited separately: the text has no alias."""
        if self._root is None:
            return False
        # Most texts need not be read for it; a schedule like `*/5 */2` must be.
        return _ALIAS.search(self._text) is None or not any(
            isinstance(event, AliasEvent) for event in iter(CParser(self._text).get_event, None)
        )


def edits(text: str, changes: Sequence[ObjectPatches]) -> tuple[Edit, ...]:
    """The changes as edits of a text that holds one document, sorted, apart from each other.

    Raises EditError as `amended` does. Objects must not be nested.
    """
    made = [_led_in(change) for change in changes if change.patches]
    document = Document(text)
    if len(made) > 1 and document.has_parts:
        return tuple(sorted(edit for patches in made for edit in document.edits(patches)))
    return document.whole([patch for patches in made for patch in patches])


def spliced(text: str, made: Iterable[Edit]) -> str:
    """The text with sorted edits made, in one go."""
    parts: list[str] = []
    at = 0
    for one in made:
        parts += (text[at : one.start], one.text)
        at = one.end
    return "".join([*parts, text[at:]])


def _led_in(change: ObjectPatches) -> tuple[Patch, ...]:
    return tuple(patch._replace(path=(*change.base, *patch.path)) for patch in change.patches)


def _items(patches: Sequence[Patch]) -> Iterator[Path]:
    """The items of sequences that all the changes are made in, the smallest first."""
    paths = [patch.path if patch.op == "move" else patch.path[:-1] for patch in patches]
    shared: list[Step] = []
    for steps in zip(*paths, strict=False):
        if len(set(steps)) > 1:
            break
        shared.append(steps[0])
    for depth in range(len(shared), 0, -1):
        if isinstance(shared[depth - 1], int):
            yield tuple(shared[:depth])


def _excerpt(text: str, root: Node, base: Path, newline: str) -> _Excerpt | None:
    """The item as a document; None if it cannot be separated from the text around it."""
    sequence, position = _at(root, base[:-1]), base[-1]
    entries = sequence.entries if sequence else None
    if sequence is None or not isinstance(entries, list) or not isinstance(position, int):
        return None
    if not 0 <= position < len(entries):
        return None
    item = entries[position]
    try:
        if sequence.style:
            piece = _in_flow(text, item, newline) if root.style is True else None
        else:
            piece = _on_lines(text, entries, position, newline)
        found = _at(read(piece.text)[0], piece.path) if piece else None
    except EditError:
        return None
    return piece if found is not None and same(found.data, item.data) else None


def _on_lines(text: str, items: Sequence[Node], position: int, newline: str) -> _Excerpt | None:
    """The lines of an item of a block sequence, where they are its own."""
    item = items[position]
    at = dash(text, item)
    start = line_start(text, at)
    if position + 1 < len(items):
        end = line_start(text, dash(text, items[position + 1]))
    else:
        end = after_comments(text, after_line(text, item), at - start)
        end = text.find("\n", end) + 1 or len(text)
    alone = text[start : item.start_offset].strip() == "-"
    head = f"items:{newline}"
    return _Excerpt(head + text[start:end], start - len(head), ("items", 0)) if alone else None


def _in_flow(text: str, item: Node, newline: str) -> _Excerpt:
    """An item of a list in a JSON document, its lines in the columns they had."""
    lead = f"[{newline}" + " " * (item.start.column if item.end.line > item.start.line else 0)
    start, end = item.start_offset, item.end_offset
    return _Excerpt(f"{lead}{text[start:end]}]", start - len(lead), (0,))


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
