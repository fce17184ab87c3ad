"""What a policy makes of a pod set: its workload kind, the pools meant for it, every pool's verdict."""

from __future__ import annotations

from policykit.kube.affinity import NodeAffinity
from policykit.model.cluster import Cluster
from policykit.model.pool import Amounts, Pool
from policykit.model.taint import Toleration
from policykit.model.workload import WorkloadKind
from policykit.placement.asking import unreadable
from policykit.placement.landing import land
from policykit.placement.meant import meant_pools, stated_products
from policykit.placement.recognition import recognise
from policykit.placement.review import Review
from policykit.placement.verdict import Landing


def judged(plain: Review, cluster: Cluster, namespace: str) -> Review:
    """The review of a pod set with all that the policy says of it."""
    tolerated, affinity, cards = plain.tolerations, plain.affinity, plain.card_resources
    recognised = recognise(
        cluster, plain.manifest, plain.pod_set, tolerated, affinity, bool(cards), namespace
    )
    products = stated_products(cluster, tolerated, affinity)
    return plain._replace(
        cluster=cluster,
        workload=recognised.workload,
        decided_by=recognised.decided_by if recognised.workload else "",
        candidates=recognised.candidates,
        products=products,
        meant=_meant(cluster, plain, recognised.workload, products),
        landings=landings(cluster, tolerated, affinity, plain.requests),
    )


def landings(
    cluster: Cluster, tolerated: tuple[Toleration, ...], affinity: NodeAffinity, asked: Amounts
) -> tuple[Landing, ...]:
    """Every pool's verdict; of the accepting pools, those with the highest score are preferred."""
    found = [land(cluster, pool, tolerated, affinity, asked) for pool in cluster.pools]
    best = max((landing.score for landing in found if landing.accepts), default=0)
    return tuple(
        landing._replace(verdict="preferred") if landing.accepts and 0 < landing.score == best else landing
        for landing in found
    )


def _meant(
    cluster: Cluster, plain: Review, workload: WorkloadKind | None, products: tuple[str, ...]
) -> tuple[Pool, ...] | None:
    claims = plain.pod_set.spec.get("resourceClaims")
    if not plain.card_resources and (claims or unreadable(plain.pod_set, cluster)):
        return None  # a claim may be for a card, and for which one only its DeviceClass says
    return meant_pools(cluster, workload, plain.card_resources, products)
