"""The documents of a file, and the lines that each is on."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.linter.reader import Text, documents
from policykit.manifests.node import Node
from policykit.manifests.parser import ParsedDocument
from policykit.namedtuple import NamedTuple


class FileDocument(NamedTuple):
    """A document, and its location in the file."""

    parsed: ParsedDocument
    number: int
    """Its index in the file."""
    first: int
    end: int
    """The lines it begins on and ends before, from 0."""

    def lines(self, text: str) -> str:
        """Its text in that of the file."""
        from policykit.manifests.lines import split

        return "\n".join(split(text)[self.first : self.end])

    def is_abridged(self, text: str, root: Node) -> bool:
        """Whether it shows that it is an excerpt."""
        from policykit.linter.reader import is_abridged
        from policykit.manifests.lines import split

        return is_abridged(root, split(text), self.first, self.end)


def file_documents(text: Text) -> Iterator[FileDocument]:
    """Documents with their lines; at most two are in memory."""
    before: ParsedDocument | None = None
    index = 0
    for parsed in documents(text):
        if before:
            yield FileDocument(before, index, before.start_line if index else 0, parsed.start_line)
            index += 1
        before = parsed
    if before:
        yield FileDocument(before, index, before.start_line if index else 0, text.text.count("\n") + 1)


def only_document(text: Text, parsed: ParsedDocument) -> FileDocument:
    """The document of a file that has no other."""
    return FileDocument(parsed, 0, 0, text.text.count("\n") + 1)
