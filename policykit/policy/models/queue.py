"""Queues: shares of the cluster."""

from pydantic import Field

from policykit.policy.models.base import Amounts, Model


class Queue(Model):
    """A share of the cluster. Resources that are not named are not limited or promised."""

    parent: str = Field("", description="Queue this one is part of. Default: the root.")
    weight: int = Field(1, ge=1, le=65535, description="Share among its siblings.")
    guarantee: Amounts = Field({}, description="Kept for this queue, never lent.")
    deserved: Amounts = Field({}, description="Its due: may be lent, is taken back when needed.")
    limit: Amounts = Field({}, description="The most it may use.")
    priority: int | None = Field(None, ge=0, description="Queues of higher priority go first.")
    reclaimable: bool = Field(True, description="Others may take back what it uses beyond its due.")
