"""Where each document of a file begins and ends: large streams are edited one document at a time."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from policykit.manifests.patch import EditError

_BEGINNING = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_END = re.compile(r"^\.\.\.(?=[ \t\r\n]|\Z)[^\n]*\n", re.MULTILINE)
_NOTHING = re.compile(r"(?:[ \t]*(?:#[^\n]*|\r)?\n|%[^\n]*\n|\ufeff)*[ \t]*(?:#[^\n]*)?\Z")
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
    marks = [match.start() for match in _BEGINNING.finditer(text)]
    marks += [match.end() for match in _END.finditer(text)]
    starts = [0]
    for at in sorted(marks):
        if _is_document(text[starts[-1] : at]):
            starts.append(at)
    if not _is_document(text[starts[-1] :]):
        starts.pop()
    return tuple(Slice(start, end) for start, end in zip(starts, [*starts[1:], len(text)], strict=False))


def slice_of(text: str, document: int) -> Slice:
    """The extent of a document. Raises EditError where the markers alone do not tell where it is: text
    that the parser could not read, such as a directive that a line separator breaks, may stand between them.
    """
    found = slices(text)
    if not 0 <= document < len(found):
        raise EditError(f"the text has no document {document}")
    return found[document]


def _is_document(piece: str) -> bool:
    return _BEGINNING.search(piece) is not None or _NOTHING.match(piece) is None
