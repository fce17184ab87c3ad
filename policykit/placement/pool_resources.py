"""Resources that a pool offers: its own, and names under which schedulers share its cards."""

from __future__ import annotations

from policykit.catalogue.resources import resource
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool

_FOR_ANY_CARD = ("koordinator.sh/", "kubernetes.io/")


def offers(cluster: Cluster, pool: Pool, name: str) -> bool:
    """Whether a card resource belongs to the pool, or its cards are shared under that name."""
    return name in pool.resources or offers_shared(cluster, pool, name)


def offers_shared(cluster: Cluster, pool: Pool, name: str) -> bool:
    """Whether a target of the policy shares cards of the pool as `name`; the amount is unknown.

    Koordinator's agents add its device resources to every node with cards, whichever scheduler uses
    them; a device plugin serves the cards of one maker. Real nodes list all their resources.
    """
    known = resource(name)
    if known is None or not pool.resources or cluster.observed:
        return False
    sharing = {each for target in cluster.targets.values() for each in target.card_vendors}
    return any(_shares(pool, name, each) for each in known.offered_by if each in sharing)


def _shares(pool: Pool, name: str, sharing: str) -> bool:
    """Whether a vendor's software shares the pool's cards as `name`: cards of one maker, or any."""
    from policykit.catalogue.cards import vendor

    software = vendor(sharing)
    if software is None or not software.hardware:
        return name.startswith(_FOR_ANY_CARD) or _same_domain(pool, name)
    vendors = (known.vendor for one in pool.resources if (known := resource(one)))
    return any(found is not None and found.hardware == software.hardware for found in map(vendor, vendors))


def _same_domain(pool: Pool, name: str) -> bool:
    """Resources such as huawei.com/npu-core share the cards of the vendor with the same domain."""
    domain = name.partition("/")[0]
    return any(one.partition("/")[0] == domain for one in pool.resources)
