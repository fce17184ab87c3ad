"""Teams that share the cluster, and the capacity kept free for them."""

from pydantic import Field

from policykit.policy.models.base import Amounts, Duration, Model


class Tenant(Model):
    """A team that shares the cluster with others."""

    namespaces: tuple[str, ...] = Field((), description="Namespaces it owns; each belongs to one tenant.")
    queue: str = Field("", description="Queue of what runs in its namespaces. Default: none of its own.")
    users: tuple[str, ...] = Field((), description="Its people.")
    groups: tuple[str, ...] = Field((), description="Their groups.")


class Reservation(Model):
    """Capacity kept free until the pods it is meant for come."""

    tenant: str = Field("", description="Tenant whose pods may take it. Default: any.")
    workload: str = Field("", description="Workload kind whose pods may take it. Default: any.")
    pool: str = Field("", description="Pool it is kept in. Default: wherever it fits.")
    requests: Amounts = Field({}, description="What one pod requests: resource name, or a card, to amount.")
    pods: int = Field(1, ge=1, description="How many such pods there is room kept for.")
    ttl: Duration | None = Field(
        None, description="How long it is kept: 24h. Default: until it is taken out of the policy."
    )
