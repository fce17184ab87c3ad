"""Cards per node of the pools, and the weights that pack them."""

from __future__ import annotations

from math import lcm

from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape
from policykit.targets.yunikorn.resources import CORES

ASSUMED_CARDS = 16
"""Cards per node where neither the policy nor the catalogue says: no common server holds more."""
LARGEST = 10_000
"""Of a weight: nodes of so many different sizes are not worth more."""
_BESIDE = {CORES: 1.0, "memory": 1.0}
_REPLICATED = frozenset({"time-slicing", "mps"})


def weights(cluster: Cluster) -> dict[str, float]:
    """Weights by which one card more or less outweighs all of vcore and memory; empty without cards."""
    sizes = cards_per_node(cluster)
    if not sizes:
        return {}
    cards = {resource: min(len(_BESIDE) * lcm(*counts) + 1, LARGEST) for resource, counts in sizes.items()}
    return {**_BESIDE, **{resource: float(weight) for resource, weight in cards.items()}}


def cards_per_node(cluster: Cluster) -> dict[str, tuple[int, ...]]:
    """Card resource to the distinct numbers of it on a node, rising."""
    found: dict[str, set[int]] = {}
    for pool in cluster.pools:
        card = cluster.card_of(pool)
        for resource in pool.resources or ((card.resource,) if card else ()):
            numbers = (_on_node(cluster, pool, shape, resource) for shape in pool.shapes)
            found.setdefault(resource, set()).update(number or ASSUMED_CARDS for number in numbers)
    return {resource: tuple(sorted(found[resource])) for resource in sorted(found) if found[resource]}


def _on_node(cluster: Cluster, pool: Pool, shape: Shape, resource: str) -> int:
    stated = shape.allocatable.get(resource, 0)
    card = cluster.card_of(pool)
    if stated or card is None:
        return stated
    if pool.sharing.mode in _REPLICATED:
        return card.per_node * pool.sharing.replicas
    return card.per_node if resource == card.resource else 0
