"""Gangs that objects declare for their own pods, where they are larger than those pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from policykit.kube.autoscaling import POD_PER_REPLICA
from policykit.kube.gang_units import minimum_scope
from policykit.kube.podsets import Gang, PodSet, gangs
from policykit.linter.target import Target
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.gang import OwnGang


def oversized(
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
