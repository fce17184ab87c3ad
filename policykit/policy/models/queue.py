"""Queues: shares of the cluster, and whose pods make room for whose."""

from typing import Annotated

from pydantic import Field, Tag

from policykit.policy.models.base import BY_FORM, Amounts, Model


class Submit(Model):
    """Who may submit; both empty: nobody."""

    users: tuple[str, ...] = Field((), description='Users; ["*"] is everybody.')
    groups: tuple[str, ...] = Field((), description="Groups of users.")


class QueuePools(Model):
    """Pools by name, and what they are to a queue."""

    required: tuple[str, ...] = Field((), description="Its pods run on these alone.")
    preferred: tuple[str, ...] = Field((), description="Its pods run on these where they fit.")
    excluded: tuple[str, ...] = Field((), description="Its pods never run on these.")
    avoided: tuple[str, ...] = Field((), description="Its pods run on these only where nothing else fits.")


QueuePoolsChoice = Annotated[
    Annotated[QueuePools, Tag("<map>")] | Annotated[tuple[str, ...], Tag("<list>")], BY_FORM
]


class Queue(Model):
    """A share of the cluster. Resources that are not named are not limited or promised."""

    parent: str = Field("", description="Queue this one is part of. Default: the root.")
    weight: int = Field(1, ge=1, le=65535, description="Share among its siblings.")
    guarantee: Amounts = Field({}, description="Kept for this queue, never lent.")
    deserved: Amounts = Field({}, description="Its due: may be lent, is taken back when needed.")
    limit: Amounts = Field({}, description="The most it may use.")
    priority: int | None = Field(None, ge=0, description="Queues of higher priority go first.")
    reclaimable: bool = Field(True, description="Others may take back what it uses beyond its due.")
    submit: Submit | None = Field(
        None, description="Who may submit to it and below. Default: whoever may submit to its parent."
    )
    pools: QueuePoolsChoice | None = Field(
        None, description="Pools its pods may and should use; a list: those they must. Default: any."
    )


class Preemption(Model):
    """Whose pods make room for whose. Default: as each scheduler does by itself."""

    within_queue: bool | None = Field(
        None, description="Pods of higher priority take the place of lower ones in the same queue."
    )
    reclaim: bool | None = Field(
        None, description="Queues below their due take it back from queues that use more than theirs."
    )
