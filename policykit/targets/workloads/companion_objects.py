"""Companion objects of workloads: existing ones are updated, others are added after the workload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from policykit.manifests.document import Manifest, manifests
from policykit.manifests.edit import same
from policykit.manifests.extents import Edit, line_break, slices
from policykit.manifests.large_documents import ObjectPatches, edits, spliced
from policykit.manifests.parser import ParsedDocument, parse
from policykit.manifests.patch import EditError, Patch, differences
from policykit.manifests.path import dotted, lookup
from policykit.manifests.writer import dump
from policykit.namedtuple import NamedTuple
from policykit.placement.recognition import WORKLOAD_KEY

Identity = tuple[str, str, str, str]
"""API group, kind, namespace and name."""
OtherObjects = Callable[[Identity], Mapping[str, Any] | None]
"""The object of that identity in the other texts that are patched together with one; None: there is none."""


class CompanionObject(NamedTuple):
    """An object, and the index of the document with the workload that needs it."""

    data: Mapping[str, Any]
    document: int
    namespace: str = "default"
    """Namespace of the object if it sets none."""

    @property
    def title(self) -> str:
        return f"{self.data['kind']}/{self.data['metadata']['name']}"


class CompanionResult(NamedTuple):
    """A text with the companion objects of its workloads."""

    text: str
    changed: tuple[str, ...] = ()
    """`KIND/NAME` of those added or changed, in order."""
    unwritten: tuple[CompanionObject, ...] = ()
    """Objects that cannot be added to the text: next to a JSON object, or to items of a list."""
    notes: tuple[str, ...] = ()


def identity(data: Mapping[str, Any], namespace: str) -> Identity:
    metadata = data.get("metadata")
    in_namespace = lookup(metadata, ("namespace",)) or namespace
    group, slash, _ = str(data.get("apiVersion") or "").partition("/")
    return (
        group if slash else "",
        str(data.get("kind")),
        str(in_namespace),
        str(lookup(metadata, ("name",))),
    )


def add_companions(text: str, wanted: Iterable[CompanionObject], elsewhere: OtherObjects) -> CompanionResult:
    """The text with all companion objects; applying it twice changes nothing more.

    An existing object that policykit did not write, or in another file (`elsewhere`), is left unchanged.
    """
    documents = list(parse(text))
    work = _CompanionWriter(text, documents, elsewhere)
    for one in _without_duplicates(wanted, work.notes):
        work.add(one)
    return CompanionResult(work.text(), tuple(work.changed), tuple(work.unwritten), tuple(work.notes))


def _without_duplicates(wanted: Iterable[CompanionObject], notes: list[str]) -> Iterator[CompanionObject]:
    seen: dict[Identity, CompanionObject] = {}
    for one in wanted:
        first = seen.setdefault(identity(one.data, one.namespace), one)
        if first is one:
            yield one
        elif not same(first.data, one.data):
            notes.append(
                f"{one.title} is needed twice, with different contents ({_difference(first.data, one.data)})"
            )


class _CompanionWriter:
    """One text, its documents and the changes to them."""

    def __init__(self, text: str, documents: Sequence[ParsedDocument], elsewhere: OtherObjects) -> None:
        self._text = text
        self._documents = documents
        self._elsewhere = elsewhere
        self._there: dict[str, list[Manifest]] = {}
        self._whole: set[int] = set()
        for index, document in enumerate(documents):
            for manifest in manifests(document.root, index) if document.root is not None else ():
                self._there.setdefault(f"{manifest.kind}/{manifest.name}", []).append(manifest)
                if manifest.base == ():
                    self._whole.add(index)
        self._changes: dict[int, list[ObjectPatches]] = {}
        self._added: dict[int, list[CompanionObject]] = {}
        self.changed: list[str] = []
        self.unwritten: list[CompanionObject] = []
        self.notes: list[str] = []

    def add(self, one: CompanionObject) -> None:
        name = identity(one.data, one.namespace)
        alike = self._there.get(one.title, ())
        there = next((m for m in alike if identity(m.data, one.namespace) == name), None)
        if there is not None:
            self._update(one, there)
        elif (other := self._elsewhere(name)) is not None:
            self._leave(one, other)
        elif self._has_room(one.document):
            self._added.setdefault(one.document, []).append(one)
            self.changed.append(one.title)
        else:
            self.unwritten.append(one)

    def text(self) -> str:
        extents = slices(self._text) if self._changes or self._added else ()
        if extents and len(extents) != len(self._documents):
            raise EditError("the documents cannot be told apart")
        made: list[Edit] = []
        for document, extent in enumerate(extents):
            if document in self._changes:
                changes = edits(self._text[extent.start : extent.end], self._changes[document])
                made += (Edit(e.start + extent.start, e.end + extent.start, e.text) for e in changes)
            if document in self._added:
                made.append(self._behind(extent.end, self._added[document]))
        return spliced(self._text, made) if made else self._text

    def _update(self, one: CompanionObject, there: Manifest) -> None:
        if there.labels.get(WORKLOAD_KEY) != one.data["metadata"]["labels"][WORKLOAD_KEY]:
            self._leave(one, there.data)
            return
        patches = tuple(_missing(there.data, one.data))
        if patches:
            self._changes.setdefault(there.document, []).append(ObjectPatches(there.base, patches))
            self.changed.append(one.title)

    def _leave(self, one: CompanionObject, there: Mapping[str, Any]) -> None:
        difference = _difference(there, one.data)
        if difference:
            self.notes.append(f"{one.title} already exists and differs ({difference}): left unchanged")

    def _has_room(self, document: int) -> bool:
        """Whether another document may follow one: it is a single object in YAML's block style."""
        root = self._documents[document].root
        in_blocks = root is not None and root.style is not True
        return in_blocks and document in self._whole and _keeps_its_end(self._text)

    def _behind(self, at: int, added: Sequence[CompanionObject]) -> Edit:
        """Adds documents after one that may lack its last line ending, before one that may lack its `---`."""
        before, after = self._text[:at], self._text[at:]
        text = "" if not before or before.endswith("\n") else "\n"
        text += "".join(f"---\n{dump(one.data)}" for one in added)
        if after and not after.startswith("---"):
            text += "...\n"
        if not after and not before.endswith("\n"):
            text = text.removesuffix("\n")
        return Edit(at, at, text.replace("\n", line_break(before)))


def _keeps_its_end(text: str) -> bool:
    """Whether the text ends in a block scalar whose value another line ending would change."""
    if text.endswith("\n"):
        return True
    *_, plain = parse(text)
    *_, ended = parse(f"{text}\n")
    return bool(plain.root and ended.root and same(plain.root.data, ended.root.data))


def _missing(there: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Patch]:
    """Changes to an object that policykit wrote: metadata is added, and the spec is replaced."""
    for field, value in wanted["metadata"].items():
        if isinstance(value, dict):
            for key, text in value.items():
                if lookup(there, ("metadata", field, key)) != text:
                    yield Patch("add", ("metadata", field, key), text)
    if there.get("apiVersion") != wanted["apiVersion"]:
        yield Patch("replace", ("apiVersion",), wanted["apiVersion"])
    if "spec" in wanted:
        yield from differences(there.get("spec"), wanted["spec"], ("spec",))


def _difference(there: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The first difference between the specs, as text; empty: there is none."""
    for one in differences(there.get("spec"), wanted.get("spec"), ("spec",)):
        if one.op != "remove":
            return f"{dotted(one.path)} is {lookup(there, one.path)!r}, the policy needs {one.value!r}"
    return ""
