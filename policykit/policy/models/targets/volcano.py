"""What the policy may say of Volcano alone."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Model
from policykit.policy.models.targets.target import Target


class Binpack(Model):
    """Weights of Volcano's binpack plugin."""

    weight: int | None = Field(None, ge=0, description="Weight of binpack against other scores.")
    resources: dict[str, int] = Field(
        {}, description="Resource name, or a card of this policy, to its weight, 0 or more."
    )


class Volcano(Target):
    """Volcano: batch scheduler with gangs and queues."""

    delivery: Literal["helm-values", "manifest"] = Field(
        "helm-values", description="helm-values needs chart 1.10 or newer."
    )
    scheduler_name: str = Field("volcano", description="schedulerName it serves.")
    binpack: Binpack = Field(
        Binpack.model_construct(), description="Packing weights. Default: chosen from the cards."
    )
