"""The pools that the policy allows for a pod set, and the card resources they offer."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.catalogue.resources import resource
from policykit.kube.affinity import NodeAffinity
from policykit.manifests.memoize import memoize_beside
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Toleration
from policykit.model.shared_cards import HAMI, HAMI_SCHEDULER, NAMES
from policykit.model.workload import WorkloadKind
from policykit.placement.recognition import selected_values, tolerated_values

_PARTS = ("memory", "core")
HAMI_PARTS = frozenset(NAMES[HAMI][1:])
"""Resources that HAMi's scheduler counts, and no node lists."""
_FOR_ANY_CARD = ("koordinator.sh/", "kubernetes.io/")


def offers(cluster: Cluster, pool: Pool, name: str) -> bool:
    """Whether a card resource belongs to the pool, or its cards are shared under that name."""
    return name in pool.resources or is_part(pool, name) or offers_shared(cluster, pool, name)


def _lists(pool: Pool, name: str) -> bool:
    """Whether nodes of a pool without a card of the policy have it among their amounts."""
    return not pool.card and any(shape.allocatable.get(name) for shape in pool.shapes)


def is_part(pool: Pool, name: str) -> bool:
    """Whether it is the memory or cores of the pool's cards: huawei.com/Ascend910B3-memory.

    HAMi's plugin for Ascend names one resource for each model, and only its scheduler counts the parts.
    """
    card, _, part = name.rpartition("-")
    return part in _PARTS and card in pool.resources


def may_be_part(cluster: Cluster, pool: Pool, name: str) -> bool:
    """Whether it is a part of the pool's cards if HAMi shares them, of which a policy may be silent."""
    return not cluster.observed and name in HAMI_PARTS and NAMES[HAMI].cards in pool.resources


def offers_shared(cluster: Cluster, pool: Pool, name: str) -> bool:
    """Whether a target of the policy shares cards of the pool as `name`; the amount is unknown.

    Koordinator's agents add its device resources to every node with cards, whichever scheduler uses
    them; a device plugin serves the cards of one maker. Real nodes list all their resources. HAMi counts the
    parts of cards itself, wherever its scheduler runs.
    """
    known = resource(name)
    if known is None or not pool.resources or cluster.observed:
        return False
    if HAMI_SCHEDULER in cluster.schedulers and name in HAMI_PARTS:
        return NAMES[HAMI].cards in pool.resources
    sharing = {each for target in cluster.targets.values() for each in target.card_vendors}
    return any(_shares(pool, name, each) for each in known.offered_by if each in sharing)


def _shares(pool: Pool, name: str, sharing: str) -> bool:
    """Whether a vendor's software shares the pool's cards as `name`: cards of one maker, or any."""
    from policykit.catalogue.cards import vendor

    software = vendor(sharing)
    if software is None or not software.hardware:
        return name.startswith(_FOR_ANY_CARD) or _same_domain(pool, name)
    vendors = (known.vendor for one in pool.resources if (known := resource(one)))
    return any(found is not None and found.hardware == software.hardware for found in map(vendor, vendors))


def _same_domain(pool: Pool, name: str) -> bool:
    """Resources such as huawei.com/npu-core share the cards of the vendor with the same domain."""
    domain = name.partition("/")[0]
    return any(one.partition("/")[0] == domain for one in pool.resources)


def eligible_pools(
    cluster: Cluster,
    workload: WorkloadKind | None,
    card_resources: Sequence[str],
    products: Sequence[str],
) -> tuple[Pool, ...] | None:
    """The pools that the policy allows, in its order; None if it does not cover the pod set."""
    if card_resources:
        offering = [
            p for p in cluster.pools if all(offers(cluster, p, r) or _lists(p, r) for r in card_resources)
        ]
        if products:
            offering = [p for p in offering if product_of(cluster, p) in products]
        if workload is None:
            return tuple(offering)
        return tuple(p for p in offering if is_allowed(workload, p))
    if workload is None:
        return None
    return helper_pools(cluster, workload)


def helper_pools(cluster: Cluster, workload: WorkloadKind) -> tuple[Pool, ...]:
    """The pools for its pods that request no card: those listed, else those without cards and without a usage
    that only other workloads have. A usage such as `system` is nobody's."""
    if workload.helpers is not None:
        return tuple(p for p in cluster.pools if p.name in workload.helpers)
    others = _workload_usages(cluster).difference(workload.usages) if workload.usages else ()
    return tuple(p for p in cluster.pools if not p.card and p.usage not in others)


@memoize_beside
def _workload_usages(cluster: Cluster) -> frozenset[str]:
    """The usages that say which workloads a pool is for: the two that every policy knows, those of workload
    kinds, and those of pools with cards."""
    kinds = (usage for kind in cluster.workloads.values() for usage in kind.usages)
    cards = (pool.usage for pool in cluster.pools if pool.card and pool.usage)
    return frozenset({"training", "inference", *kinds, *cards})


def is_allowed(workload: WorkloadKind, pool: Pool) -> bool:
    """Whether the policy allows the usage and card of the pool for the workload kind."""
    usage = not workload.usages or pool.usage in workload.usages
    return usage and (workload.cards is None or pool.card in workload.cards)


def uses_no_card(cluster: Cluster, workload: WorkloadKind) -> bool:
    """Whether the kind is declared without cards, or no pool it may use has cards."""
    return workload.cards == () or not any(pool.card for pool in cluster.pools if is_allowed(workload, pool))


def cards_by_resource(cluster: Cluster, workload: WorkloadKind) -> dict[str, tuple[str, ...]]:
    """Card resource to the cards that pods of a kind get with it, where there are several."""
    found: dict[str, dict[str, None]] = {}
    for pool in cluster.pools:
        if pool.card and is_allowed(workload, pool):
            for name in pool.resources:
                found.setdefault(name, {})[pool.card] = None
    return {name: tuple(cards) for name, cards in found.items() if len(cards) > 1}


def product_of(cluster: Cluster, pool: Pool) -> str:
    """Value of the product label on the pool's nodes; empty if there is none."""
    card = cluster.card_of(pool)
    return pool.labels.get(card.product_key, card.product) if card and card.product_key else ""


def named_products(
    cluster: Cluster, tolerations: tuple[Toleration, ...], affinity: NodeAffinity
) -> tuple[str, ...]:
    """Products named by selector or required affinity, else by Equal tolerations."""
    keys = product_keys(cluster)
    selected = [value for key in keys for value in selected_values(affinity, key)]
    if selected:
        return tuple(dict.fromkeys(selected))
    return tuple(dict.fromkeys(v for key in keys for v in tolerated_values(tolerations, key)))


@memoize_beside
def product_keys(cluster: Cluster) -> tuple[str, ...]:
    """Keys of labels with the model of a card of the policy."""
    return tuple(dict.fromkeys(card.product_key for card in cluster.cards.values() if card.product_key))
