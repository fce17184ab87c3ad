"""Gangs in manifests: groups, memberships, minimums that exceed their pods, and patches of a size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from policykit.kube.autoscaling import POD_PER_REPLICA
from policykit.kube.gang_units import minimum_scope
from policykit.kube.podsets import Gang, PodSet, gangs
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, lookup
from policykit.model.gang import Membership, OwnGang, PodGroup

if TYPE_CHECKING:
    from policykit.linter.target import Target

_TEXTS = frozenset({"annotations", "labels"})


class MembershipFact(NamedTuple):
    """A membership as read, with the places of what it says, relative to its manifest."""

    membership: Membership
    group: Path
    min_member: Path = ()


def group_of(manifest: Manifest, namespace: str, system: str, api_groups: frozenset[str]) -> PodGroup | None:
    """A PodGroup object of one of these API groups; all keep the minimum in spec.minMember."""
    if manifest.kind != "PodGroup" or manifest.group not in api_groups or manifest.partial:
        return None
    spec = manifest.data.get("spec")
    minimum = spec.get("minMember") if isinstance(spec, dict) else None
    if isinstance(minimum, bool) or not isinstance(minimum, int):
        minimum = None
    owned = bool(manifest.metadata.get("ownerReferences"))
    return PodGroup(system, manifest.namespace or namespace, manifest.name, minimum, owned)


def named_group(
    manifest: Manifest, pod_set: PodSet, namespace: str, system: str, where: str, key: str
) -> MembershipFact | None:
    """The group that a label or annotation (`where`) of the pods names, in the pods' namespace."""
    group = (pod_set.labels if where == "labels" else pod_set.annotations).get(key)
    if not group:
        return None
    pods = pods_of(manifest, pod_set)
    stands_in = manifest.namespace or namespace
    membership = Membership(system, stands_in, group, pods, pod_set.scheduler_name)
    return MembershipFact(membership, pod_set.place(where, key))


def pods_of(manifest: Manifest, pod_set: PodSet) -> int | None:
    """Pods a pod set has at one time; None where that is not a fixed number.

    Runs of a recurring kind may overlap, and an object with generateName may be made often.
    """
    recurring = "Cron" in manifest.kind or manifest.kind.startswith("Scheduled")
    if manifest.partial or not manifest.name or pod_set.stored or pod_set.per_node or recurring:
        return None
    return pod_set.replicas


def oversized_gangs(
    manifest: Manifest, pod_sets: Sequence[PodSet], targets: Iterable[Target], namespace: str
) -> Iterator[tuple[OwnGang, Path]]:
    """Each minimum above the pods that can meet it, with its path. Unknown numbers are never too large."""
    scalable = manifest.kind in POD_PER_REPLICA
    if not pod_sets or manifest.partial or (scalable and not _annotated(manifest, targets)):
        return
    stands_in = manifest.namespace or namespace
    for gang in gangs(manifest.data):
        if gang.written and gang.enabled and _is_read(gang, pod_sets, targets):
            pods = _before_it_starts(manifest, gang, pod_sets)
            if gang.min_member is not None and pods is not None and gang.min_member > pods:
                yield (
                    OwnGang(stands_in, f"the gang of this {manifest.kind}", gang.min_member, pods, scalable),
                    gang.path,
                )
        for minimum in gang.minima:
            found = minimum_scope(manifest, minimum, pod_sets)
            if minimum.value is not None and found.available is not None and minimum.value > found.available:
                yield (
                    OwnGang(stands_in, found.name, minimum.value, found.available, counted=found.unit),
                    minimum.path,
                )


def _annotated(manifest: Manifest, targets: Iterable[Target]) -> bool:
    """Controllers of long-running pods state a gang in an annotation only, and few do."""
    written = manifest.metadata.get("annotations")
    return isinstance(written, dict) and any(k.key in written for t in targets for k in t.keys if k.on_owner)


def _is_read(gang: Gang, pod_sets: Sequence[PodSet], targets: Iterable[Target]) -> bool:
    """A size kept under one scheduler's own key counts only for pods of that scheduler."""
    key = gang.path[-1] if gang.path else ""
    readers = [t for t in targets if any(k.key == key for k in t.keys)]
    if not readers:
        return True
    return any(p.scheduler_name in t.schedulers for p in pod_sets if p.name in gang.members for t in readers)


def _before_it_starts(manifest: Manifest, gang: Gang, pod_sets: Sequence[PodSet]) -> int | None:
    """Pods that exist before the gang is complete: an MPI launcher may wait for the workers."""
    waits = lookup(manifest.data, ("spec", "launcherCreationPolicy")) == "WaitForWorkersReady"
    if manifest.kind == "MPIJob" and waits and gang.pods is not None:
        return gang.pods - sum(p.replicas or 0 for p in pod_sets if p.name == "launcher")
    return gang.pods


def size_patch(path: Path, size: int) -> Patch:
    """The patch that writes a gang's size, in place of another or where there is none."""
    return Patch("add", path, str(size) if len(path) > 1 and path[-2] in _TEXTS else size)
