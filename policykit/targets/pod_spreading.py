"""Spreading and grouping of pods: topologySpreadConstraints, and pod affinity within a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.model.cluster import Cluster
from policykit.model.topology import TopologySpread
from policykit.placement.recognition import WORKLOAD_KEY

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
_BUILT_IN = {"node": HOSTNAME, "zone": ZONE}
_ANY_OWNER = ("batch.kubernetes.io/job-name", "controller-revision-hash", "pod-template-hash")
"""Pod labels that differ from one built-in workload to the next. A pod that lacks one ignores it."""
_BY_OWNER: Mapping[str, tuple[str, ...]] = {
    "": _ANY_OWNER,
    "CronJob": ("batch.kubernetes.io/job-name",),
    "Deployment": ("pod-template-hash",),
    "Job": ("batch.kubernetes.io/job-name", "volcano.sh/job-name"),
    "JobSet": ("jobset.sigs.k8s.io/jobset-name",),
    "LeaderWorkerSet": ("leaderworkerset.sigs.k8s.io/name",),
    "MPIJob": ("training.kubeflow.org/job-name",),
    "PyTorchJob": ("training.kubeflow.org/job-name",),
    "RayCluster": ("ray.io/cluster",),
    "RayJob": ("ray.io/cluster",),
    "RayService": ("ray.io/cluster",),
    "StatefulSet": ("controller-revision-hash",),
    "TFJob": ("training.kubeflow.org/job-name",),
}
"""Owner kind to labels that its controller sets on all pods of one owner and on no others. `""`: unknown."""


def key_of(cluster: Cluster, level: str) -> str:
    """Node label of a level; empty: the policy has none."""
    stated = next((each.key for each in cluster.levels if each.name == level), "")
    return stated or _BUILT_IN.get(level, "")


def own_labels(owner_kind: str) -> tuple[str, ...]:
    """Label keys that distinguish one owner's pods from another's; empty: unknown for the kind."""
    return _BY_OWNER.get(owner_kind, ())


def constraint(kind: str, key: str, apart: TopologySpread, owner_kind: str) -> dict[str, Any]:
    """An item of topologySpreadConstraints that counts the pods of one owner.

    Without nodeTaintsPolicy, nodes whose taints repel the pods would count as empty domains.
    """
    data: dict[str, Any] = {
        "maxSkew": apart.skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule" if apart.hard else "ScheduleAnyway",
        "nodeTaintsPolicy": "Honor",
        **_of_one_owner(kind, owner_kind),
    }
    return data


def affinity(kind: str, key: str, hard: bool, owner_kind: str) -> dict[str, Any]:
    """podAffinity of a pod to the others of its job."""
    term = {"topologyKey": key, **_of_one_owner(kind, owner_kind)}
    if hard:
        return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]}


def _of_one_owner(kind: str, owner_kind: str) -> dict[str, Any]:
    keys = own_labels(owner_kind)
    return {
        "labelSelector": {"matchLabels": {WORKLOAD_KEY: kind}},
        **({"matchLabelKeys": list(keys)} if keys else {}),
    }
