"""The schedulerNames that kube-scheduler serves: the cluster's own, and those of placements."""

from __future__ import annotations

from policykit.model.cluster import Cluster
from policykit.targets import DEFAULT_SCHEDULER, TARGETS

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
