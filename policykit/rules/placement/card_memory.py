"""Comparisons of the memory of cards that no card of the policy meets, for the rule about affinity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.kube.selectors import Requirement, int64

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster

_DRIVERS = 50
"""What cards report differs between drivers by less than this part of it."""


def beyond_all_cards(cluster: Cluster | None, requirement: Requirement) -> tuple[str, str, bool] | None:
    """A message, an advice, and that the rule only warns. Partitions report less than their card."""
    number = int64(requirement.values[0]) if len(requirement.values) == 1 else None
    if cluster is None or not cluster.complete or number is None or requirement.operator not in ("Gt", "Lt"):
        return None
    found: dict[str, int] = {}
    for pool in cluster.pools:
        card = cluster.card_of(pool)
        if card is None:
            continue
        if card.memory_key != requirement.key or not card.memory_mib:
            return None
        if requirement.operator == "Lt" and pool.sharing.mode != "none":
            return None
        found[card.product or card.name] = card.memory_mib
    above = requirement.operator == "Gt"
    margins = [
        size + size // _DRIVERS <= number if above else size - size // _DRIVERS >= number
        for size in found.values()
    ]
    if not found or not all(margins):
        return None
    name, most = max(found.items(), key=lambda each: each[1] if above else -each[1])
    side = "more" if above else "less"
    message = f"no card of the pools has {side} than {number} MiB: {name} has {most}"
    return message, "compare with the memory of a card of the policy", False
