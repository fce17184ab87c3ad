"""What the pools offer to the scores of kube-scheduler: cards per node, and how many nodes."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape
from policykit.model.workload import WorkloadKind

ASSUMED_CARDS = 16
"""Cards per node where neither the policy nor the catalogue says: no common server holds more."""
SCORED_NODES = 100
"""Up to so many nodes are all scored, beyond only a share, unless the configuration says otherwise."""
_REPLICATED = frozenset({"time-slicing", "mps"})


def cards_per_node(cluster: Cluster, kinds: Sequence[WorkloadKind]) -> dict[str, tuple[int, ...]]:
    """Card resource that these kinds may use to the numbers of it on a node, rising; 0: unknown.

    All cards of the cluster where no kind is given.
    """
    sizes: dict[str, set[int]] = {}
    for pool in cluster.pools:
        if kinds and not any(_uses(kind, pool) for kind in kinds):
            continue
        for resource in _resources(cluster, pool):
            found = sizes.setdefault(resource, set())
            found.update(_on_node(cluster, pool, shape, resource) for shape in pool.shapes)
    return {resource: tuple(sorted(sizes[resource])) for resource in sorted(sizes)}


def _uses(kind: WorkloadKind, pool: Pool) -> bool:
    usage = not kind.usages or pool.usage in kind.usages
    return usage and (kind.cards is None or pool.card in kind.cards)


def _resources(cluster: Cluster, pool: Pool) -> tuple[str, ...]:
    card = cluster.card_of(pool)
    return pool.resources or ((card.resource,) if card else ())


def _on_node(cluster: Cluster, pool: Pool, shape: Shape, resource: str) -> int:
    stated = shape.allocatable.get(resource, 0)
    card = cluster.card_of(pool)
    if stated or card is None:
        return stated
    if pool.sharing.mode in _REPLICATED:
        return card.per_node * pool.sharing.replicas
    return card.per_node if resource == card.resource else 0


def node_total(cluster: Cluster) -> int:
    """Nodes the pools may have, an autoscaled pool at its largest where that is stated."""
    return sum(
        max(shape.minimum, shape.maximum or 0, len(shape.node_names))
        for pool in cluster.pools
        for shape in pool.shapes
    )
