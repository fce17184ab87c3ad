"""What rules about whole scopes see: each file reduced to facts about gangs.

Files are linted in worker processes, and memory must not grow with them: a manifest leaves
behind only its groups, its memberships, gangs too large for their own pods, and autoscalers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from policykit.kube import autoscaling
from policykit.kube.podsets.podset import PodSet
from policykit.linter.dialect import Dialect
from policykit.linter.field import field
from policykit.linter.finding import Resource
from policykit.linter.own_gangs import oversized
from policykit.linter.rule import MakeFix
from policykit.manifests.document import Manifest
from policykit.manifests.node import Span
from policykit.manifests.path import Path, pointer
from policykit.model.gang import Autoscaler, Membership, OwnGang, PodGroup
from policykit.model.severity import Severity

T = TypeVar("T")


_GROUP_FIELDS: Mapping[str, Path] = {"name": ("metadata", "name"), "min_member": ("spec", "minMember")}


class Place(NamedTuple):
    """Where a field stands: in its file, and from the root of its document."""

    span: Span
    path: Path
    field: str = ""
    """In its object, items of lists by their names."""

    @property
    def pointer(self) -> str:
        """RFC 6901 JSON pointer in the document."""
        return pointer(self.path)


class Located(NamedTuple, Generic[T]):
    """A value read from a manifest, and where its parts stand."""

    value: T
    path: str
    """The file, as reported."""
    document: int
    resource: Resource
    fields: Mapping[str, Place]
    partial: bool = False
    """Read from a patch or fragment: nothing is "missing" from it."""

    def place(self, field: str) -> Place:
        """Where a field of the value stands. Raises KeyError for a field it does not have."""
        return self.fields[field]


Fact = Located[Any] | Autoscaler
"""What a manifest says that other manifests may complete or contradict."""


class Scope(NamedTuple):
    """All facts of the files that see each other, in the order of the files."""

    groups: tuple[Located[PodGroup], ...] = ()
    memberships: tuple[Located[Membership], ...] = ()
    gangs: tuple[Located[OwnGang], ...] = ()
    autoscalers: tuple[Autoscaler, ...] = ()
    complete: bool = False
    """Every file of the scope is there: only then absence and sums mean anything."""


class ScopeViolation(NamedTuple):
    """What a rule about a scope says: of which value, at which of its fields, and what."""

    located: Located[PodGroup] | Located[Membership] | Located[OwnGang]
    field: str
    message: str
    help: str = ""
    severity: Severity | None = None
    """Where it differs from the rule's own."""
    fix: MakeFix | None = None
    """Its patches start at the root of the document that `located` was read from."""


def facts_of(
    manifest: Manifest, pod_sets: Sequence[PodSet], dialects: Sequence[Dialect], path: str, namespace: str
) -> list[Fact]:
    """What one manifest of the file `path` contributes; `namespace` is where it stands if it says none."""
    return list(_facts(manifest, pod_sets, dialects, path, namespace))


def scope_of(facts: Iterable[Fact], *, complete: bool) -> Scope:
    """The facts of a scope's files, by what they are about."""
    everything = list(facts)
    located = [fact for fact in everything if isinstance(fact, Located)]
    return Scope(
        tuple(fact for fact in located if isinstance(fact.value, PodGroup)),
        tuple(fact for fact in located if isinstance(fact.value, Membership)),
        tuple(fact for fact in located if isinstance(fact.value, OwnGang)),
        tuple(fact for fact in everything if isinstance(fact, Autoscaler)),
        complete,
    )


def _facts(
    manifest: Manifest, pod_sets: Sequence[PodSet], dialects: Sequence[Dialect], path: str, namespace: str
) -> Iterator[Fact]:
    if (scaler := autoscaling.read(manifest, namespace)) is not None:
        yield scaler
    for dialect in dialects:
        if dialect.read_group and (group := dialect.read_group(manifest, namespace)):
            yield _locate(group, manifest, path, _GROUP_FIELDS)
        for pod_set in pod_sets if dialect.read_membership else ():
            if dialect.read_membership and (joined := dialect.read_membership(manifest, pod_set, namespace)):
                places = {"group": joined.group, "min_member": joined.min_member}
                yield _locate(joined.membership, manifest, path, places)
    for gang, place in oversized(manifest, pod_sets, dialects, namespace):
        yield _locate(gang, manifest, path, {"min_member": place})


def _locate(value: T, manifest: Manifest, path: str, places: Mapping[str, Path]) -> Located[T]:
    fields = {
        name: Place(manifest.span(place), (*manifest.base, *place), field(manifest.data, place))
        for name, place in places.items()
    }
    resource = Resource(manifest.api_version, manifest.kind, manifest.namespace or None, manifest.name)
    return Located(value, path, manifest.document, resource, fields, manifest.partial)
