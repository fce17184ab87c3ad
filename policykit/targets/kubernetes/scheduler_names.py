"""Which schedulerNames are kube-scheduler's: the cluster's own, and those of placements."""

from __future__ import annotations

from policykit.model.cluster import Cluster
from policykit.targets import DEFAULT_SCHEDULER, TARGETS

DEFAULT_NAMES = ("", DEFAULT_SCHEDULER)
"""schedulerNames of pods that the cluster's default scheduler places."""


def other_names(cluster: Cluster) -> frozenset[str]:
    """Names that schedulers of other systems serve."""
    others = [target for target in cluster.targets.values() if target.name != "kubernetes"]
    stated = {target.scheduler_name for target in others}
    stated.update(name for target in others for name in target.schedulers)
    return frozenset(stated.union(*(each.schedulers for each in TARGETS)) - {DEFAULT_SCHEDULER})


def is_served(scheduler: str, cluster: Cluster) -> bool:
    """Whether some kube-scheduler serves pods that state this name."""
    placed = any(placement.scheduler == scheduler for placement in cluster.placements.values())
    return scheduler in DEFAULT_NAMES or (placed and scheduler not in other_names(cluster))


def is_only_scheduler(cluster: Cluster) -> bool:
    """Whether the policy has no other system that schedules."""
    return all(name == "kubernetes" for name in cluster.targets)
