"""Reads gangs from manifests: groups, memberships and numbers of pods."""

from __future__ import annotations

from policykit.kube.podsets import PodSet
from policykit.kube.podsets.gangs import holds_text
from policykit.manifests.document import Manifest
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path
from policykit.model.gang import Membership, PodGroup
from policykit.namedtuple import NamedTuple


class MembershipFact(NamedTuple):
    """A membership, with the paths of its fields in the manifest."""

    membership: Membership
    group: Path
    min_member: Path = ()


def group_of(
    manifest: Manifest, namespace: str, target_name: str, api_groups: frozenset[str]
) -> PodGroup | None:
    """A PodGroup object of one of these API groups; all keep the minimum in spec.minMember."""
    if manifest.kind != "PodGroup" or manifest.group not in api_groups or manifest.partial:
        return None
    spec = manifest.data.get("spec")
    minimum = spec.get("minMember") if isinstance(spec, dict) else None
    if isinstance(minimum, bool) or not isinstance(minimum, int):
        minimum = None
    owned = bool(manifest.metadata.get("ownerReferences"))
    return PodGroup(target_name, manifest.namespace or namespace, manifest.name, minimum, owned)


def named_group(
    manifest: Manifest, pod_set: PodSet, namespace: str, target_name: str, where: str, key: str
) -> MembershipFact | None:
    """The group that a label or annotation (`where`) of the pods names, in the pods' namespace."""
    group = (pod_set.labels if where == "labels" else pod_set.annotations).get(key)
    if not group:
        return None
    pods = pods_of(manifest, pod_set)
    in_namespace = manifest.namespace or namespace
    membership = Membership(target_name, in_namespace, group, pods, pod_set.scheduler_name)
    return MembershipFact(membership, pod_set.place(where, key))


def pods_of(manifest: Manifest, pod_set: PodSet) -> int | None:
    """Number of pods a pod set has at a time; None: it is not fixed.

    It is not fixed for kinds that recur, whose runs may overlap, and objects with generateName.
    """
    recurring = "Cron" in manifest.kind or manifest.kind.startswith("Scheduled")
    if manifest.partial or not manifest.name or pod_set.stored or pod_set.per_node or recurring:
        return None
    return pod_set.replicas


def size_patch(path: Path, size: int) -> Patch:
    """The patch that sets the size of a gang."""
    return Patch("add", path, str(size) if holds_text(path) else size)
