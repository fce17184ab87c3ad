"""Fields that Koordinator's webhook sets on pods at admission, from the policy's profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets.koordinator.names import TARGET_NAME

if TYPE_CHECKING:
    from policykit.kube.podsets.podset import PodSet
    from policykit.model.cluster import Cluster
    from policykit.targets.koordinator.objects.colocation import Profile


def profile_of(cluster: Cluster, pod_set: PodSet, namespace: str = "") -> Profile | None:
    """The ClusterColocationProfile of the policy that selects the pods; empty namespace: any.

    As for the webhook, only the labels of the pods count: a workload kind that is recognized by other
    criteria has no profile.
    """
    if TARGET_NAME not in cluster.targets or WORKLOAD_KEY not in pod_set.labels:
        return None
    from policykit.targets.koordinator.objects.colocation import profiles
    from policykit.targets.koordinator.pods import scheduler_name

    for profile in profiles(cluster, scheduler_name(cluster)):
        selected = profile.labels.items() <= pod_set.labels.items()
        if selected and (not namespace or not profile.namespaces or namespace in profile.namespaces):
            return profile
    return None


def scheduler_of_profile(cluster: Cluster, pod_set: PodSet, namespace: str) -> str:
    """The schedulerName that a profile sets on pods without one; empty if no profile does."""
    profile = profile_of(cluster, pod_set, namespace)
    return profile.scheduler if profile else ""
