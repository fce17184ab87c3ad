"""Queues, tenants, reservations, PriorityClasses and quotas."""

from typing import Annotated

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Amounts, Duration, Model


class Submitters(Model):
    """Who may submit; both empty: nobody."""

    users: tuple[str, ...] = Field((), description='Users; ["*"] means everybody.')
    groups: tuple[str, ...] = Field((), description="Groups of users.")


class QueuePools(Model):
    """How a queue uses pools, given by name."""

    required: tuple[str, ...] = Field((), description="Pods run only on these.")
    preferred: tuple[str, ...] = Field((), description="Pods run on these if they fit.")
    excluded: tuple[str, ...] = Field((), description="Pods never run on these.")
    avoided: tuple[str, ...] = Field((), description="Pods run on these only if nothing else fits.")


QueuePoolsChoice = Annotated[
    Annotated[QueuePools, Tag("<map>")] | Annotated[tuple[str, ...], Tag("<list>")], BY_FORM
]


class Queue(Model):
    """A share of the cluster. Resources that are not listed are neither limited nor guaranteed."""

    parent: str = Field("", description="Parent queue. Default: the root.")
    weight: int = Field(1, ge=1, le=65535, description="Share relative to its siblings.")
    guarantee: Amounts = Field({}, description="Reserved for this queue, never lent.")
    deserved: Amounts = Field({}, description="Guaranteed amount: may be lent, and is reclaimed when needed.")
    limit: Amounts = Field({}, description="Maximum it may use.")
    priority: int | None = Field(None, ge=0, description="Queues with higher priority are served first.")
    reclaimable: bool = Field(
        True, description="Whether other queues may reclaim what it uses above its guarantee."
    )
    protect: bool = Field(
        False, description="Whether `gen` refuses to remove the queue without --allow-removal."
    )
    submit: Submitters | None = Field(
        None,
        description="Who may submit to it and the queues below. Default: those who may submit to its parent.",
    )
    pools: QueuePoolsChoice | None = Field(
        None, description="Pools that its pods may and should use; a list: those they must use. Default: any."
    )


class Preemption(Model):
    """Which pods may be preempted for which. Default: each scheduler's own behaviour."""

    within_queue: bool | None = Field(
        None, description="Pods of higher priority preempt pods of lower priority in the same queue."
    )
    reclaim: bool | None = Field(
        None, description="Queues below their guarantee reclaim resources from queues above theirs."
    )


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


class Priority(Model):
    """A PriorityClass."""

    value: int | None = Field(
        None, ge=-2147483648, le=1000000000, description="Pods with a higher value are scheduled first."
    )
    preempts: bool = Field(True, description="Whether its pods may preempt pods of lower priority.")
    default: bool = Field(
        False, description="Applies to pods that name no class; at most one class can be the default."
    )
    description: str = Field("", description="Description for users.")


class Containers(Model):
    """A LimitRange: defaults and bounds per container, for cpu, memory and ephemeral-storage only."""

    default: Amounts = Field({}, description="Default limits of containers.")
    default_request: Amounts = Field({}, description="Default requests of containers.")
    min: Amounts = Field({}, description="Minimum request of a container.")
    max: Amounts = Field({}, description="Maximum limit of a container.")


class Quota(Model):
    """A ResourceQuota: the total a namespace may request, and a LimitRange for its containers."""

    namespace: str = Field("", description="Namespace of the quota. Default: the quota's name.")
    requests: Amounts = Field({}, description="Resource name, or a card of this policy, to amount.")
    limits: Amounts = Field({}, description="Limits of cpu, memory and ephemeral-storage.")
    pods: int | None = Field(None, ge=0, description="Maximum number of pods.")
    priorities: tuple[str, ...] = Field(
        (), description="Count only pods of these PriorityClasses. Default: all pods."
    )
    containers: Containers | None = Field(
        None, description="Defaults and bounds of containers in the namespace. Default: none."
    )
