"""A Kubernetes object in a file: the location of each field, and the words in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from policykit.extension import compiled
from policykit.manifests.memoize import computed_once, memoize_last
from policykit.manifests.node import Node, Span, node_at
from policykit.manifests.path import Path, Step
from policykit.namedtuple import NamedTuple

_ENCRYPTION = "sops"
"""Field in which SOPS keeps the keys of an encrypted file; decryption removes it."""


class _ManifestFields(NamedTuple):
    """The data of an object and its location."""

    data: dict[str, Any]
    node: Node
    document: int
    """Index of its document in the file, from 0."""
    base: Path = ()
    partial: bool = False
    """A patch or a fragment of an object: nothing is "missing" from it."""
    read_as: str = ""
    """Name of the configuration if it is not an API object: volcano-scheduler.conf."""
    holder: Manifest | None = None
    """The object or document whose string contains this one; None: it is not inside a string."""
    held_at: Path = ()
    """Path of that string in the holder."""


class Manifest(_ManifestFields):
    """A Kubernetes object: a whole document, or an item of a `kind: List`.

    Paths are relative to the object; `base` leads to it from the document's root. Rules ask for its
    kind some forty times, so what they ask for is computed once.
    """

    @computed_once
    def api_version(self) -> str:
        value = self.data.get("apiVersion")
        return value if isinstance(value, str) else ""

    @computed_once
    def group(self) -> str:
        """API group, empty for the core group."""
        group, slash, _ = self.api_version.partition("/")
        return group if slash else ""

    @computed_once
    def kind(self) -> str:
        """As written; of a configuration its name."""
        if self.read_as:
            return self.read_as
        value = self.data.get("kind")
        return value if isinstance(value, str) else ""

    @computed_once
    def metadata(self) -> dict[str, Any]:
        value = self.data.get("metadata")
        return value if isinstance(value, dict) else {}

    @computed_once
    def name(self) -> str:
        value = self.metadata.get("name")
        return value if isinstance(value, str) else ""

    @computed_once
    def namespace(self) -> str:
        """As written; empty where the object states none."""
        value = self.metadata.get("namespace")
        return value if isinstance(value, str) else ""

    @computed_once
    def labels(self) -> dict[str, str]:
        return texts(self.metadata.get("labels"))

    @computed_once
    def annotations(self) -> dict[str, str]:
        return texts(self.metadata.get("annotations"))

    @property
    def encrypted(self) -> bool:
        """Whether SOPS encrypted the file."""
        entries = self.node.entries
        return isinstance(entries, dict) and _ENCRYPTION in entries and _ENCRYPTION not in self.data

    def span(self, path: Sequence[Step], *, key: bool = False) -> Span:
        """The location of the value at `path`: see Node.location."""
        return self.node.location(path, key=key)

    def written(self, path: Sequence[Step]) -> str:
        """The text of a number, boolean or null at `path`; empty for anything else, and for aliases."""
        node = node_at(self.node, path)
        return str(node.written) if node else ""


def texts(value: object) -> dict[str, str]:
    """A map of labels or annotations, reading only entries that are text."""
    if not isinstance(value, dict):
        return {}
    return {k: v for k, v in value.items() if isinstance(v, str)}


def manifests(root: Node, document: int, items: Iterable[Node] | None = None) -> Iterator[Manifest]:
    """The objects of a document: itself, or the items of a `kind: List` (nested too); `items`: those of a
    list that its root lacks."""
    if items is not None:
        yield from _of_items(items, document, ())
    elif isinstance(root.data, dict):
        yield from _objects(root, document, ())


def is_list(data: dict[str, Any]) -> bool:
    """Whether an object is a list of objects, by its kind."""
    kind = data.get("kind")
    return isinstance(kind, str) and kind.endswith("List")


def _of_items(items: Iterable[Node], document: int, base: Path) -> Iterator[Manifest]:
    for index, item in enumerate(items):
        if isinstance(item.data, dict):
            yield from _objects(item, document, (*base, "items", index))


def _objects(node: Node, document: int, base: Path) -> Iterator[Manifest]:
    data = node.data
    if is_list(data) and isinstance(data.get("items"), list):
        yield from _of_items(node.entries["items"][1].entries, document, base)
        return
    if isinstance(data.get(_ENCRYPTION), dict):
        data = {key: value for key, value in data.items() if key != _ENCRYPTION}
    yield Manifest(data, node, document, base)


def wrapped_objects(manifest: Manifest, kind: str) -> tuple[Manifest, ...]:
    """Objects of a kind within another object, which creates them: in an AppWrapper, in a ManifestWork."""
    if manifest.kind == kind or kind not in words(manifest.data).texts:
        return ()
    return tuple(_wrapped(manifest, manifest.node, kind, ()))


def _wrapped(manifest: Manifest, node: Node, kind: str, path: Path) -> Iterator[Manifest]:
    entries = node.entries
    if isinstance(entries, dict):
        if path and node.data.get("kind") == kind and isinstance(node.data.get("apiVersion"), str):
            yield Manifest(node.data, node, manifest.document, (*manifest.base, *path), manifest.partial)
            return
        children: Iterable[tuple[Step, Node]] = ((key, value) for key, (_, value) in entries.items())
    else:
        children = enumerate(entries or ())
    for step, child in children:
        if child.entries:
            yield from _wrapped(manifest, child, kind, (*path, step))


class Words(NamedTuple):
    """The words of an object, at any depth."""

    keys: frozenset[str]
    """Of its mappings."""
    texts: frozenset[str]
    """Values that are text."""

    def begin(self, beginnings: tuple[str, ...]) -> bool:
        """Whether a key begins with one of these."""
        return any(map(_starts_with(beginnings), self.keys))

    def end(self, ends: tuple[str, ...]) -> bool:
        """Whether a key ends with one of these."""
        return any(map(_ends_with(ends), self.keys))


@cache
def _starts_with(beginnings: tuple[str, ...]) -> Callable[[str], bool]:
    return lru_cache(maxsize=4096)(lambda key: key.startswith(beginnings))  # objects share most keys


@cache
def _ends_with(ends: tuple[str, ...]) -> Callable[[str], bool]:
    return lru_cache(maxsize=4096)(lambda key: key.endswith(ends))


def words_of(data: object) -> Words:
    """The words of plain data."""
    if compiled and (found := compiled.words(data)):
        return Words(*found)
    return words_in_python(data)


words = memoize_last(words_of)
"""The same for an object, of which many rules ask."""


def words_in_python(data: object) -> Words:
    """The same, without the extension."""
    keys: set[str] = set()
    texts: set[str] = set()
    pending: list[Any] = [[data]]
    while pending:
        found = pending.pop()
        if type(found) is dict:
            keys.update(found)
            found = found.values()
        for value in found:  # some forty times for each object
            kind = type(value)
            if kind is str:
                texts.add(value)
            elif kind is dict or kind is list:
                pending.append(value)
    if {*map(type, keys)} - {str}:
        keys = {key for key in keys if isinstance(key, str)}
    return Words(frozenset(keys), frozenset(texts))
