"""Keys of taints and labels that dedicate nodes to workloads rather than describe them."""

from __future__ import annotations

from policykit.catalogue import labels
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool

_ADDONS = "CriticalAddonsOnly"


def dedicated_keys(cluster: Cluster, pool: Pool) -> frozenset[str]:
    """Keys of the pool's hard taints, without those of Kubernetes and of clouds.

    Taints of clouds mark nodes that any pod may use, such as spot nodes.
    """
    return frozenset(taint.key for taint in pool.hard_taints if not _is_general(cluster, taint.key))


def is_policy_label(cluster: Cluster, key: str) -> bool:
    """Whether the policy defines the meaning of a label key: usage, card or a key of its pools."""
    return key in cluster.declared_keys and not _is_general(cluster, key)


def _is_general(cluster: Cluster, key: str) -> bool:
    if key == cluster.usage_key or any(key in card.label_keys for card in cluster.cards.values()):
        return False
    return key == _ADDONS or labels.well_known(key) or bool(labels.provider(key))
