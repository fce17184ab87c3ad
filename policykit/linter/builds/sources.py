"""Where the source files of a build state the value at a path of a built object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from policykit.errors import SourceError
from policykit.linter.builds.kustomization import Listed, Way
from policykit.linter.builds.patches import Followed, applied, existing, follow, is_for, operations, through
from policykit.linter.location import Relocate, relocation
from policykit.linter.reader import decode
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.embedded import embedded
from policykit.manifests.node import Node, Span, node_at
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup


class Text(NamedTuple):
    """A file's text and its documents; None stands for one that says nothing."""

    text: str
    roots: tuple[Node | None, ...]

    def root(self, document: int) -> Node | None:
        """The first document that says something, or the one of that number."""
        if document:
            return self.roots[document] if document < len(self.roots) else None
        return next((root for root in self.roots if root), None)

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


class Spot(NamedTuple):
    """A place in a file, and how the outermost kustomization comes to it."""

    file: str
    way: Way
    document: int
    root: Node
    """Of the object, or of the text in a string."""
    path: Path
    """From there; what does not exist counts as well."""
    text: str
    """What the marks of `root` count in."""
    base: Path = ()
    """From the root of the document to `root`, or to the string it stands in."""
    relocate: Relocate | None = None
    """Where `text` is a string of the file."""


def spot(built: Manifest, home: Manifest, file: str, way: Way, path: Path, texts: Texts) -> Spot:
    """The place for a path of a built object that was read from `file` as `home`.

    What patches say comes first where they say the very value; what is missing is missing
    from the object itself.
    """
    there = existing(built.data, path)
    rest, value = path[len(there) :], lookup(built.data, there)
    own = follow(home.node, built.data, there)
    in_home = Spot(
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
    first: Spot | None = None
    for each, found in _patched(built, home, way, there, texts):
        if not rest and found.node.data == value:
            return each
        first = first or each._replace(path=(*each.path, *rest))
    scalar = not isinstance(value, (dict, list))
    if first is None or (whole and (own.node.data == value or not scalar)):
        return in_home
    return first


def _patched(
    built: Manifest, home: Manifest, way: Way, path: Path, texts: Texts
) -> Iterator[tuple[Spot, Followed]]:
    """The places in patches that a whole path leads to, the one that had the last word first."""
    for led, patch in applied(way):
        for begin in _documents(patch, led, texts):
            for each, found in _in_patch(begin, patch, home, built, path):
                yield each._replace(path=found.path), found


def _in_patch(
    begin: Spot, patch: Listed, home: Manifest, built: Manifest, path: Path
) -> Iterator[tuple[Spot, Followed]]:
    root = begin.root
    if isinstance(root.data, list):
        for operation in operations(root) if patch.target and is_for(patch.target, None, home, built) else ():
            put = through(operation, built.data, path)
            if put:
                yield begin, put
        return
    for each in manifests(root, 0):
        if is_for(patch.target, each, home, built):
            found = follow(each.node, built.data, path)
            if found.depth() == len(path):
                base = begin.base if begin.relocate else (*begin.base, *each.base)
                yield begin._replace(root=each.node, base=base), found


def _documents(patch: Listed, way: Way, texts: Texts) -> Iterator[Spot]:
    """The documents of a patch, each as the spot of its beginning."""
    if patch.file:
        whole = texts.of(patch.file)
        for number, root in enumerate(whole.roots):
            if root:
                yield Spot(patch.file, way, number, root, (), whole.text)
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
            yield Spot(file, way, tree.document, parsed.root, (), node.data, patch.at, relocate)


def entry(text: Text, at: Path, document: int = 0) -> Node | None:
    """An entry of a kustomization, or of the object that says what is built."""
    root = text.root(document)
    return node_at(root, at) if root else None
