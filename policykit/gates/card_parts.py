"""Whether a pool that takes a pod has the card of which the pod requests a part by an annotation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policykit.catalogue.resources import is_card
from policykit.gates import REFUSED, Gate
from policykit.manifests.shape import digits
from policykit.namedtuple import NamedTuple
from policykit.placement.review import Review
from policykit.targets import target_name_of, target_of

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


class Missing(NamedTuple):
    """What no pool has."""

    key: str
    """The annotation that requests it."""
    message: str


def missing(review: Review, cluster: Cluster) -> Missing | None:
    """Of a policy that lists all pools.

    Source: `gpu_sharing_node_info.go` in pkg/scheduler/api/node_info of KAI-Scheduler (0.6 to 0.20).
    """
    scheduler, stated = review.pod_set.scheduler_name, review.pod_set.annotations
    target = target_of(target_name_of(scheduler, cluster)) if scheduler else None
    keys = target.card_parts if target is not None else ()
    key = next((each for each in keys if each in stated), "")
    pools = review.possible_pools if key and cluster.complete else ()
    if not pools or review.selects_unlisted_machine:
        return None
    there = [pool for pool in pools if any(map(is_card, pool.resources))]
    if not there:
        return Missing(key, f"{key} requests part of a card, but no pool that takes the pod has cards")
    cards = [cluster.card_of(pool) for pool in there]
    sizes = [(card.memory_mib or 0) if card is not None else 0 for card in cards]
    wanted = digits(stated[key]) if key == keys[-1] else None
    if wanted and all(sizes) and wanted > max(sizes):
        return Missing(key, f"{key} is {wanted}, but the cards of the pools have at most {max(sizes)} MiB")
    return None


def gates(review: Review, cluster: Cluster) -> Iterator[Gate]:
    """A gate that refuses the pods, where no pool has the card."""
    if found := missing(review, cluster):
        yield Gate("cards", REFUSED, found.message)
