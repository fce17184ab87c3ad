"""Gangs of Kubernetes itself (scheduling.k8s.io). Each release has an API of its own for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policykit.manifests.shape import mapping, mappings, text, whole
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets.kubernetes import scheduler_names
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


def api_version(version: Version) -> str:
    """apiVersion of its objects; empty before 1.35, which has none."""
    if version >= POD_GROUP_BETA:
        return f"{GROUP}/v1beta1"
    if version >= POD_GROUP_API:
        return f"{GROUP}/v1alpha2"
    return f"{GROUP}/v1alpha1" if version >= WORKLOAD_API else ""


def is_native_gang(kind: WorkloadKind, cluster: Cluster) -> bool:
    """Whether the pods of a kind are a gang that a kube-scheduler places."""
    return kind.gang == "all" and scheduler_names.is_served(kind.scheduler, cluster)


def gates(kinds: Iterable[WorkloadKind], version: Version) -> tuple[str, ...]:
    """Feature gates, off by default, that the API server and the scheduler need for gangs of the kinds."""
    close = version >= POD_GROUP_API and any(kind.within and kind.within.hard for kind in kinds)
    return (
        "GenericWorkload",
        *(("GangScheduling",) if version < POD_GROUP_BETA else ()),
        *(("TopologyAwareWorkloadScheduling",) if close else ()),
    )


def write(gang: Gang, version: Version) -> dict[str, Any]:
    """The object in the API of a release, 1.35 or newer."""
    metadata = {"name": gang.name, **({"namespace": gang.namespace} if gang.namespace else {})}
    policy = {"gang": {"minCount": gang.size}}
    head = {"apiVersion": api_version(version)}
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


def read(data: Mapping[str, Any]) -> Gang | None:
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
