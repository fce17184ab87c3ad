"""What the pools offer to a scheduler's scores: cards on a node, and how many nodes."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape

ASSUMED_CARDS = 16
"""Cards per node if neither the policy nor the catalogue says: no common server has more."""
SCORED_NODES = 100
"""By default kube-scheduler and Volcano score all nodes up to this number, and a sample of more."""
_REPLICATED = frozenset({"time-slicing", "mps"})


def cards_per_node(cluster: Cluster, pools: Iterable[Pool] | None = None) -> dict[str, tuple[int, ...]]:
    """Card resource to the distinct numbers of it on a node, rising; 0: unknown. All pools by default."""
    sizes: dict[str, set[int]] = {}
    for pool in cluster.pools if pools is None else pools:
        for resource in card_resources(cluster, pool):
            found = sizes.setdefault(resource, set())
            found.update(_on_node(cluster, pool, shape, resource) for shape in pool.shapes)
    return {resource: tuple(sorted(sizes[resource])) for resource in sorted(sizes)}


def most_cards(cluster: Cluster) -> dict[str, int]:
    """Card resource to the largest number of it on a node, sorted by name.

    What the nodes of a pool state goes before the catalogue, so one shape that states it is enough.
    """
    sizes: dict[str, int] = {}
    for pool in cluster.pools:
        for resource in card_resources(cluster, pool):
            stated = max((shape.allocatable.get(resource, 0) for shape in pool.shapes), default=0)
            sizes[resource] = max(sizes.get(resource, 0), stated or _usual(cluster, pool, resource))
    return {resource: sizes[resource] or ASSUMED_CARDS for resource in sorted(sizes)}


def assumed(sizes: Iterable[int]) -> list[int]:
    """Distinct numbers of cards, rising, with the assumed one in place of an unknown."""
    return sorted({size or ASSUMED_CARDS for size in sizes})


def card_resources(cluster: Cluster, pool: Pool) -> tuple[str, ...]:
    """Resources under which the pool offers its cards; empty for a pool without cards."""
    card = cluster.card_of(pool)
    return pool.resources or ((card.resource,) if card else ())


def node_total(cluster: Cluster) -> int:
    """Nodes the pools may have, an autoscaled pool at its largest where that is stated."""
    return sum(
        max(shape.minimum, shape.maximum or 0, len(shape.node_names))
        for pool in cluster.pools
        for shape in pool.shapes
    )


def _on_node(cluster: Cluster, pool: Pool, shape: Shape, resource: str) -> int:
    return shape.allocatable.get(resource, 0) or _usual(cluster, pool, resource)


def _usual(cluster: Cluster, pool: Pool, resource: str) -> int:
    """As the card's product comes; replicas are counted under whatever name the pool offers them."""
    card = cluster.card_of(pool)
    if card is None:
        return 0
    if pool.sharing.mode in _REPLICATED:
        return card.per_node * pool.sharing.replicas
    return card.per_node if resource == card.resource else 0
