"""Teams: the namespaces they own, their queue, and the capacity kept for them."""

from typing import NamedTuple

from policykit.model.pool import Amounts


class Tenant(NamedTuple):
    """A team that shares the cluster with others."""

    name: str
    namespaces: tuple[str, ...] = ()
    queue: str = ""
    """Queue of what runs in its namespaces; empty: none of its own."""
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class Reservation(NamedTuple):
    """Capacity kept free for a team until its pods come."""

    name: str
    requests: Amounts
    """Of one pod."""
    pods: int = 1
    """How many such pods there is room kept for."""
    tenant: str = ""
    workload: str = ""
    """Workload kind whose pods may take it; empty: any of the tenant's."""
    pool: str = ""
    """Pool it is kept in; empty: wherever it fits."""
    ttl: int = 0
    """Seconds it is kept; 0: until it is taken out of the policy."""
