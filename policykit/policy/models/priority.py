"""PriorityClasses, ResourceQuotas and LimitRanges that the policy asks for."""

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


class Containers(Model):
    """A LimitRange: what each container has and may have. Only cpu, memory and ephemeral-storage."""

    default: Amounts = Field({}, description="Limits of containers that state none.")
    default_request: Amounts = Field({}, description="Requests of containers that state none.")
    min: Amounts = Field({}, description="The least a container may request.")
    max: Amounts = Field({}, description="The most a container may have as limit.")


class Quota(Model):
    """A ResourceQuota: what one namespace may request in all, and a LimitRange for its containers."""

    namespace: str = Field("", description="Default: the quota's own name.")
    requests: Amounts = Field({}, description="Resource name, or a card of this policy, to amount.")
    limits: Amounts = Field({}, description="Limits of cpu, memory and ephemeral-storage.")
    pods: int | None = Field(None, ge=0, description="Most pods.")
    priorities: tuple[str, ...] = Field(
        (), description="Counts only pods of these PriorityClasses. Default: all pods."
    )
    containers: Containers | None = Field(
        None, description="Defaults and bounds of each container in the namespace. Default: none."
    )
