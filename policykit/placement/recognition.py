"""Which workload kind a pod set has: the first of four checks that decides."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from policykit.kube.affinity import NodeAffinity
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest
from policykit.model.cluster import Cluster
from policykit.model.pool import Toleration
from policykit.model.workload import Match, WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.placement.owner import Owner, owner

WORKLOAD_KEY = "policykit.io/workload"
"""Label or annotation, on the template or its owner, that names the workload kind."""


CARD_KEY = "policykit.io/card"
"""Label of an object that says, where its kind has components for several cards, which one it is for."""
HOW_TO_STATE = (
    f"name one of the policy's in the label {WORKLOAD_KEY} of its pods, or add `match` or `role` to one"
)
"""What to do about pods that are not recognized."""


class Recognition(NamedTuple):
    """The workload kind of a pod set, or why there is none."""

    workload: WorkloadKind | None = None
    decided_by: str = ""
    """What decided, for display: `label policykit.io/workload`; empty if nothing did."""
    candidates: tuple[str, ...] = ()
    """Kinds that were equally likely, so none was chosen."""


def recognize(
    cluster: Cluster,
    manifest: Manifest,
    pod_set: PodSet,
    tolerations: tuple[Toleration, ...],
    affinity: NodeAffinity,
    requests_card: bool,
    namespace: str,
) -> Recognition:
    """Applies the checks in order: name, match, usage, role."""
    pod_owner = owner(manifest, pod_set)
    if stated := stated_kind(pod_owner, pod_set):
        return Recognition(cluster.workloads.get(stated.name), f"{stated.field[:-1]} {WORKLOAD_KEY}")
    for workload in cluster.workloads.values():
        if any(_matches(match, pod_owner, pod_set, namespace) for match in workload.match):
            return Recognition(workload, f"match of workload kind {workload.name}")
    if not pod_set.per_node:
        found = _by_usage(cluster, tolerations, affinity)
        if found.workload or found.candidates:
            return found
    if requests_card:
        return _by_role(cluster, pod_owner, pod_set)
    return Recognition()


def selected_values(affinity: NodeAffinity, key: str) -> tuple[str, ...]:
    """Values of `key` that the selector or the required terms select with In, in order."""
    found: list[str] = []
    if key in affinity.selector:
        found.append(affinity.selector[key])
    for term in affinity.required or ():
        for requirement in term.expressions:
            if requirement.key == key and requirement.operator == "In":
                found.extend(requirement.values)
    return tuple(dict.fromkeys(found))


def tolerated_values(tolerations: Iterable[Toleration], key: str) -> tuple[str, ...]:
    """Values of `key` tolerated individually (operator Equal or none), in order."""
    return tuple(
        dict.fromkeys(
            t.value for t in tolerations if t.key == key and t.operator in ("", "Equal") and t.value
        )
    )


class StatedKind(NamedTuple):
    """The workload kind that an object names."""

    name: str
    field: str
    """`labels` or `annotations`."""
    on_pods: bool
    """Whether the template has it, or else the owner."""


def stated_kind(pod_owner: Owner, pod_set: PodSet) -> StatedKind | None:
    """The first that is stated, whether or not a policy has it."""
    for holder in (pod_set, pod_owner):
        for field, entries in (("labels", holder.labels), ("annotations", holder.annotations)):
            if name := entries.get(WORKLOAD_KEY):
                return StatedKind(name, field, holder is pod_set)
    return None


def _matches(match: Match, pod_owner: Owner, pod_set: PodSet, namespace: str) -> bool:
    """Whether all declared conditions hold; labels may be on the template or its owner."""
    kinds = (
        pod_owner.kind,
        f"{pod_owner.group}/{pod_owner.kind}",
        f"{pod_owner.api_version}/{pod_owner.kind}",
    )
    labels = {**pod_owner.labels, **pod_set.labels}
    return (
        (not match.api_kinds or any(kind in match.api_kinds for kind in kinds))
        and (not match.namespaces or (pod_owner.namespace or namespace) in match.namespaces)
        and all(labels.get(key) == value for key, value in match.labels.items())
        and (not match.names or any(fnmatchcase(pod_owner.name, glob) for glob in match.names))
        and bool(match.api_kinds or match.namespaces or match.labels or match.names)
    )


def _by_usage(cluster: Cluster, tolerations: tuple[Toleration, ...], affinity: NodeAffinity) -> Recognition:
    """By usage: among those selected, or else tolerated, the ones that only one kind prefers."""
    if not cluster.usage_key:
        return Recognition()
    usages = selected_values(affinity, cluster.usage_key)
    how = "selects"
    if not usages:
        usages, how = tolerated_values(tolerations, cluster.usage_key), "tolerates"
    preferring = {u: [w for w in cluster.workloads.values() if u in w.prefer] for u in usages}
    kinds = {who[0].name: (usage, who[0]) for usage, who in preferring.items() if len(who) == 1}
    if len(kinds) == 1:
        usage, workload = next(iter(kinds.values()))
        return Recognition(workload, f"{how} usage {usage}, which only this kind prefers")
    return Recognition(candidates=tuple(sorted(kinds)))


def _by_role(cluster: Cluster, pod_owner: Owner, pod_set: PodSet) -> Recognition:
    """By role: an API kind for training or serving, and the only workload kind with that role."""
    role = pod_set.purpose
    kinds = [each for each in cluster.workloads.values() if each.role and each.role == role]
    if len(kinds) == 1:
        return Recognition(kinds[0], f"{pod_owner.kind} requests a card and is a {role} kind")
    return Recognition(candidates=tuple(sorted(each.name for each in kinds)))
