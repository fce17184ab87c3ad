"""The files that a build was made of, each read once, and only where something is to be said of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from policykit.errors import SourceError
from policykit.linter.reader import decode
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.embedded import embedded
from policykit.manifests.node import Node, Span
from policykit.manifests.parser import parse
from policykit.manifests.path import Path


class Text(NamedTuple):
    """A file's text and its documents; None stands for one that says nothing."""

    text: str
    roots: tuple[Node | None, ...]

    def objects(self) -> list[Manifest]:
        """The objects of all documents."""
        return [m for number, root in enumerate(self.roots) if root for m in manifests(root, number)]


class Texts:
    """Reads files; one that cannot be read is empty: that is told where it is linted."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._known: dict[str, Text] = {}

    def of(self, file: str) -> Text:
        if file not in self._known:
            try:
                text = decode(self._read(file)).text
            except SourceError:
                text = ""
            self._known[file] = Text(text, tuple(parsed.root for parsed in parse(text)))
        return self._known[file]


def inside(outer: str, path: Path, node: Node, span: Span) -> Span | None:
    """The place in a string of a place in the file that holds it; None: it is none of the string's."""
    text = embedded(outer, path, node)
    start, end = (
        text.inner_place(outer, line - 1, column - 1)
        for line, column in ((span.line, span.column), (span.end_line, span.end_column))
    )
    if start is None:
        return None
    end = end or start
    return Span(start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1)
