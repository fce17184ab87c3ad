"""Patches the recognised workloads of a text; every other byte stays the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policykit.errors import PolicykitError, SourceError
from policykit.kube import podsets
from policykit.linter.reader import BOM, decode, is_marked_partial, is_partial, is_template
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.extents import EVEN_BREAKS, Edit, Slice, rare_break, slices
from policykit.manifests.large_documents import ObjectPatches, edits, spliced
from policykit.manifests.parser import ParsedDocument, Problem, parse
from policykit.manifests.patch import EditError, all_patched
from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple
from policykit.targets.workloads.apply import ObjectPatch, apply_kinds
from policykit.targets.workloads.companion_objects import (
    CompanionObject,
    CompanionResult,
    Identity,
    OtherObjects,
    add_companions,
    identity,
)
from policykit.targets.workloads.earlier_policy import removal
from policykit.targets.workloads.patch_options import PatchOptions


class ManifestText(NamedTuple):
    """A text with manifests, and what is known about it."""

    path: str
    """As reported."""
    raw: bytes
    namespace: str = "default"
    """Namespace of objects that set none."""
    partial: bool = False
    """Whether a kustomization lists it as a patch: it is left unchanged."""
    rendered: bool = False
    """Whether it is the output of a tool, so that invalid YAML is an error, not a template."""


class PatchedText(NamedTuple):
    """A text with workloads patched."""

    raw: bytes
    changed: tuple[str, ...] = ()
    """`KIND/NAME` of the objects that changed, in order."""
    objects: tuple[str, ...] = ()
    """`KIND/NAME` of every object seen."""
    notes: tuple[str, ...] = ()
    """What is left unchanged, with locations."""
    notices: tuple[tuple[str, str], ...] = ()
    """(location, message) of what a scheduler cannot express: each message is reported once."""
    unwritten: tuple[Mapping[str, Any], ...] = ()
    """Companion objects that cannot be added to the text."""

    def followed_by(self, other: PatchedText) -> PatchedText:
        """This text patched once more: by another policy."""
        return other._replace(
            changed=_unique(self.changed, other.changed),
            notes=_unique(self.notes, other.notes),
            notices=_unique(self.notices, other.notices),
        )


def patch(
    source: ManifestText,
    cluster: Cluster,
    options: PatchOptions,
    elsewhere: OtherObjects = lambda identity: None,
    before: Cluster | None = None,
) -> PatchedText:
    """The text with the workload kind of each recognised object applied.

    `before`: an earlier policy, whose changes are taken out first.
    Companion objects of a workload follow it as separate documents. Fragments, objects without pods and
    other documents are left unchanged. Raises SourceError with the location for text that is not YAML,
    for an object that cannot be edited in place, and if the policy does not decide what to write.
    """
    text = decode(source.raw)
    if text.problem:
        raise _refused(source, text.problem)
    documents = list(parse(text.text))
    problem = next((document.problem for document in documents if document.problem), None)
    if problem:
        if source.rendered or not is_template(text.text):
            raise _refused(source, problem)
        return PatchedText(source.raw, notes=(f"{source.path}: a template, left unchanged: render it first",))
    work = _Stream(source, text.text, len(documents), cluster, options, before)
    made = [edit for index, document in enumerate(documents) for edit in work.edits(index, document)]
    found = work.beside(spliced(text.text, made), elsewhere)
    body = found.text.encode() if made or found.changed else source.raw.removeprefix(BOM)
    return PatchedText(
        BOM + body if source.raw.startswith(BOM) else body,
        (*work.changed, *found.changed),
        tuple(work.objects),
        (*work.notes, *(f"{source.path}: {note}" for note in found.notes)),
        tuple(work.notices),
        tuple(one.data for one in found.unwritten),
    )


def objects(raw: bytes, namespace: str) -> dict[Identity, Mapping[str, Any]]:
    """The objects of a text, without documents that cannot be read."""
    roots = [document.root for document in parse(decode(raw).text)]
    found = (manifest for n, root in enumerate(roots) if root is not None for manifest in manifests(root, n))
    return {identity(one.data, namespace): one.data for one in found if one.kind}


def _unique(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def unique_notices(notices: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Each message once, at its first location."""
    reported: set[str] = set()
    for place, words in notices:
        if words not in reported:
            reported.add(words)
            yield f"{place}: {words}"


def _refused(source: ManifestText, problem: Problem) -> SourceError:
    place = f"{source.path}:{problem.line + 1}:{problem.column + 1}"
    return SourceError(f"not YAML: {problem.message}", "correct it: nothing was written", place)


