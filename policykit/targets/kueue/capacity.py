"""Which resources the queues share out, and how much of each a flavor has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from policykit.model.cluster import Cluster
from policykit.targets.capacity import offered_resources, total_capacity
from policykit.targets.kueue.flavors import PoolFlavor

_ALWAYS = ("cpu", "memory")
"""Resources that every node has, whether or not the policy says how much."""
_ON_REQUEST = frozenset({"pods"})
"""Resources that every pod uses: covered only if a queue limits them."""


class Capacity(NamedTuple):
    """Resources that quotas cover, and what each flavor has of them."""

    resources: tuple[str, ...]
    """cpu and memory first, others by name."""
    flavors: Mapping[str, Mapping[str, int | None]]
    """Flavor to covered resource to its amount; None: unknown."""

    def shares(self, amount: int, resource: str, flavors: Sequence[str]) -> dict[str, int]:
        """An amount split over flavors as they have the resource; equally where that is unknown.

        The parts add up to the amount; it is lost where no flavor has the resource.
        """
        there = {name: self.flavors[name].get(resource) for name in flavors}
        if any(number is None for number in there.values()):
            weights = {name: 0 if number == 0 else 1 for name, number in there.items()}
        else:
            weights = {name: number or 0 for name, number in there.items()}
        return _split(amount, weights)


def of_flavors(cluster: Cluster, flavors: Sequence[PoolFlavor]) -> Capacity:
    """Of the pools of each flavor, autoscaled ones at their largest."""
    wanted = {
        resource
        for queue in cluster.queues
        for amounts in (queue.guarantee, queue.deserved, queue.limit)
        for resource in amounts
    }
    covered = wanted | (offered_resources(cluster) - _ON_REQUEST)
    ordered = (*(name for name in _ALWAYS if name in covered), *sorted(covered - {*_ALWAYS}))
    amounts = {each.flavor.name: _amounts(cluster, each, ordered) for each in flavors}
    return Capacity(tuple(ordered), amounts)


def _amounts(cluster: Cluster, flavor: PoolFlavor, resources: Sequence[str]) -> dict[str, int | None]:
    part = cluster._replace(pools=flavor.pools)
    known, offered = total_capacity(part), offered_resources(part)
    return {
        resource: known.get(resource, None if resource in offered or resource in _ALWAYS else 0)
        for resource in resources
    }


def _split(amount: int, weights: Mapping[str, int]) -> dict[str, int]:
    """In proportion to the weights, the largest remainders rounded up."""
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(weights, 0)
    parts = {name: amount * weight // total for name, weight in weights.items()}
    rest = amount - sum(parts.values())
    by_remainder = sorted(weights, key=lambda name: -(amount * weights[name] % total))
    for name in by_remainder[:rest]:
        parts[name] += 1
    return parts
