"""What the policy may say of Koordinator alone."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Model
from policykit.policy.models.targets.target import Target


class Fit(Model):
    """How NodeResourcesFitPlus scores one resource."""

    type: Literal["MostAllocated", "LeastAllocated"] = Field(
        "MostAllocated", description="MostAllocated packs, LeastAllocated spreads."
    )
    weight: int = Field(1, ge=1, description="Weight among the resources.")


class Koordinator(Target):
    """Koordinator: koord-scheduler beside or instead of the default scheduler."""

    delivery: Literal["post-render", "manifest"] = Field(
        "post-render", description="No chart value reaches the scheduler's configuration."
    )
    scheduler_name: str = Field("koord-scheduler", description="schedulerName it serves.")
    fit: dict[str, Fit] = Field(
        {}, description="Resource name, or a card of this policy, to how NodeResourcesFitPlus scores it."
    )
    config: str = Field(
        "",
        description="File with the koord-scheduler-config to merge into, relative to this policy. "
        "Default: the chart's own for the version.",
    )
