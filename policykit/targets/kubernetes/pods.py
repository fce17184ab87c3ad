"""Pod fields that kube-scheduler reads: spreading, affinity between pods, and gangs with their PodGroups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.cluster import Cluster
from policykit.model.pod_fields import PodContext, PodFields
from policykit.model.release import Version
from policykit.model.topology import TopologyAffinity, TopologySpread
from policykit.model.workload import SPREAD, WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets import pod_spreading
from policykit.targets.kubernetes import options, versions
from policykit.targets.kubernetes.versions import POD_GROUP_API, POD_GROUP_BETA, WORKLOAD_API

GROUP = "scheduling.k8s.io"
_MEMBERS = "all"
"""Name of the only pod group of a 1.35 Workload."""


class Gang(NamedTuple):
    """Pods that start together: a PodGroup, or in 1.35 a Workload with one pod group."""

    name: str
    namespace: str
    size: int
    """minCount."""
    level: str = ""
    """Label whose value all their nodes share; empty: any nodes, as always in 1.35."""


def group_api_version(version: Version) -> str:
    """apiVersion of its objects; empty before 1.35, which has none."""
    if version >= POD_GROUP_BETA:
        return f"{GROUP}/v1beta1"
    if version >= POD_GROUP_API:
        return f"{GROUP}/v1alpha2"
    return f"{GROUP}/v1alpha1" if version >= WORKLOAD_API else ""


def is_native_gang(kind: WorkloadKind, cluster: Cluster) -> bool:
    """Whether the pods of a kind are a gang that a kube-scheduler places."""
    return kind.gang == "all" and options.is_served(kind.scheduler, cluster)


def pod_group_gates(kinds: Iterable[WorkloadKind], version: Version) -> tuple[str, ...]:
    """Feature gates, off by default, that the API server and the scheduler need for gangs of the kinds."""
    close = version >= POD_GROUP_API and any(kind.within and kind.within.hard for kind in kinds)
    return (
        "GenericWorkload",
        *(("GangScheduling",) if version < POD_GROUP_BETA else ()),
        *(("TopologyAwareWorkloadScheduling",) if close else ()),
    )


def write_pod_group(gang: Gang, version: Version) -> dict[str, Any]:
    """The object in the API of a release, 1.35 or newer."""
    metadata = {"name": gang.name, **({"namespace": gang.namespace} if gang.namespace else {})}
    policy = {"gang": {"minCount": gang.size}}
    head = {"apiVersion": group_api_version(version)}
    if version < POD_GROUP_API:
        groups = [{"name": _MEMBERS, "policy": policy}]
        return {**head, "kind": "Workload", "metadata": metadata, "spec": {"podGroups": groups}}
    spec: dict[str, Any] = {"schedulingPolicy": policy}
    if gang.level:
        spec["schedulingConstraints"] = {"topology": [{"key": gang.level}]}
    return {**head, "kind": "PodGroup", "metadata": metadata, "spec": spec}


def pod_fields(gang: Gang, version: Version) -> dict[str, Any]:
    """PodSpec fields of its members."""
    if version < POD_GROUP_API:
        return {"workloadRef": {"name": gang.name, "podGroup": _MEMBERS}}
    return {"schedulingGroup": {"podGroupName": gang.name}}


def read_pod_group(data: Mapping[str, Any]) -> Gang | None:
    """The gang of a PodGroup, or of a Workload with one; None: it is not a gang."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    inner = mappings(spec.get("podGroups"))
    policy = mapping(inner[0].get("policy")) if len(inner) == 1 else mapping(spec.get("schedulingPolicy"))
    size = whole(mapping(policy.get("gang")).get("minCount"))
    if size is None:
        return None
    levels = mappings(mapping(spec.get("schedulingConstraints")).get("topology"))
    level = text(levels[0].get("key")) if levels else ""
    return Gang(text(metadata.get("name")), text(metadata.get("namespace")), size, level)


def fields(kind: WorkloadKind, cluster: Cluster, pods: PodContext) -> PodFields:
    """Fields for pods of a kind that kube-scheduler or a scheduler with the same plugins places."""
    if pods.owner_kind == "DaemonSet":
        return PodFields()
    together, grouped = _gang(kind, cluster, pods)
    apart, unknown = _spread(kind, cluster, pods)
    close, unsupported = ({}, ()) if together and together.level else _affinity(kind, cluster, pods)
    spec: dict[str, Any] = {**apart, **close}
    objects: tuple[dict[str, Any], ...] = ()
    if together:
        version = versions.parse(cluster.kubernetes_version)
        spec |= pod_fields(together, version)
        objects = (write_pod_group(together, version),)
    labels = {WORKLOAD_KEY: kind.name} if apart or close else {}
    return PodFields(labels=labels, spec=spec, objects=objects, notices=(*unknown, *unsupported, *grouped))


