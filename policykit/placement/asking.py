"""Which cards a pod set asks for, those of the catalogue and those of the policy."""

from __future__ import annotations

from policykit.catalogue.cards import is_card
from policykit.kube import requests
from policykit.kube.podsets.podset import PodSet
from policykit.model.cluster import Cluster


def is_card_of(resource: str, cluster: Cluster | None) -> bool:
    """Whether a resource is a card: known to the catalogue, or offered by a pool."""
    if is_card(resource):
        return True
    return cluster is not None and any(resource in pool.resources for pool in cluster.pools)


def card_resources(pod_set: PodSet, cluster: Cluster | None) -> tuple[str, ...]:
    """Card resources one pod asks for (amount above 0), sorted."""
    asked = requests.effective(pod_set.spec, pod_set.devices)
    return tuple(sorted(r for r, amount in asked.items() if amount > 0 and is_card_of(r, cluster)))
