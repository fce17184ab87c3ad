"""Tenants: their namespaces, queue and reserved capacity."""

from typing import NamedTuple

from policykit.model.pool import Amounts


class Tenant(NamedTuple):
    """A team that shares the cluster."""

    name: str
    namespaces: tuple[str, ...] = ()
    queue: str = ""
    """Queue of the workloads in its namespaces; empty: none."""
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class Reservation(NamedTuple):
    """Capacity reserved for future pods of a team."""

    name: str
    requests: Amounts
    """Of one pod."""
    pods: int = 1
    """Number of such pods."""
    tenant: str = ""
    workload: str = ""
    """Workload kind whose pods may take it; empty: any of the tenant's."""
    pool: str = ""
    """Pool of the capacity; empty: any."""
    ttl: int = 0
    """Seconds until it expires; 0: never."""
