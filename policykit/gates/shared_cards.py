"""Whether a node has as many cards as one container requests shares of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit.gates import REFUSED, Gate
from policykit.kube.requests import containers, requested
from policykit.model.shared_cards import NAMES
from policykit.placement.review import Review

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster
    from policykit.model.pool import Pool


def gates(review: Review, cluster: Cluster) -> Iterator[Gate]:
    """Refused if that holds for every pool with room: the shares of a container come from different cards.

    Source: `CustomFilterRule` and `Fit` of HAMi (2.4 to 2.7); `checkNodeGPUSharingPredicate` of Volcano
    (1.8 to 1.15).
    """
    pools = review.possible_pools
    if not pools or any(pool.sharing.mode not in NAMES for pool in pools) or review.selects_unlisted_machine:
        return
    names = {NAMES[pool.sharing.mode].cards for pool in pools}
    cards = [_cards(cluster, pool) for pool in pools]
    asked = [requested(container) for _, _, container in containers(review.pod_set.spec)]
    for name in sorted(names):
        most = max((each.get(name, 0) for each in asked), default=0)
        if all(cards) and most > max(cards):
            detail = (
                f"a container requests {most} {name}, which come from different cards, but nodes have at "
                f"most {max(cards)}"
            )
            yield Gate("cards", REFUSED, detail)


def _cards(cluster: Cluster, pool: Pool) -> int:
    """Cards of its largest node; 0: unknown."""
    card = cluster.card_of(pool)
    if card is None:
        return 0
    stated = max((shape.allocatable.get(card.resource, 0) for shape in pool.shapes), default=0)
    return stated // (pool.sharing.replicas or 1) or card.per_node
