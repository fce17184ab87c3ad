"""The policy's reservations as Koordinator's: one object per pod, its owners, and where it is kept."""

from __future__ import annotations

from collections.abc import Iterator

from policykit.model.cluster import Cluster
from policykit.model.pool import Pool
from policykit.model.taint import Toleration
from policykit.model.tenant import Reservation
from policykit.placement.meant import may_use
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.placement.wanted import wanted
from policykit.targets.koordinator.objects.reservations import Owner, Reserved
from policykit.targets.koordinator.objects.resources import counted
from policykit.targets.release import Version

OF = "policykit.io/reservation"
"""Annotation of ours: the policy's reservation that an object is part of."""
PODS, TENANT, POOL = "policykit.io/pods", "policykit.io/tenant", "policykit.io/pool"
"""More of it, so that the policy can be read back."""

Terms = tuple[tuple[str, tuple[str, ...]], ...]


def kept(cluster: Cluster, scheduler: str, version: Version) -> tuple[tuple[Reserved, ...], tuple[str, ...]]:
    """Objects of every reservation of the policy, and notices; `scheduler` is Koordinator's schedulerName."""
    found: list[Reserved] = []
    notices: list[str] = []
    names = {reservation.name for reservation in cluster.reservations}
    for reservation in cluster.reservations:
        pools = _pools(cluster, reservation)
        required, unsaid = _where(cluster, reservation)
        notices += (*unsaid, *_unmatched(cluster, reservation, scheduler))
        common = Reserved(
            reservation.name,
            counted(reservation.requests, version),
            _owners(cluster, reservation),
            reservation.ttl,
            reservation.ttl > 0,
            scheduler,
            required,
            _tolerations(pools),
            _annotations(reservation),
        )
        found += (common._replace(name=name) for name in _names(reservation, names))
    return tuple(found), tuple(notices)


def _names(reservation: Reservation, taken: set[str]) -> Iterator[str]:
    """Its own name for a single pod; numbered for several, past the names of other reservations."""
    if reservation.pods == 1:
        yield reservation.name
        return
    number = 0
    for _ in range(reservation.pods):
        number += 1
        while f"{reservation.name}-{number}" in taken:
            number += 1
        yield f"{reservation.name}-{number}"


def _annotations(reservation: Reservation) -> dict[str, str]:
    pods = str(reservation.pods)
    stated = {OF: reservation.name, PODS: pods, TENANT: reservation.tenant, POOL: reservation.pool}
    return {key: value for key, value in stated.items() if value}


def _owners(cluster: Cluster, reservation: Reservation) -> tuple[Owner, ...]:
    labels = {WORKLOAD_KEY: reservation.workload} if reservation.workload else {}
    namespaces = [
        namespace
        for tenant in cluster.tenants
        if tenant.name == reservation.tenant
        for namespace in tenant.namespaces
    ]
    return tuple(Owner(namespace, labels) for namespace in namespaces or ("",))


def _pools(cluster: Cluster, reservation: Reservation) -> tuple[Pool, ...]:
    """The pool it names; else those that offer its cards and that its workload kind may use."""
    if reservation.pool:
        return tuple(pool for pool in cluster.pools if pool.name == reservation.pool)
    kind = cluster.workloads.get(reservation.workload)
    cards = {r for pool in cluster.pools for r in pool.resources if reservation.requests.get(r)}
    return tuple(
        pool
        for pool in cluster.pools
        if cards <= set(pool.resources) and (kind is None or not cards or may_use(kind, pool))
    )


def _where(cluster: Cluster, reservation: Reservation) -> tuple[Terms, tuple[str, ...]]:
    """Required node labels: what tells its pool from others, else those of its workload kind."""
    if reservation.pool:
        return _telling(cluster, reservation)
    kind = cluster.workloads.get(reservation.workload)
    if kind is None:
        return (), ()
    cards = [c for c in cluster.cards.values() if reservation.requests.get(c.resource)]
    return wanted(cluster, kind, cards[0] if len(cards) == 1 else None).required if cards else (), ()


def _telling(cluster: Cluster, reservation: Reservation) -> tuple[Terms, tuple[str, ...]]:
    """Labels of the pool that no other pool has together: usage and product first, then what differs."""
    pool = next((each for each in cluster.pools if each.name == reservation.pool), None)
    if pool is None:
        return (), ()
    others = [each for each in cluster.pools if each.name != pool.name]
    card = cluster.card_of(pool)
    first = [key for key in (cluster.usage_key, card.product_key if card else "") if key in pool.labels]
    chosen = dict.fromkeys(first)
    for key in sorted(pool.labels):
        alike = [each for each in others if all(each.labels.get(k) == pool.labels[k] for k in chosen)]
        if any(each.labels.get(key) != pool.labels[key] for each in alike):
            chosen[key] = None
    same = [each.name for each in others if all(each.labels.get(k) == pool.labels[k] for k in chosen)]
    notices = (
        (
            f"reservation {reservation.name} is for pool {pool.name}, which no label tells from pool "
            f"{', '.join(same)}: it may be kept there too. Give the pool a label of its own",
        )
        if same
        else ()
    )
    return tuple((key, (pool.labels[key],)) for key in chosen), notices


def _tolerations(pools: tuple[Pool, ...]) -> tuple[Toleration, ...]:
    """One for each hard taint: what admission adds to pods is not added to a reservation."""
    found = dict.fromkeys(
        Toleration(taint.key, "Equal" if taint.value else "Exists", taint.value, taint.effect)
        for pool in pools
        for taint in pool.hard_taints
    )
    return tuple(found)


def _unmatched(cluster: Cluster, reservation: Reservation, scheduler: str) -> Iterator[str]:
    """Where pods that it is meant for cannot take it, or others can."""
    name, kind = reservation.name, cluster.workloads.get(reservation.workload)
    if kind is not None and kind.scheduler != scheduler:
        yield (
            f"reservation {name} is for workload kind {kind.name}, whose scheduler is "
            f"{kind.scheduler or 'not stated'}: only pods of schedulerName {scheduler} can take it"
        )
    if not reservation.tenant and not reservation.workload:
        yield (
            f"reservation {name} names neither tenant nor workload: any pod of schedulerName {scheduler} "
            "takes it"
        )
    tenants = {tenant.name: tenant for tenant in cluster.tenants}
    if reservation.tenant in tenants and not tenants[reservation.tenant].namespaces:
        yield (
            f"reservation {name} is for tenant {reservation.tenant}, which owns no namespace: pods of any "
            "namespace may take it"
        )
