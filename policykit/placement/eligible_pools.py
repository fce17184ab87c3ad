"""The pools that the policy allows for a pod set."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.kube.affinity import NodeAffinity
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.taint import Toleration
from policykit.model.workload import WorkloadKind
from policykit.placement.pool_resources import offers
from policykit.placement.recognition import selected_values, tolerated_values


def eligible_pools(
    cluster: Cluster,
    workload: WorkloadKind | None,
    card_resources: Sequence[str],
    products: Sequence[str],
) -> tuple[Pool, ...] | None:
    """The pools that the policy allows, in its order; None if it does not cover the pod set."""
    if card_resources:
        offering = [p for p in cluster.pools if all(offers(cluster, p, r) for r in card_resources)]
        if products:
            offering = [p for p in offering if product_of(cluster, p) in products]
        if workload is None:
            return tuple(offering)
        return tuple(p for p in offering if is_allowed(workload, p))
    if workload is None:
        return None
    if workload.helpers is None:
        return tuple(p for p in cluster.pools if not p.card)
    return tuple(p for p in cluster.pools if p.name in workload.helpers)


def is_allowed(workload: WorkloadKind, pool: Pool) -> bool:
    """Whether the policy allows the usage and card of the pool for the workload kind."""
    usage = not workload.usages or pool.usage in workload.usages
    return usage and (workload.cards is None or pool.card in workload.cards)


def product_of(cluster: Cluster, pool: Pool) -> str:
    """Value of the product label on the pool's nodes; empty if there is none."""
    card = cluster.card_of(pool)
    return pool.labels.get(card.product_key, card.product) if card and card.product_key else ""


def named_products(
    cluster: Cluster, tolerations: tuple[Toleration, ...], affinity: NodeAffinity
) -> tuple[str, ...]:
    """Products named by selector or required affinity, else by Equal tolerations."""
    keys = dict.fromkeys(card.product_key for card in cluster.cards.values() if card.product_key)
    selected = [value for key in keys for value in selected_values(affinity, key)]
    if selected:
        return tuple(dict.fromkeys(selected))
    return tuple(dict.fromkeys(v for key in keys for v in tolerated_values(tolerations, key)))
