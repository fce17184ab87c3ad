"""Total capacity of the pools of a policy, with autoscaled pools at their maximum."""

from __future__ import annotations

from policykit.catalogue.resources import is_card
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool, Shape
from policykit.targets.fleet import card_resources


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


def _in_shape(cluster: Cluster, pool: Pool, shape: Shape, resource: str) -> int | None:
    """None: unknown. Allocatable of the nodes takes precedence over the usual number of cards."""
    if shape.maximum is None:
        return None
    each = shape.allocatable.get(resource)
    if each is None:
        each = _usual(cluster, pool, shape, resource)
    return None if each is None else each * shape.maximum


def _usual(cluster: Cluster, pool: Pool, shape: Shape, resource: str) -> int | None:
    """Of what the nodes do not state."""
    if resource not in card_resources(cluster, pool):
        absent = "/" in resource and (shape.allocatable or is_card(resource))
        return 0 if absent else None
    card = cluster.card_of(pool)
    whole = card is not None and resource == card.resource and pool.sharing.mode == "none"
    return card.per_node or None if card and whole else None