class _Stream:
    """The documents of one source, one after another."""

    def __init__(
        self,
        source: ManifestText,
        text: str,
        documents: int,
        cluster: Cluster,
        options: PatchOptions,
        before: Cluster | None,
    ) -> None:
        self._source = source
        self._text = text
        self._documents = documents
        self._cluster = cluster
        self._options = options
        self._before = before
        self._partial: dict[int, bool] = {}
        self.changed: list[str] = []
        self.objects: list[str] = []
        self.notes: list[str] = []
        self.notices: list[tuple[str, str]] = []
        self._wanted: list[CompanionObject] = []

    def beside(self, text: str, elsewhere: OtherObjects) -> CompanionResult:
        """The text with the companion objects of its workloads."""
        if not self._wanted:
            return CompanionResult(text)
        try:
            return add_companions(text, self._wanted, elsewhere)
        except EditError as error:
            raise SourceError(
                f"a companion object of its workloads: {error.message}", error.hint, self._source.path
            ) from None

    def edits(self, index: int, document: ParsedDocument) -> Iterator[Edit]:
        """The edits of one document, as edits of the whole text."""
        if document.root is None:
            return
        changes: list[tuple[Manifest, ObjectPatches]] = []
        for manifest in manifests(document.root, index):
            if manifest.kind and manifest.api_version:
                found = self._change(manifest)
                if found.patches:
                    changes.append((manifest, ObjectPatches(manifest.base, found.patches)))
        if changes:
            start, end = self._extent(index)
            made = self._written(self._text[start:end], changes)
            yield from (Edit(one.start + start, one.end + start, one.text) for one in made)

    def _written(self, text: str, changes: Sequence[tuple[Manifest, ObjectPatches]]) -> tuple[Edit, ...]:
        """The changes to one document's text. If several fail together, the first one is reported."""
        try:
            return edits(text, [change for _, change in changes])
        except EditError as together:
            for manifest, change in changes:
                try:
                    edits(text, [change])
                except EditError as alone:
                    raise self._refused(manifest, alone) from None
            raise self._refused(changes[0][0], together) from None

    def _change(self, manifest: Manifest) -> ObjectPatch:
        named = f"{manifest.kind}/{manifest.name}"
        self.objects.append(named)
        if not self._options.selects(manifest):
            return ObjectPatch()
        place = self._place(manifest)
        try:
            found = self._applied(manifest)
        except EditError as error:
            raise self._refused(manifest, error) from None
        except PolicykitError as error:
            if error.place:  # it is about the file
                raise
            raise SourceError(f"{named} {error.message}", error.hint, place) from None
        self.notes.extend(f"{place}: {named}: {note}" for note in found.notes)
        self.notices.extend((f"{place}: {named}", notice) for notice in found.notices)
        in_namespace = manifest.namespace or self._source.namespace
        self._wanted += (CompanionObject(data, manifest.document, in_namespace) for data in found.objects)
        if found.candidates and not found.kinds:
            kinds = " or ".join(found.candidates)
            self.notes.append(
                f"{place}: {named} left unchanged: it may be {kinds}; set label policykit.io/workload to "
                "one of them"
            )
        if found.patches:
            self.changed.append(named)
        return found

    def _applied(self, manifest: Manifest) -> ObjectPatch:
        pod_sets = podsets.pod_sets(manifest.data)
        named = self._options.names(manifest)
        if not pod_sets:
            if named:
                raise PolicykitError("makes no pods", "name an object that does")
            return ObjectPatch()
        if self._source.partial or self._is_marked_partial(manifest) or is_partial(manifest, pod_sets):
            if named:
                raise PolicykitError("is a fragment, not a whole object", "patch the object it belongs to")
            return ObjectPatch()
        found = self._apply(manifest)
        if named and not found.kinds:
            kinds = ", ".join(found.candidates or self._cluster.workloads)
            raise PolicykitError("has no recognizable workload kind", f"name it with --workload: {kinds}")
        return found

    def _apply(self, manifest: Manifest) -> ObjectPatch:
        if self._before is None:
            return apply_kinds(manifest, self._cluster, self._source.namespace, self._options)
        removed = removal(manifest, self._before, self._cluster, self._source.namespace)
        rest = manifest._replace(data=all_patched(manifest.data, removed)) if removed else manifest
        found = apply_kinds(rest, self._cluster, self._source.namespace, self._options)
        return found._replace(patches=(*removed, *found.patches))

    def _is_marked_partial(self, manifest: Manifest) -> bool:
        if manifest.document not in self._partial:
            extent = self._extent(manifest.document)
            self._partial[manifest.document] = is_marked_partial(self._text[extent.start : extent.end])
        return self._partial[manifest.document]

    def _extent(self, document: int) -> Slice:
        found = slices(self._text)
        if len(found) != self._documents:
            rare = rare_break(self._text)
            raise SourceError(
                rare or "the boundaries between its documents are unclear",
                EVEN_BREAKS if rare else "start each with a `---` line",
                self._source.path,
            )
        return found[document]

    def _place(self, manifest: Manifest) -> str:
        span = manifest.span(())
        return f"{self._source.path}:{span.line}:{span.column}"

    def _refused(self, manifest: Manifest, error: EditError) -> SourceError:
        return SourceError(
            f"{manifest.kind}/{manifest.name}: {error.message}",
            "write it without anchors, aliases and `? ` keys, and end the text with a line ending; or "
            "change it by hand",
            self._place(manifest),
        )
