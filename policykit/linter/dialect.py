"""A scheduler's own words in manifests: what its target tells the engine and the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from policykit.kube.podsets.podset import PodSet
from policykit.linter.configurations import Configuration
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.gang import Membership, PodGroup


class Key(NamedTuple):
    """A label or annotation that only one scheduler reads."""

    where: str
    """labels or annotations."""
    key: str
    purpose: str
    """gang, queue or device."""
    on_owner: bool = False
    """Read from the object that makes the pods, not from its pod template."""


class Joined(NamedTuple):
    """A membership as read, with the places of what it says, relative to its manifest."""

    membership: Membership
    group: Path
    min_member: Path = ()


class Dialect(NamedTuple):
    """One scheduler's words. Light: importing it reads no file and builds no table."""

    name: str
    """Target's name: volcano, koordinator, ..."""
    title: str
    """As people write it: Volcano."""
    schedulers: frozenset[str] = frozenset()
    """schedulerName it serves unless the policy says otherwise; empty: it works with any."""
    keys: tuple[Key, ...] = ()
    takes_over: bool = False
    """An admission controller usually gives its pods the schedulerName."""
    groups_itself: bool = False
    """It makes groups of the known kinds without being asked."""
    read_group: Callable[[Manifest, str], PodGroup | None] | None = None
    """A group object, with the namespace it stands in where it states none."""
    read_membership: Callable[[Manifest, PodSet, str], Joined | None] | None = None
    configurations: tuple[Configuration, ...] = ()
    """The texts that configure it."""


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
) -> Joined | None:
    """The group that a label or annotation (`where`) of the pods names, in the pods' namespace."""
    group = (pod_set.labels if where == "labels" else pod_set.annotations).get(key)
    if not group:
        return None
    pods = pods_of(manifest, pod_set)
    stands_in = manifest.namespace or namespace
    membership = Membership(system, stands_in, group, pods, pod_set.scheduler_name)
    return Joined(membership, pod_set.place(where, key))


def pods_of(manifest: Manifest, pod_set: PodSet) -> int | None:
    """Pods a pod set has at one time; None where that is not a fixed number.

    Runs of a recurring kind may overlap, and an object with generateName may be made often.
    """
    recurring = "Cron" in manifest.kind or manifest.kind.startswith("Scheduled")
    if manifest.partial or not manifest.name or pod_set.stored or pod_set.per_node or recurring:
        return None
    return pod_set.replicas
