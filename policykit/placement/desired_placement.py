"""The desired placement of a workload kind on a card, for patches and fixes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policykit.model.cluster import Cluster
from policykit.model.pool import Card, Pool, Toleration
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.placement.eligible_pools import helper_pools, is_allowed, product_of
from policykit.placement.landing import injected


class DesiredPlacement(NamedTuple):
    """Required expressions (one term, ANDed), preferred usages, and tolerations."""

    pools: tuple[Pool, ...]
    """The matching pools in the order of the policy; empty if there are none."""
    required: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(node label key, values) of In expressions."""
    alternatives: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...] = ()
    """The same under former keys: further terms, of which one suffices."""
    preferred: tuple[tuple[int, str, str], ...] = ()
    """(weight, node label key, value)."""
    tolerations: tuple[Toleration, ...] = ()


def desired_placement(cluster: Cluster, workload: WorkloadKind, card: Card | None) -> DesiredPlacement:
    """The placement of a workload kind on a card; without a card, that of its helpers.

    It has required affinity on the usages, preferred terms, and one Equal toleration for each taint
    value. Affinity on the product is added only if a usable pool lacks the product taint; otherwise
    the taints already exclude other cards.
    """
    pools = _pools(cluster, workload, card)
    required: list[tuple[str, tuple[str, ...]]] = []
    usages = workload.usages if card else tuple(dict.fromkeys(p.usage for p in pools if p.usage))
    if cluster.usage_key and usages:
        required.append((cluster.usage_key, tuple(usages)))
    if card and card.product_key and card.product and _untainted(cluster, workload, card):
        products = tuple(dict.fromkeys(product_of(cluster, pool) for pool in pools))
        required.append((card.product_key, products))
    preferred = tuple(
        (weight, cluster.usage_key, usage)
        for usage, weight in workload.prefer.items()
        if cluster.usage_key and card and any(pool.usage == usage for pool in pools)
    )
    accepted = tuple((key, _with_former(cluster, key, values)) for key, values in required)
    tolerations = _tolerations(cluster, workload, card, pools)
    return DesiredPlacement(
        pools, accepted, _former_terms(cluster, accepted), preferred, _former(cluster, tolerations)
    )


def _with_former(cluster: Cluster, key: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """The values, then their former ones."""
    former = (old for value in values for old in cluster.formerly.former_values(key, value))
    return tuple(dict.fromkeys((*values, *former)))


def _former_terms(
    cluster: Cluster, required: tuple[tuple[str, tuple[str, ...]], ...]
) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], ...]:
    """The expressions with each former key of one of them."""
    return tuple(
        tuple((old if one == key else one, values) for one, values in required)
        for key, _ in required
        for old in cluster.formerly.former_keys(key)
    )


def _former(cluster: Cluster, tolerations: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    """The tolerations, then those of former taints."""
    former = (
        toleration._replace(key=key, value=value)
        for toleration in tolerations
        for key, value in cluster.formerly.spellings(toleration.key, toleration.value)
    )
    return tuple(dict.fromkeys((*tolerations, *former)))


def affinity_data(placement: DesiredPlacement) -> dict[str, Any]:
    """The nodeAffinity of a PodSpec as plain data; empty if there are no conditions."""
    node_affinity: dict[str, Any] = {}
    if placement.required:
        terms = [
            {"matchExpressions": [expression(key, values) for key, values in term]}
            for term in (placement.required, *placement.alternatives)
        ]
        node_affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if placement.preferred:
        node_affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": weight, "preference": {"matchExpressions": [expression(key, (value,))]}}
            for weight, key, value in placement.preferred
        ]
    return node_affinity


def expression(key: str, values: Iterable[str]) -> dict[str, Any]:
    """`key In values` as an item of matchExpressions."""
    return {"key": key, "operator": "In", "values": list(values)}


def _pools(cluster: Cluster, workload: WorkloadKind, card: Card | None) -> tuple[Pool, ...]:
    if card is None:
        return helper_pools(cluster, workload)
    return tuple(p for p in cluster.pools if p.card == card.name and is_allowed(workload, p))


def _untainted(cluster: Cluster, workload: WorkloadKind, card: Card) -> bool:
    """Whether a pool with an allowed usage and the card's resource lacks the product taint."""
    return any(
        not any(taint.key == card.product_key for taint in pool.hard_taints)
        for pool in cluster.pools
        if card.resource in pool.resources and (not workload.usages or pool.usage in workload.usages)
    )


def _tolerations(
    cluster: Cluster, workload: WorkloadKind, card: Card | None, pools: tuple[Pool, ...]
) -> tuple[Toleration, ...]:
    """One for each hard taint of the pools: first usages in the order of the kind, then others."""
    requests = {card.resource: 1} if card else {}
    found: dict[Toleration, tuple[int, int]] = {}
    for pool in pools:
        given = set(injected(pool, requests))
        for taint in pool.hard_taints:
            operator = "Equal" if taint.value else "Exists"
            toleration = Toleration(taint.key, operator, taint.value, taint.effect)
            if any(
                t.key == taint.key and t.operator == "Exists" and t.effect in ("", taint.effect)
                for t in given
            ):
                continue
            rank = (1, 0)
            if taint.key == cluster.usage_key and taint.value in workload.usages:
                rank = (0, workload.usages.index(taint.value))
            found.setdefault(toleration, rank)
    return tuple(sorted(found, key=lambda t: found[t]))
