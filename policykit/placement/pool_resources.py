"""Resources that a pool offers: its own, and names under which schedulers share its cards."""

from __future__ import annotations

from policykit.catalogue.resources import resource
from policykit.model.cluster import Cluster
from policykit.model.pool import Pool

_VGPU_VENDOR = "nvidia-volcano"
"""Catalogue vendor of the resources of Volcano's vGPU device plugin."""
_FOR_ANY_CARD = ("koordinator.sh/", "kubernetes.io/")


def offers(cluster: Cluster, pool: Pool, name: str) -> bool:
    """Whether a card resource belongs to the pool, or its cards are shared under that name."""
    return name in pool.resources or offers_shared(cluster, pool, name)


def offers_shared(cluster: Cluster, pool: Pool, name: str) -> bool:
    """Whether a target of the policy shares cards of the pool as `name`; the amount is unknown.

    koordlet and koord-manager add the koordinator.sh device resources to every node with cards,
    whichever scheduler uses them; Volcano's vGPU plugin runs if the policy sets `vgpu: true`.
    Real nodes list all their resources.
    """
    known = resource(name)
    if known is None or not pool.resources or cluster.observed:
        return False
    if known.vendor == _VGPU_VENDOR:
        volcano = cluster.targets.get("volcano")
        return volcano is not None and bool(volcano.options.get("vgpu")) and _has_cards_of(pool, known.vendor)
    if "koordinator" not in cluster.targets or "koordinator" not in known.offered_by:
        return False
    return name.startswith(_FOR_ANY_CARD) or _same_domain(pool, name)


def _has_cards_of(pool: Pool, name: str) -> bool:
    from policykit.catalogue.products import vendor

    expected = vendor(name)
    vendors = (known.vendor for one in pool.resources if (known := resource(one)))
    return expected is not None and any(
        found is not None and found.hardware == expected.hardware for found in map(vendor, vendors)
    )


def _same_domain(pool: Pool, name: str) -> bool:
    """Resources such as huawei.com/npu-core share the cards of the vendor with the same domain."""
    domain = name.partition("/")[0]
    return any(one.partition("/")[0] == domain for one in pool.resources)
