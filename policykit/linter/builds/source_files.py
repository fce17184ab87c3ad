"""Finds the value at a path of a built object in the files and patches that it was built from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.errors import SourceError
from policykit.linter.input_file import FileEntry, Kustomization, Route
from policykit.linter.location import Relocate, relocation
from policykit.linter.reader import decode
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.embedded import embedded
from policykit.manifests.node import Node, Span, node_at
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, Step, lookup
from policykit.namedtuple import NamedTuple
from policykit.patterns import pattern

_KEYS = ("name", "key", "mountPath", "devicePath", "containerPort", "port", "ip", "topologyKey")
"""Fields that identify the items of a list, as in kustomize's merge keys."""


class PathMatch(NamedTuple):
    """The part of a path that exists in another text."""

    path: Path
    """Path in that text."""
    node: Node

    def depth(self) -> int:
        return len(self.path)


def match_path(node: Node, data: Any, path: Path) -> PathMatch:
    """Matches a path of built `data` in `node`: list items by their identifying field, else by value."""
    found: list[Step] = []
    for step in path:
        entries, inside = node.entries, _inside(data, step)
        if isinstance(entries, dict) and step in entries:
            node = entries[step][1]
        elif isinstance(entries, list) and isinstance(step, int):
            position = _position(node.data, inside, step)
            if position is None:
                break
            node, step = entries[position], position
        else:
            break
        found.append(step)
        data = inside
    return PathMatch(tuple(found), node)


def existing_part(data: object, path: Path) -> Path:
    """The longest prefix of a path that exists."""
    for length in range(len(path), 0, -1):
        parent, step = lookup(data, path[: length - 1]), path[length - 1]
        if (isinstance(parent, dict) and step in parent) or (
            isinstance(parent, list) and isinstance(step, int) and step < len(parent)
        ):
            return path[:length]
    return ()


def path_of_pointer(data: object, pointer: str) -> Path:
    """The path of a JSON pointer; numbers are indices where `data` has a list."""
    found: list[Step] = []
    for word in pointer.split("/")[1:]:
        step: Step = word.replace("~1", "/").replace("~0", "~")
        if isinstance(data, list) and word.isascii() and word.isdecimal() and len(word) < 10:
            step = int(word)
        found.append(step)
        data = _inside(data, step)
    return tuple(found)


def _inside(data: Any, step: Step) -> Any:
    if isinstance(data, dict):
        return data.get(step)
    return data[step] if isinstance(data, list) and isinstance(step, int) and step < len(data) else None


def _position(items: list[Any], item: Any, step: int) -> int | None:
    """Index of the matching item; of several, the one at the same index, or else the first."""
    same = [number for number, each in enumerate(items) if each == item]
    if not same and isinstance(item, dict):
        for key in _KEYS:
            if isinstance(item.get(key), (str, int)):
                like = (n for n, each in enumerate(items) if isinstance(each, dict) and key in each)
                same = [n for n in like if items[n][key] == item[key]]
                if not same:
                    return None
                break
    if same:
        return step if step in same else same[0]
    # Lists of one item within other lists, such as terms of a selector, which merging does not change.
    return 0 if len(items) == 1 and type(items[0]) is type(item) and isinstance(item, (dict, list)) else None


def applied_patches(route: Route) -> Iterator[tuple[Route, FileEntry]]:
    """Patches of the kustomizations on a route, the last applied first, each with its own route."""
    for number, (tree, _) in enumerate(route):
        yield from _of(tree, route[:number])


def _of(tree: Kustomization, before: Route) -> Iterator[tuple[Route, FileEntry]]:
    for patch in reversed(tree.patches):
        yield (*before, (tree, patch.at)), patch
    for below in reversed(tree.components):
        yield from _of(below.tree, (*before, (tree, below.at)))


class Operation(NamedTuple):
    """An operation of a JSON patch that sets a value."""

    to: Path
    """Path in the object, as written."""
    value: Node
    at: Path
    """Path of the value in the patch."""


def operations(root: Node) -> Iterator[Operation]:
    """The operations of a JSON patch that set a value, last one first."""
    if not isinstance(root.data, list):
        return
    for number, each in reversed([*enumerate(root.entries)]):
        operation, entries = each.data, each.entries
        if isinstance(operation, dict) and operation.get("op") in ("add", "replace") and "value" in entries:
            to = operation.get("path")
            if isinstance(to, str):
                words = (word.replace("~1", "/").replace("~0", "~") for word in to.split("/")[1:])
                yield Operation(tuple(words), entries["value"][1], (number, "value"))


