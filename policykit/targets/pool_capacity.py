"""What the pools of a policy offer: cards on a node, nodes, and the total of each resource."""

from __future__ import annotations

from collections.abc import Iterable

from policykit.catalogue.resources import is_card
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape

ASSUMED_CARDS = 16
"""Cards per node if neither the policy nor the catalogue says: no common server has more."""
SCORED_NODES = 100
"""By default kube-scheduler and Volcano score all nodes up to this number, and a sample of more."""
_REPLICATED = frozenset({"time-slicing", "mps"})


def cards_per_node(cluster: Cluster, pools: Iterable[Pool] | None = None) -> dict[str, tuple[int, ...]]:
    """Card resource to its distinct numbers per node, ascending; 0: unknown. All pools by default."""
    sizes: dict[str, set[int]] = {}
    for pool in cluster.pools if pools is None else pools:
        for resource in card_resources(cluster, pool):
            found = sizes.setdefault(resource, set())
            found.update(_on_node(cluster, pool, shape, resource) for shape in pool.shapes)
    return {resource: tuple(sorted(sizes[resource])) for resource in sorted(sizes)}


def most_cards(cluster: Cluster) -> dict[str, int]:
    """Card resource to the largest number of it on a node, sorted by name.

    Allocatable amounts of a pool take precedence over the catalogue, so one shape that has them is enough.
    """
    sizes: dict[str, int] = {}
    for pool in cluster.pools:
        for resource in card_resources(cluster, pool):
            stated = max((shape.allocatable.get(resource, 0) for shape in pool.shapes), default=0)
            sizes[resource] = max(sizes.get(resource, 0), stated or _usual(cluster, pool, resource))
    return {resource: sizes[resource] or ASSUMED_CARDS for resource in sorted(sizes)}


def assumed(sizes: Iterable[int]) -> list[int]:
    """Distinct numbers of cards, ascending, with ASSUMED_CARDS for an unknown one."""
    return sorted({size or ASSUMED_CARDS for size in sizes})


def card_resources(cluster: Cluster, pool: Pool) -> tuple[str, ...]:
    """Resources under which the pool offers its cards; empty for a pool without cards."""
    card = cluster.card_of(pool)
    return pool.resources or ((card.resource,) if card else ())


def node_total(cluster: Cluster) -> int:
    """Largest number of nodes of all pools, as far as the policy states one."""
    return sum(
        max(shape.minimum, shape.maximum or 0, len(shape.node_names))
        for pool in cluster.pools
        for shape in pool.shapes
    )


def _on_node(cluster: Cluster, pool: Pool, shape: Shape, resource: str) -> int:
    return shape.allocatable.get(resource, 0) or _usual(cluster, pool, resource)


def _usual(cluster: Cluster, pool: Pool, resource: str) -> int:
    """Cards per node as the product is usually sold; with replicas, whatever the resource is called."""
    card = cluster.card_of(pool)
    if card is None:
        return 0
    if pool.sharing.mode in _REPLICATED:
        return card.per_node * pool.sharing.replicas
    return card.per_node if resource == card.resource else 0


def offered_resources(cluster: Cluster) -> frozenset[str]:
    """Every resource that some pool is known to have."""
    return frozenset(
        resource
        for pool in cluster.pools
        for resource in (
            *card_resources(cluster, pool),
            *(name for shape in pool.shapes for name in shape.allocatable),
        )
    )


def total_capacity(cluster: Cluster) -> dict[str, int]:
    """Resource to its total amount; resources with an unknown amount in some pool are omitted."""
    totals: dict[str, int] = {}
    unknown: set[str] = set()
    everything = offered_resources(cluster)
    for pool in cluster.pools:
        for shape in pool.shapes:
            for resource in everything:
                amount = _in_shape(cluster, pool, shape, resource)
                if amount is None:
                    unknown.add(resource)
                else:
                    totals[resource] = totals.get(resource, 0) + amount
    return {resource: totals[resource] for resource in sorted(totals) if resource not in unknown}


def capacity(cluster: Cluster, names: Iterable[str], resource: str) -> int | None:
    """The amount of a resource on all nodes of the pools with these names; None: unknown."""
    wanted = frozenset(names)
    amounts = [
        _in_shape(cluster, pool, shape, resource)
        for pool in cluster.pools
        if pool.name in wanted
        for shape in pool.shapes
    ]
    return None if None in amounts else sum(amount or 0 for amount in amounts)


def _in_shape(cluster: Cluster, pool: Pool, shape: Shape, resource: str) -> int | None:
    """Amount on all nodes of a shape; None: unknown."""
    if shape.maximum is None:
        return None
    each = shape.allocatable.get(resource)
    if each is None:
        each = _usual_amount(cluster, pool, shape, resource)
    return None if each is None else each * shape.maximum


def _usual_amount(cluster: Cluster, pool: Pool, shape: Shape, resource: str) -> int | None:
    """The amount on a node that states none; None: unknown."""
    if resource not in card_resources(cluster, pool):
        absent = "/" in resource and (shape.allocatable or is_card(resource))
        return 0 if absent else None
    card = cluster.card_of(pool)
    whole = card is not None and resource == card.resource and pool.sharing.mode == "none"
    return card.per_node or None if card and whole else None
