"""What is read of a cluster: the kinds that policies, rules and targets know, and never a Secret."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache

from policykit.kube.podsets import table
from policykit.namedtuple import NamedTuple


class Role(Enum):
    """What a kind is read for."""

    NODES = "nodes"
    WORKLOADS = "workloads"
    """Objects that make pods, and pods themselves."""
    QUOTAS = "quotas"
    """Queues, quotas, priorities, gangs and other objects that decide about pods."""
    CONFIGURATIONS = "configurations"
    """What may hold the configuration of a scheduler. Read only where schedulers run."""


class Kind(NamedTuple):
    """A kind of objects, whatever its version."""

    group: str
    """Empty: the core group."""
    name: str
    role: Role

    @property
    def shown(self) -> str:
        """`Deployment`; `Job.batch.volcano.sh` where Kubernetes or another system has a kind of the name."""
        return self.name if self in _first_of_names() else f"{self.name}.{self.group}"


_QUOTAS = {
    "": ("LimitRange", "Namespace", "ResourceQuota"),
    "admissionregistration.k8s.io": ("MutatingAdmissionPolicy",),
    "autoscaling": ("HorizontalPodAutoscaler",),
    "scheduling.k8s.io": ("PriorityClass", "PodGroup", "Workload"),
    "scheduling.volcano.sh": ("Queue", "PodGroup"),
    "topology.volcano.sh": ("HyperNode",),
    "shard.volcano.sh": ("NodeShard",),
    "training.volcano.sh": ("HyperJob",),
    "scheduling.sigs.k8s.io": ("ElasticQuota", "PodGroup"),
    "scheduling.x-k8s.io": ("ElasticQuota", "PodGroup"),
    "scheduling.koordinator.sh": ("ClusterNetworkTopology", "Reservation"),
    "quota.koordinator.sh": ("ElasticQuotaProfile",),
    "config.koordinator.sh": ("ClusterColocationProfile", "ColocationConfiguration"),
    "kueue.x-k8s.io": (
        "ClusterQueue",
        "Cohort",
        "LocalQueue",
        "ResourceFlavor",
        "Topology",
        "WorkloadPriorityClass",
    ),
    "karpenter.sh": ("NodePool",),
    "nfd.k8s-sigs.io": ("NodeFeatureRule",),
    "kubeflow.org": ("Profile",),
    "kyverno.io": ("ClusterPolicy", "Policy"),
    "nvidia.com": ("ClusterPolicy",),
    "scheduling.run.ai": ("PodGroup", "Queue"),
}
"""API group to kinds that make no pods but decide about them."""
_BUILT_IN = frozenset({"", "apps", "autoscaling", "batch", "scheduling.k8s.io"})

NODE = Kind("", "Node", Role.NODES)
POD = Kind("", "Pod", Role.WORKLOADS)
CONFIG_MAP = Kind("", "ConfigMap", Role.CONFIGURATIONS)


@cache
def kinds() -> tuple[Kind, ...]:
    """Every kind, nodes first, pods last."""
    quotas = [Kind(group, name, Role.QUOTAS) for group, names in _QUOTAS.items() for name in names]
    workloads = dict.fromkeys(Kind(each.group, each.kind, Role.WORKLOADS) for each in table.entries())
    workloads.pop(POD)
    return (NODE, *quotas, CONFIG_MAP, *workloads, POD)


def kinds_of_generation() -> tuple[Kind, ...]:
    """Those that `gen` writes and that are read anyway: queues and the like, and schedulers."""
    return (*of_roles(Role.QUOTAS), Kind("apps", "Deployment", Role.WORKLOADS))


def of_roles(*roles: Role) -> Iterator[Kind]:
    """The kinds that are read for one of these."""
    return (kind for kind in kinds() if kind.role in roles)


@cache
def _first_of_names() -> frozenset[Kind]:
    """Of each name the kind of Kubernetes, else the only one there is."""
    by_name: dict[str, list[Kind]] = {}
    for kind in kinds():
        by_name.setdefault(kind.name, []).append(kind)
    found = []
    for same in by_name.values():
        built_in = [kind for kind in same if kind.group in _BUILT_IN]
        found += built_in or (same if len(same) == 1 else [])
    return frozenset(found)
