"""Teams that share the cluster, and capacity reserved for them."""

from pydantic import Field

from policykit.policy.models.base import Amounts, Duration, Model


class Tenant(Model):
    """A team that shares the cluster with others."""

    namespaces: tuple[str, ...] = Field((), description="Namespaces it owns; each belongs to one tenant.")
    queue: str = Field("", description="Queue of the workloads in its namespaces. Default: none.")
    users: tuple[str, ...] = Field((), description="Users of the tenant.")
    groups: tuple[str, ...] = Field((), description="Groups of the tenant.")


class Reservation(Model):
    """Capacity kept free for certain pods."""

    tenant: str = Field("", description="Tenant whose pods may use it. Default: any.")
    workload: str = Field("", description="Workload kind whose pods may use it. Default: any.")
    pool: str = Field("", description="Pool to reserve it in. Default: wherever it fits.")
    requests: Amounts = Field({}, description="Requests of one pod: resource name, or a card, to amount.")
    pods: int = Field(1, ge=1, description="Number of such pods to keep room for.")
    ttl: Duration | None = Field(
        None, description="How long to keep it: 24h. Default: until it is removed from the policy."
    )