def match_operation(operation: Operation, data: object, path: Path) -> PathMatch | None:
    """The match of a path of a built object in the value of an operation; None: there is none."""
    to = operation.to
    if len(to) > len(path):
        return None
    for word, step in zip(to, path, strict=False):
        if word != str(step) and not (word == "-" and isinstance(step, int)):
            return None
    inside = lookup(data, path[: len(to)])
    if "-" in to and operation.value.data != inside:
        return None
    found = match_path(operation.value, inside, path[len(to) :])
    return PathMatch((*operation.at, *found.path), found.node)


def is_for(target: Mapping[str, str] | None, patch: Manifest | None, home: Manifest, built: Manifest) -> bool:
    """Whether a patch applies to an object, by kind and name before and after the build."""
    if target is None:
        if patch is None or patch.kind != home.kind:
            return False
        return patch.name in (home.name, built.name) or (
            home.name in patch.name and patch.name in built.name and bool(home.name)
        )
    if target.get("kind", home.kind) != home.kind or target.get("group", home.group) != home.group:
        return False
    name = target.get("name", "")
    return not name or any(_matches(name, each) for each in (home.name, built.name))


def _matches(wanted: str, name: str) -> bool:
    form = pattern(wanted, whole=True)
    return bool(form.search(name)) if form else wanted == name


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
    route: Route
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
    built: Manifest, home: Manifest, file: str, route: Route, path: Path, texts: SourceFiles
) -> SourceLocation:
    """The location of a path of a built object that was read from `file` as `home`.

    A patch that sets exactly this value comes first; a missing field is missing from the object itself.
    """
    if field := _of_field(built, home, route, path, texts):
        return field
    there = existing_part(built.data, path)
    rest, value = path[len(there) :], lookup(built.data, there)
    own = match_path(home.node, built.data, there)
    in_home = SourceLocation(
        file,
        route,
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
    for each, found in _patched(built, home, route, there, texts):
        if not rest and found.node.data == value:
            return each
        first = first or each._replace(path=(*each.path, *rest))
    scalar = not isinstance(value, (dict, list))
    if first is None or (whole and (own.node.data == value or not scalar)):
        return in_home
    return first


_NAMESPACES: tuple[Path, ...] = (("namespace",), ("spec", "targetNamespace"))


def _of_field(
    built: Manifest, home: Manifest, route: Route, path: Path, texts: SourceFiles
) -> SourceLocation | None:
    """The field of a kustomization that sets the namespace or the replicas, the outermost first."""
    if path not in {("metadata", "namespace"), ("spec", "replicas")}:
        return None
    value = lookup(built.data, path)
    if value is None or value == lookup(home.data, path):
        return None
    for number, (tree, _) in enumerate(route):
        text = texts.of(tree.file)
        root = text.root(tree.document)
        if root is None:
            continue
        for at in _NAMESPACES if path[0] == "metadata" else _counts(root, home.name):
            if lookup(root.data, at) == value:
                return SourceLocation(tree.file, route[: number + 1], tree.document, root, at, text.text)
    return None


def _counts(root: Node, name: str) -> Iterator[Path]:
    """Fields of `replicas` that are for the objects of a name."""
    listed = lookup(root.data, ("replicas",))
    for number, each in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(each, dict) and each.get("name") == name:
            yield "replicas", number, "count"


def _patched(
    built: Manifest, home: Manifest, route: Route, path: Path, texts: SourceFiles
) -> Iterator[tuple[SourceLocation, PathMatch]]:
    """The locations in patches that match the whole path, the last applied first."""
    for led, patch in applied_patches(route):
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


def _documents(patch: FileEntry, route: Route, texts: SourceFiles) -> Iterator[SourceLocation]:
    """The documents of a patch, each as the location of its root."""
    if patch.file:
        whole = texts.of(patch.file)
        for number, root in enumerate(whole.roots):
            if root:
                yield SourceLocation(patch.file, route, number, root, (), whole.text)
        return
    tree = route[-1][0]
    file = tree.file
    outer = texts.of(file)
    node = entry(outer, patch.at, tree.document)
    if node is None or not isinstance(node.data, str):
        return
    relocate = relocation(outer.text, patch.at, node)
    for parsed in parse(node.data):
        if parsed.root:
            yield SourceLocation(file, route, tree.document, parsed.root, (), node.data, patch.at, relocate)


def entry(text: SourceFile, at: Path, document: int = 0) -> Node | None:
    """An entry of a kustomization, or of the object that states what is built."""
    root = text.root(document)
    return node_at(root, at) if root else None
