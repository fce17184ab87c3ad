"""What the pools offer to Volcano's scores: card resources, and how many of each a node has."""

from __future__ import annotations

from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape

ASSUMED_CARDS = 16
"""Cards per node where neither the policy nor the catalogue says: no common server holds more."""
SCORED_NODES = 100
"""Up to so many nodes are all scored, beyond only a sample, unless the scheduler is told otherwise."""
_REPLICATED = frozenset({"time-slicing", "mps"})


def cards_per_node(cluster: Cluster) -> dict[str, tuple[int, ...]]:
    """Card resource to the distinct numbers of it on a node, rising; 0 stands for an unknown one."""
    sizes: dict[str, set[int]] = {}
    for pool in cluster.pools:
        for resource in _resources(cluster, pool):
            found = sizes.setdefault(resource, set())
            found.update(_on_node(cluster, pool, shape, resource) for shape in pool.shapes)
    return {resource: tuple(sorted(sizes[resource])) for resource in sorted(sizes)}


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
