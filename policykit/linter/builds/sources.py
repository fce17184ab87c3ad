"""Finds the value at a path of a built object in the source files of the build."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from policykit.errors import SourceError
from policykit.linter.builds.kustomization import FileEntry, Route
from policykit.linter.builds.patches import (
    PathMatch,
    applied_patches,
    existing_part,
    is_for,
    match_operation,
    match_path,
    operations,
)
from policykit.linter.location import Relocate, relocation
from policykit.linter.reader import decode
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.embedded import embedded
from policykit.manifests.node import Node, Span, node_at
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup
from policykit.namedtuple import NamedTuple

_KEPT = 4 << 20
"""Bytes of texts whose parsed documents are kept."""


class SourceFile(NamedTuple):
    """A file's text and its documents; None for an empty or broken document."""

    text: str
    roots: tuple[Node | None, ...]

    def root(self, document: int) -> Node | None:
        """The document with that index, or for 0 the first that is not empty."""
        if document:
            return self.roots[document] if document < len(self.roots) else None
        return next((root for root in self.roots if root), None)

    def objects(self) -> list[Manifest]:
        """The objects of all documents."""
        return [m for number, root in enumerate(self.roots) if root for m in manifests(root, number)]


class ParsedTexts:
    """Parses each text once for all builds: they share bases. The oldest are dropped beyond a limit."""

    def __init__(self) -> None:
        self._known: dict[bytes, SourceFile] = {}
        self._size = 0

    def __call__(self, raw: bytes) -> SourceFile:
        found = self._known.pop(raw, None)
        if found is None:
            text = decode(raw).text
            found = SourceFile(text, tuple(parsed.root for parsed in parse(text)))
            self._size += len(raw)
        self._known[raw] = found
        while self._size > _KEPT and len(self._known) > 1:
            oldest = next(iter(self._known))
            self._size -= len(oldest)
            del self._known[oldest]
        return found


class SourceFiles:
    """Reads each file once. One that cannot be read is empty here: linting it reports the error."""

    def __init__(self, read: Callable[[str], bytes], parsed: ParsedTexts) -> None:
        self._read = read
        self._parsed = parsed
        self._known: dict[str, SourceFile] = {}

    def of(self, file: str) -> SourceFile:
        if file not in self._known:
            try:
                raw = self._read(file)
            except SourceError:
                raw = b""
            self._known[file] = self._parsed(raw)
        return self._known[file]


def inside(outer: str, path: Path, node: Node, span: Span) -> Span | None:
    """The location inside a string of a location in its file; None: it is outside the string."""
    text = embedded(outer, path, node)
    start, end = (
        text.inner_place(outer, line - 1, column - 1)
        for line, column in ((span.line, span.column), (span.end_line, span.end_column))
    )
    if start is None:
        return None
    end = end or start
    return Span(start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1)


class SourceLocation(NamedTuple):
    """A location in a file, and the route to it from the outermost kustomization."""

    file: str
    way: Route
    document: int
    root: Node
    """Root of the object, or of the text in a string."""
    path: Path
    """From `root`; it need not exist."""
    text: str
    """The text that locations in `root` refer to."""
    base: Path = ()
    """From the root of the document to `root`, or to the string that contains it."""
    relocate: Relocate | None = None
    """The node of the string that `text` is; None: `text` is the file."""


def source_location(
    built: Manifest, home: Manifest, file: str, way: Route, path: Path, texts: SourceFiles
) -> SourceLocation:
    """The location of a path of a built object that was read from `file` as `home`.

    A patch that sets exactly this value comes first; a missing field is missing from the object itself.
    """
    there = existing_part(built.data, path)
    rest, value = path[len(there) :], lookup(built.data, there)
    own = match_path(home.node, built.data, there)
    in_home = SourceLocation(
        file,
        way,
        home.document,
        home.node,
        (*own.path, *there[own.depth() :], *rest),
        texts.of(file).text,
        home.base,
    )
    whole = own.depth() == len(there)
    if rest and whole:
        return in_home
    first: SourceLocation | None = None
    for each, found in _patched(built, home, way, there, texts):
        if not rest and found.node.data == value:
            return each
        first = first or each._replace(path=(*each.path, *rest))
    scalar = not isinstance(value, (dict, list))
    if first is None or (whole and (own.node.data == value or not scalar)):
        return in_home
    return first


def _patched(
    built: Manifest, home: Manifest, way: Route, path: Path, texts: SourceFiles
) -> Iterator[tuple[SourceLocation, PathMatch]]:
    """The locations in patches that match the whole path, the last applied first."""
    for led, patch in applied_patches(way):
        for begin in _documents(patch, led, texts):
            for each, found in _in_patch(begin, patch, home, built, path):
                yield each._replace(path=found.path), found


def _in_patch(
    begin: SourceLocation, patch: FileEntry, home: Manifest, built: Manifest, path: Path
) -> Iterator[tuple[SourceLocation, PathMatch]]:
    root = begin.root
    if isinstance(root.data, list):
        for operation in operations(root) if patch.target and is_for(patch.target, None, home, built) else ():
            put = match_operation(operation, built.data, path)
            if put:
                yield begin, put
        return
    for each in manifests(root, 0):
        if is_for(patch.target, each, home, built):
            found = match_path(each.node, built.data, path)
            if found.depth() == len(path):
                base = begin.base if begin.relocate else (*begin.base, *each.base)
                yield begin._replace(root=each.node, base=base), found


def _documents(patch: FileEntry, way: Route, texts: SourceFiles) -> Iterator[SourceLocation]:
    """The documents of a patch, each as the location of its root."""
    if patch.file:
        whole = texts.of(patch.file)
        for number, root in enumerate(whole.roots):
            if root:
                yield SourceLocation(patch.file, way, number, root, (), whole.text)
        return
    tree = way[-1][0]
    file = tree.file
    outer = texts.of(file)
    node = entry(outer, patch.at, tree.document)
    if node is None or not isinstance(node.data, str):
        return
    relocate = relocation(outer.text, patch.at, node)
    for parsed in parse(node.data):
        if parsed.root:
            yield SourceLocation(file, way, tree.document, parsed.root, (), node.data, patch.at, relocate)


def entry(text: SourceFile, at: Path, document: int = 0) -> Node | None:
    """An entry of a kustomization, or of the object that states what is built."""
    root = text.root(document)
    return node_at(root, at) if root else None
