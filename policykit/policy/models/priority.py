"""PriorityClasses and ResourceQuotas that the policy asks for."""

from pydantic import Field

from policykit.policy.models.base import Amounts, Model


class Priority(Model):
    """A PriorityClass."""

    value: int | None = Field(
        None, ge=-2147483648, le=1000000000, description="Pods of a higher value go first."
    )
    preempts: bool = Field(True, description="Whether it may evict pods of lower priority.")
    default: bool = Field(False, description="For pods that name no class; at most one class has it.")
    description: str = Field("", description="For people.")


class Quota(Model):
    """A ResourceQuota: what one namespace may request in all."""

    namespace: str = Field("", description="Default: the quota's own name.")
    requests: Amounts = Field({}, description="Resource name, or a card of this policy, to amount.")
    limits: Amounts = Field({}, description="Limits of cpu, memory and ephemeral-storage.")
    pods: int | None = Field(None, ge=0, description="Most pods.")
