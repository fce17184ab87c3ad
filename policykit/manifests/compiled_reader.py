"""The reader of `extension/tree.c`, where policykit was built with it."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.extension import compiled
from policykit.manifests import parsed_document, scalars
from policykit.manifests.node import Duplicate, Lines, Node
from policykit.manifests.parsed_document import ParsedDocument, UnreadError

if compiled:
    compiled.prepare(
        Node,
        scalars.WORDS,
        scalars.WORD_STARTS,
        scalars.NUMBER_STARTS,
        scalars.resolve,
        scalars.tagged,
        parsed_document.measure,
        parsed_document.merge,
        parsed_document.key_text,
        parsed_document.content_end,
        UnreadError,
    )


def available() -> bool:
    """Whether the extension is there and on."""
    return compiled is not None


def documents(text: str, lines: Lines, offset: int = 0) -> Iterator[ParsedDocument]:
    """Documents of a stream, lazily. Raises UnreadError in place of the first that has a problem.

    `offset`: where the text begins in that of the lines.
    """
    bounds = (parsed_document.MAX_DEPTH, parsed_document.MAX_ALIASED, parsed_document.MAX_VALUES)
    reader = compiled.Reader(text, lines, *bounds, offset)
    while (found := reader.document()) is not None:
        root, start_line, twice = found
        duplicates = tuple(Duplicate(*each) for each in twice) if twice else ()
        yield ParsedDocument(root, start_line, duplicates)
