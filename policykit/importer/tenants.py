"""Tenants and reservations as a policy states them."""

from __future__ import annotations

from typing import Any

from policykit.importer.amounts import amounts
from policykit.importer.durations import duration
from policykit.importer.said import said
from policykit.model.tenant import Reservation, Tenant


def tenant(found: Tenant) -> dict[str, Any]:
    """A tenant: its namespaces, queue and people."""
    return said(namespaces=found.namespaces, queue=found.queue, users=found.users, groups=found.groups)


def reservation(found: Reservation) -> dict[str, Any]:
    """A reservation; `ttl` where it ends."""
    return said(
        tenant=found.tenant,
        workload=found.workload,
        pool=found.pool,
        requests=amounts(found.requests),
        pods=found.pods if found.pods != 1 else None,
        ttl=duration(found.ttl),
    )
