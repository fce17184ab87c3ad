"""Which taints and labels keep nodes for somebody, rather than describe them."""

from __future__ import annotations

from policykit.catalogue import labels
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool

_ADDONS = "CriticalAddonsOnly"


def dedicated_keys(cluster: Cluster, pool: Pool) -> frozenset[str]:
    """Keys of the pool's hard taints, without those of Kubernetes and of clouds.

    A cloud marks with taints what a pod may use as well (spot nodes), not what is its own.
    """
    return frozenset(taint.key for taint in pool.hard_taints if not _is_general(cluster, taint.key))


def is_policy_label(cluster: Cluster, key: str) -> bool:
    """Whether the policy gives a label key its meaning: usage, card, or a key of its pools alone."""
    return key in cluster.declared_keys and not _is_general(cluster, key)


def _is_general(cluster: Cluster, key: str) -> bool:
    if key == cluster.usage_key or any(key in card.label_keys for card in cluster.cards.values()):
        return False
    return key == _ADDONS or labels.well_known(key) or bool(labels.provider(key))
