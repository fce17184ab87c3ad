"""Options of the policy for Kubernetes and its scheduler, and the schedulerNames that it serves."""

from __future__ import annotations

from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple
from policykit.targets import DEFAULT_SCHEDULER, TARGETS

SECOND, CLUSTER = "second", "cluster"
_NAMESPACE = "kube-system"


class SchedulerOptions(NamedTuple):
    """How the scheduler profiles of placements are deployed."""

    way: str = SECOND
    """second: a Deployment next to the cluster's scheduler; cluster: that scheduler itself."""
    default: str = ""
    """Placement of the profile default-scheduler; empty: it stays as it is."""
    namespace: str = _NAMESPACE
    image: str = ""
    """Empty: registry.k8s.io/kube-scheduler of the cluster's version."""
    replicas: int = 1


class KubernetesOptions(NamedTuple):
    """Options of the target."""

    scheduler: SchedulerOptions = SchedulerOptions()
    native_gang: bool = False
    """Gangs by the scheduling API of the stated version."""


def kubernetes_options(cluster: Cluster) -> KubernetesOptions:
    """The options of a compiled policy."""
    settings = cluster.targets.get("kubernetes")
    stated = settings.options if settings else None
    return stated if isinstance(stated, KubernetesOptions) else KubernetesOptions()


DEFAULT_NAMES = ("", DEFAULT_SCHEDULER)
"""schedulerNames that the cluster's default scheduler serves."""


def other_names(cluster: Cluster) -> frozenset[str]:
    """schedulerNames that other targets serve."""
    others = [target for target in cluster.targets.values() if target.name != "kubernetes"]
    stated = {target.scheduler_name for target in others}
    stated.update(name for target in others for name in target.schedulers)
    return frozenset(stated.union(*(each.schedulers for each in TARGETS)) - {DEFAULT_SCHEDULER})


def is_served(scheduler: str, cluster: Cluster) -> bool:
    """Whether a kube-scheduler serves this schedulerName."""
    placed = any(placement.scheduler == scheduler for placement in cluster.placements.values())
    return scheduler in DEFAULT_NAMES or (placed and scheduler not in other_names(cluster))


def is_only_scheduler(cluster: Cluster) -> bool:
    """Whether the policy has no other scheduler."""
    return all(name == "kubernetes" for name in cluster.targets)