def _spread(kind: WorkloadKind, cluster: Cluster, pods: PodContext) -> tuple[dict[str, Any], tuple[str, ...]]:
    """topologySpreadConstraints for `across`, and for a spread placement that no profile serves."""
    wanted = [kind.across] if kind.across else []
    by_node = TopologySpread("node")
    if _spread_by_pods(kind, cluster) and not any(each.level == "node" for each in wanted):
        wanted.append(by_node)
    found, notices = [], []
    for each in wanted:
        key = pod_spreading.key_of(cluster, each.level)
        if key:
            found.append(pod_spreading.constraint(kind.name, key, each, pods.owner_kind))
        else:
            notices.append(_no_level(kind, each.level))
    return ({"topologySpreadConstraints": found} if found else {}), tuple(notices)


def _spread_by_pods(kind: WorkloadKind, cluster: Cluster) -> bool:
    """Whether a placement requires spreading by the default scheduler, and no profile does it."""
    placement = cluster.placements.get(kind.placement_name)
    if placement is None or placement.strategy != SPREAD or kind.scheduler not in options.DEFAULT_NAMES:
        return False
    stated = options.kubernetes_options(cluster).scheduler
    return stated.way != options.CLUSTER or stated.default != placement.name


def _affinity(
    kind: WorkloadKind, cluster: Cluster, pods: PodContext
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Pod affinity for `within`, the closest that kube-scheduler offers."""
    if kind.within is None:
        return {}, ()
    level = kind.within.level
    key = pod_spreading.key_of(cluster, level)
    if not key:
        return {}, (_no_level(kind, level),)
    version = versions.parse(cluster.kubernetes_version)
    if version < versions.AFFINITY_KEYS or not pod_spreading.own_labels(pods.owner_kind):
        return {}, (
            f"{kind.name}: the pods of one job cannot be distinguished from those of another, so "
            f"kube-scheduler cannot keep each job within one {level}. Nearest: podAffinity on {key} with a "
            "label of the job, or a scheduler with topology constraints (Volcano, Koordinator)",
        )
    close = pod_spreading.affinity(kind.name, key, kind.within.hard, pods.owner_kind)
    return {"affinity": {"podAffinity": close}}, _hard(kind, kind.within)


def _hard(kind: WorkloadKind, within: TopologyAffinity) -> tuple[str, ...]:
    if not within.hard:
        return ()
    return (
        f"{kind.name}: kube-scheduler places the first pod of a job without checking that its "
        f"{within.level} has room for the others, which may then wait. Nearest: a scheduler with topology "
        "constraints (Volcano, Koordinator)",
    )


def _no_level(kind: WorkloadKind, level: str) -> str:
    return f"{kind.name}: no node label is known for level {level}: set it under scheme.topology"


def _gang(kind: WorkloadKind, cluster: Cluster, pods: PodContext) -> tuple[Gang | None, tuple[str, ...]]:
    """The gang in the API of the stated release, if the policy enables it and the release has one."""
    version = versions.parse(cluster.kubernetes_version)
    if kind.gang != "all" or not options.kubernetes_options(cluster).native_gang:
        return None, ()
    if not cluster.kubernetes_version or not group_api_version(version):
        return None, ()
    size = _size(kind, pods)
    if not pods.owner or size is None:
        return None, (
            f"{kind.name}: a PodGroup needs the name of a job and its number of pods: policykit patch "
            "writes it where a manifest states both",
        )
    constrained = kind.within and kind.within.hard and version >= versions.POD_GROUP_API
    level = pod_spreading.key_of(cluster, kind.within.level) if kind.within and constrained else ""
    return Gang(pods.owner, pods.namespace, size, level), ()


def _size(kind: WorkloadKind, pods: PodContext) -> int | None:
    if kind.gang_rule and kind.gang_rule.size:
        return kind.gang_rule.size
    known = [member.replicas for member in pods.job if member.replicas is not None]
    return sum(known) if pods.job and len(known) == len(pods.job) and sum(known) else None
