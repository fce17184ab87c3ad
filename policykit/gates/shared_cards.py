"""Whether a node has as many cards as one container requests shares of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit.gates import REFUSED, Gate
from policykit.kube.requests import containers, requested
from policykit.model.shared_cards import HAMI_MODE, NAMES
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster
    from policykit.model.pool import Pool


class Crowded(NamedTuple):
    """A container with more shares than any node has cards."""

    resource: str
    asked: int
    cards: int

    def message(self, nodes: str) -> str:
        """`nodes`: whose cards those are, in words."""
        wanted = f"a container requests {self.asked} {self.resource}, which come from different cards"
        return f"{wanted}, but {nodes} have at most {self.cards}"


def crowded(review: Review, cluster: Cluster) -> Iterator[Crowded]:
    """If that holds for every pool with room: the shares of a container come from different cards.

    Source: `CustomFilterRule` and `Fit` of HAMi (2.4 to 2.7), which takes slices of MIG from one card;
    `checkNodeGPUSharingPredicate` of Volcano (1.8 to 1.15).
    """
    pools = review.possible_pools
    if not pools or any(pool.sharing.mode not in NAMES for pool in pools) or review.selects_unlisted_machine:
        return
    cards = [_cards(cluster, pool) for pool in pools]
    if not all(cards) or _MIG in review.pod_set.annotations.get(HAMI_MODE, ""):
        return
    containers_ask = [requested(container) for _, _, container in containers(review.pod_set.spec)]
    for name in sorted({NAMES[pool.sharing.mode].cards for pool in pools}):
        most = max((asked.get(name, 0) for asked in containers_ask), default=0)
        if most > max(cards):
            yield Crowded(name, most, max(cards))


_MIG = "mig"


def gates(review: Review, cluster: Cluster) -> Iterator[Gate]:
    """Refused."""
    for found in crowded(review, cluster):
        yield Gate("cards", REFUSED, found.message("nodes"))


def _cards(cluster: Cluster, pool: Pool) -> int:
    """Cards of its largest node; 0: unknown."""
    card = cluster.card_of(pool)
    if card is None:
        return 0
    stated = max((shape.allocatable.get(card.resource, 0) for shape in pool.shapes), default=0)
    return stated // (pool.sharing.replicas or 1) or card.per_node
