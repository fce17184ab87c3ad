"""The weights by which YuniKorn's node order packs cards."""

from __future__ import annotations

from math import lcm

from policykit.model.cluster import Cluster
from policykit.targets import fleet
from policykit.targets.yunikorn.configuration.resources import CORES

LARGEST = 10_000
"""Of a weight: nodes of so many different sizes are not worth more."""
_BESIDE = {CORES: 1.0, "memory": 1.0}


def weights(cluster: Cluster) -> dict[str, float]:
    """Weights by which one card more or less outweighs all of vcore and memory; empty without cards."""
    sizes = cards_per_node(cluster)
    if not sizes:
        return {}
    cards = {resource: min(len(_BESIDE) * lcm(*counts) + 1, LARGEST) for resource, counts in sizes.items()}
    return {**_BESIDE, **{resource: float(weight) for resource, weight in cards.items()}}


def cards_per_node(cluster: Cluster) -> dict[str, list[int]]:
    """Card resource to the distinct numbers of it on a node, rising, unknown ones as assumed."""
    sizes = fleet.cards_per_node(cluster)
    return {resource: fleet.assumed(counts) for resource, counts in sizes.items() if counts}
