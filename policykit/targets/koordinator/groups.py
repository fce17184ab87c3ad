"""Gang membership: Koordinator's PodGroup, and pods that join a gang with or without one."""

from __future__ import annotations

from policykit.kube.podsets.podset import PodSet
from policykit.linter.gangs import MembershipFact, group_of, pods_of
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.model.gang import Membership, PodGroup
from policykit.targets.koordinator.names import (
    GANG_NAME,
    GROUP_API,
    GROUP_LABELS,
    MIN_AVAILABLE,
    OLD_MIN_AVAILABLE,
    TARGET_NAME,
)


def read_group(manifest: Manifest, namespace: str) -> PodGroup | None:
    """A PodGroup object; a minimum of 0 is no gang, as for the scheduler."""
    group = group_of(manifest, namespace, TARGET_NAME, frozenset({GROUP_API}))
    if group and group.min_member is not None and group.min_member <= 0:
        return group._replace(min_member=None)
    return group


def read_membership(manifest: Manifest, pod_set: PodSet, namespace: str) -> MembershipFact | None:
    """The gang that the pods name: by label, else by annotation with the size beside it.

    Source: koordinator `apis/extension/coscheduling.go`, coscheduling `core/gang.go` (v1.8).
    """
    in_namespace = manifest.namespace or namespace
    pods = pods_of(manifest, pod_set)
    for label in GROUP_LABELS:
        if group := pod_set.labels.get(label):
            membership = Membership(TARGET_NAME, in_namespace, group, pods, pod_set.scheduler_name)
            return MembershipFact(membership, pod_set.place("labels", label))
    group = pod_set.annotations.get(GANG_NAME)
    if not group:
        return None
    minimum, place = _minimum(manifest, pod_set)
    membership = Membership(
        TARGET_NAME, in_namespace, group, pods, pod_set.scheduler_name, minimum, by_pods=bool(place)
    )
    return MembershipFact(membership, pod_set.place("annotations", GANG_NAME), place)


def _minimum(manifest: Manifest, pod_set: PodSet) -> tuple[int | None, Path]:
    """The size that the pods state, and its path. None: not a quoted number. Empty path: none is stated."""
    for where, key, entries in (
        ("annotations", MIN_AVAILABLE, pod_set.annotations),
        ("labels", OLD_MIN_AVAILABLE, pod_set.labels),
    ):
        place = pod_set.place(where, key)
        if key in entries:
            text = entries[key]
            return int(text) if text.isdecimal() and text.isascii() and len(text) < 19 else None, place
        if place and place[-1] == key and lookup(manifest.data, place) is not None:
            return None, place
    return None, ()
