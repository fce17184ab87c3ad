"""From a rule's fix to edits of the file's text: written, read again, and proven where safe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from policykit.linter.finding import TextFix
from policykit.linter.proof import proven
from policykit.linter.rule import Fix, MakeFix
from policykit.manifests.amend import amended, composed
from policykit.manifests.document import Manifest
from policykit.manifests.embedded import apply_inside
from policykit.manifests.extents import Edit
from policykit.manifests.node import Span
from policykit.manifests.patch import EditError, Patch
from policykit.manifests.path import Path, lookup
from policykit.manifests.stream import slice_of
from policykit.model.severity import Applicability
from policykit.placement.review import Review


class Source(NamedTuple):
    """A file's text, and how its offsets map to bytes."""

    text: str
    skipped: int = 0
    """Bytes of a byte order mark before the text."""

    def byte(self, at: int) -> int:
        """Offset in bytes of the file, of an offset in code points of the text."""
        text = self.text
        return self.skipped + (at if text.isascii() else len(text[:at].encode()))


class Place(NamedTuple):
    """What a fix changes: an object of a document, or one inside a string of it."""

    document: int
    base: Path = ()
    """From the document's root to the object, or from the string's root where `string` is set."""
    string: Path = ()
    """From the document's root to the string that holds the object."""
    inner: int = 0
    """Index of the object's document within the string."""


def text_fix(source: Source, place: Place, make: MakeFix, review: Review | None = None) -> TextFix | None:
    """A fix as edits of the file; None where the rule has none for this case.

    With `review`, the pod set it is about, a safe fix is proven by landing or becomes unsafe.
    Raises EditError where the text would not say what was intended.
    """
    fix = make()
    if fix is None:
        return None
    applicability = fix.applicability
    if applicability is Applicability.SAFE and review is not None and not proven(review, fix.patches):
        applicability = Applicability.UNSAFE
    if place.string:
        patches, edits = _inside(source.text, place, fix)
    else:
        patches = tuple(patch._replace(path=(*place.base, *patch.path)) for patch in fix.patches)
        edits = amended(source.text, patches, place.document).edits if patches else ()
    everything = sorted((*edits, *fix.edits))
    if not everything:
        return None
    return TextFix(applicability, fix.description, _in_bytes(source, everything), patches)


def _inside(text: str, place: Place, fix: Fix) -> tuple[tuple[Patch, ...], tuple[Edit, ...]]:
    """Changes in a string: as data the string is another one, as text only its lines change."""
    extent = slice_of(text, place.document)
    before = text[extent.start : extent.end]
    patches = [patch._replace(path=(*place.base, *patch.path)) for patch in fix.patches]
    after = apply_inside(before, place.string, patches, inner=place.inner)
    edits = composed(before, [Edit(0, len(before), after)])
    whole = Patch("replace", place.string, lookup(_root(after), place.string))
    return (whole,), tuple(Edit(e.start + extent.start, e.end + extent.start, e.text) for e in edits)


def _root(text: str) -> object:
    from policykit.manifests.edit import read

    root = read(text)[0]
    return root.data if root else None


def _in_bytes(source: Source, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    return tuple(Edit(source.byte(e.start), source.byte(e.end), e.text) for e in edits)


class Fixes:
    """Makes the fixes of one file's findings, and keeps what could not be written."""

    def __init__(self, path: str, source: Source, outer: Place | None = None) -> None:
        self._path = path
        self._source = source
        self._outer = outer
        self.dropped: list[str] = []

    def inside(self, outer: Manifest, path: Path) -> Fixes:
        """For objects within the string at `path` of an object of the file."""
        made = Fixes(self._path, self._source, Place(outer.document, string=(*outer.base, *path)))
        made.dropped = self.dropped
        return made

    def of(
        self, code: str, span: Span, manifest: Manifest, make: MakeFix | None, looked: Review | None = None
    ) -> TextFix | None:
        """The fix of a finding at `span`, about a manifest of the file or string."""
        if self._outer:
            place = self._outer._replace(base=manifest.base, inner=manifest.document)
        else:
            place = Place(manifest.document, manifest.base)
        return self.at(code, span, place, make, looked)

    def at(
        self, code: str, span: Span, place: Place, make: MakeFix | None, looked: Review | None = None
    ) -> TextFix | None:
        """As `of`, where the place is known."""
        if make is None:
            return None
        try:
            return text_fix(self._source, place, make, looked)
        except EditError as error:
            self.dropped.append(f"{self._path}:{span.line}:{span.column}: {code} fix left out: {error}")
            return None
