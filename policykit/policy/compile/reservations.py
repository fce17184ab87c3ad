"""Reservations: capacity kept free, where, and for whom."""

from __future__ import annotations

from collections.abc import Sequence

from policykit.kube.names import dns_subdomain_problem
from policykit.manifests.path import Path
from policykit.model.pool import Amounts, Pool
from policykit.model.tenant import Reservation
from policykit.policy.compile.amounts import amounts, written_as
from policykit.policy.compile.draft import Draft
from policykit.policy.compile.known import known
from policykit.policy.models import tenant as written


def compile_reservations(draft: Draft, pools: Sequence[Pool]) -> tuple[Reservation, ...]:
    """All reservations in the policy's order."""
    by_name = {pool.name: pool for pool in pools}
    return tuple(
        _reservation(draft, name, stated, by_name.get(stated.pool), pools)
        for name, stated in draft.policy.reservations.items()
    )


def _reservation(
    draft: Draft, name: str, stated: written.Reservation, pool: Pool | None, pools: Sequence[Pool]
) -> Reservation:
    path: Path = ("reservations", name)
    draft.check(path, f"reservation name {name!r}", dns_subdomain_problem(name), key=True)
    for key, what, meant in (
        ("tenant", "tenant", stated.tenant),
        ("workload", "workload kind", stated.workload),
        ("pool", "pool", stated.pool),
    ):
        if meant:
            known(draft, (*path, key), what, meant)
    if not (stated.tenant or stated.workload):
        message = f"nothing may use reservation {name!r}"
        draft.problems.error(path, message, "add tenant, or workload, or both", key=True)
    requests = amounts(draft, (*path, "requests"), stated.requests)
    if not any(requests.values()):
        message = f"reservation {name!r} reserves nothing"
        draft.problems.error(path, message, "add requests: {cpu: 8, memory: 64Gi}", key=True)
    if pool is not None:
        _check_offered(draft, (*path, "requests"), requests, pool, pools)
    return Reservation(
        name, requests, stated.pods, stated.tenant, stated.workload, stated.pool, stated.ttl or 0
    )


def _check_offered(draft: Draft, path: Path, requests: Amounts, pool: Pool, pools: Sequence[Pool]) -> None:
    """Reports requests for cards that the chosen pool does not have."""
    cards = {resource for each in pools for resource in each.resources} - set(pool.resources)
    for resource in sorted(cards & requests.keys()):
        message = f"pool {pool.name} has no {resource}"
        draft.problems.error((*path, written_as(draft, path, resource)), message, key=True)
