"""PriorityClasses, ResourceQuotas and LimitRanges."""

from pydantic import Field

from policykit.policy.models.base import Amounts, Model


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
