"""Converts fixes of rules to edits of the file's text, and checks their result."""

from __future__ import annotations

from copy import copy

from policykit.linter.finding import TextFix
from policykit.linter.proof import is_proven_safe
from policykit.linter.rule import Fix, MakeFix
from policykit.manifests.document import Manifest
from policykit.manifests.document_edits import composed
from policykit.manifests.embedded import apply_inside
from policykit.manifests.extents import Edit, slice_of
from policykit.manifests.large_documents import Document, TooManyError
from policykit.manifests.node import Span
from policykit.manifests.patch import EditError, Patch
from policykit.manifests.path import Path, lookup
from policykit.model.severity import Applicability
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review


class FileText:
    """A file's text, and how its offsets map to bytes."""

    def __init__(self, text: str, skipped: int = 0) -> None:
        """`skipped`: bytes of a byte order mark before the text."""
        self.text = text
        self._skipped = skipped
        self._known = (0, 0)
        """The last offset, in code points and in bytes: the next one is usually near."""

    def byte(self, at: int) -> int:
        """The offset in bytes of the file for an offset in code points of the text."""
        if self.text.isascii():
            return self._skipped + at
        points, size = self._known
        if at >= points:
            size += len(self.text[points:at].encode())
        else:
            size -= len(self.text[at:points].encode())
        self._known = (at, size)
        return self._skipped + size


class FixTarget(NamedTuple):
    """The object that a fix changes: in a document, or inside a string of one."""

    document: int
    base: Path = ()
    """Path from the document's root to the object, or from the string's root if `string` is set."""
    string: Path = ()
    """Path from the document's root to the string that contains the object."""
    inner: int = 0
    """Index of the object's document within the string."""


class _Document(NamedTuple):
    """A document of a file, and its offset in code points."""

    start: int
    text: str
    parts: Document


def _inside(document: _Document, place: FixTarget, fix: Fix) -> tuple[tuple[Patch, ...], tuple[Edit, ...]]:
    """A fix inside a string: as data it replaces the string, as text it only changes some lines."""
    document.parts.spend()
    patches = [patch._replace(path=(*place.base, *patch.path)) for patch in fix.patches]
    after = apply_inside(document.text, place.string, patches, inner=place.inner)
    edits = composed(document.text, [Edit(0, len(document.text), after)])
    return (Patch("replace", place.string, lookup(_root(after), place.string)),), edits


def _root(text: str) -> object:
    from policykit.manifests.edit import read

    root = read(text)[0]
    return root.data if root else None


class Fixes:
    """Computes the fixes of one file's findings, and collects those that cannot be made."""

    def __init__(self, path: str, source: FileText) -> None:
        self._path = path
        self._source = source
        self._outer: FixTarget | None = None
        self._read: dict[int, _Document] = {}
        """The document of the last fix, by its index."""
        self.dropped: list[str] = []

    def inside(self, outer: Manifest, path: Path) -> Fixes:
        """Computes fixes for objects inside the string at `path` of an object of the file."""
        made = copy(self)
        made._outer = FixTarget(outer.document, string=(*outer.base, *path))
        return made

    def of(
        self, code: str, span: Span, manifest: Manifest, make: MakeFix | None, reviewed: Review | None = None
    ) -> TextFix | None:
        """The fix of a finding at `span`, about a manifest of the file or string.

        `reviewed`: its pod set, for which a safe fix must be proven by landing, or else becomes unsafe.
        """
        if self._outer:
            place = self._outer._replace(base=manifest.base, inner=manifest.document)
        else:
            place = FixTarget(manifest.document, manifest.base)
        return self.at(code, span, place, make, reviewed)

    def at(
        self, code: str, span: Span, place: FixTarget, make: MakeFix | None, reviewed: Review | None = None
    ) -> TextFix | None:
        """The same, for an object given by its location."""
        try:
            fix = make() if make else None
            return self._text_fix(place, fix, reviewed) if fix else None
        except TooManyError as error:
            message = f"{self._path}: document {place.document + 1}: fixes left out: {error}"
            if message not in self.dropped[-1:]:
                self.dropped.append(message)
        except EditError as error:
            self.dropped.append(f"{self._path}:{span.line}:{span.column}: {code} fix left out: {error}")
        return None

    def _text_fix(self, place: FixTarget, fix: Fix, reviewed: Review | None) -> TextFix | None:
        """A fix as edits of the file; None: it changes nothing.

        Raises EditError if the text would not have the intended data.
        """
        applicability = fix.applicability
        if (
            applicability is Applicability.SAFE
            and reviewed is not None
            and not is_proven_safe(reviewed, fix.patches)
        ):
            applicability = Applicability.UNSAFE
        start, patches, edits = 0, fix.patches, tuple[Edit, ...]()
        if patches:
            document = self._document(place.document)
            start = document.start
            if place.string:
                patches, edits = _inside(document, place, fix)
            else:
                patches = tuple(patch._replace(path=(*place.base, *patch.path)) for patch in patches)
                edits = document.parts.edits(patches)
        made = sorted((*(Edit(e.start + start, e.end + start, e.text) for e in edits), *fix.edits))
        if not made:
            return None
        byte = self._source.byte
        in_bytes = tuple(Edit(byte(e.start), byte(e.end), e.text) for e in made)
        return TextFix(applicability, fix.description, in_bytes, patches)

    def _document(self, index: int) -> _Document:
        if index not in self._read:
            text = self._source.text
            start, end = slice_of(text, index)
            self._read.clear()
            piece = text[start:end]
            self._read[index] = _Document(start, piece, Document(piece, last=end == len(text)))
        return self._read[index]
