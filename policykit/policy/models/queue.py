"""Queues: shares of the cluster, and preemption between them."""

from typing import Annotated

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Amounts, Model


class Submit(Model):
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
    submit: Submit | None = Field(
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
