"""Options of the policy for Kubernetes and its scheduler."""

from __future__ import annotations

from policykit.model.cluster import Cluster
from policykit.namedtuple import NamedTuple

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


def of(cluster: Cluster) -> KubernetesOptions:
    """The options of a compiled policy."""
    settings = cluster.targets.get("kubernetes")
    stated = settings.options if settings else None
    return stated if isinstance(stated, KubernetesOptions) else KubernetesOptions()
