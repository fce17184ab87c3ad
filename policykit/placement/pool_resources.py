"""What a pool offers: its own card resources, and the names that a scheduler shares its cards by."""

from __future__ import annotations

from policykit.catalogue.resources import resource
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool

_VGPU_MAKER = "nvidia-volcano"
"""Catalogue vendor of the names that Volcano's vGPU device plugin offers."""
_OF_ANY_CARD = ("koordinator.sh/", "kubernetes.io/")


def offers(cluster: Cluster, pool: Pool, name: str) -> bool:
    """Whether a card resource is the pool's own, or its cards are shared under that name."""
    return name in pool.resources or offers_shared(cluster, pool, name)


def offers_shared(cluster: Cluster, pool: Pool, name: str) -> bool:
    """Whether a target of the policy offers cards of the pool by `name`; how many is not known.

    koordlet and koord-manager write the koordinator.sh device family to every node with cards,
    whichever scheduler reads it; Volcano's vGPU plugin stands where the policy says `vgpu: true`.
    Real nodes list what they offer.
    """
    known = resource(name)
    if known is None or not pool.resources or cluster.observed:
        return False
    if known.vendor == _VGPU_MAKER:
        volcano = cluster.targets.get("volcano")
        return volcano is not None and bool(volcano.options.get("vgpu")) and _has_cards_of(pool, known.vendor)
    if "koordinator" not in cluster.targets or "koordinator" not in known.offered_by:
        return False
    return name.startswith(_OF_ANY_CARD) or _same_domain(pool, name)


def _has_cards_of(pool: Pool, maker: str) -> bool:
    from policykit.catalogue.products import vendor

    wanted = vendor(maker)
    made = (known.vendor for one in pool.resources if (known := resource(one)))
    return wanted is not None and any(
        found is not None and found.hardware == wanted.hardware for found in map(vendor, made)
    )


def _same_domain(pool: Pool, name: str) -> bool:
    """huawei.com/npu-core and its kind: the maker's own cards."""
    domain = name.partition("/")[0]
    return any(one.partition("/")[0] == domain for one in pool.resources)
