"""Systems the policy generates for, and what each alone knows."""

from typing import Literal

from pydantic import Field

from policykit.policy.models.base import Model


class Target(Model):
    """What every system has."""

    version: str = Field("", description='Version installed, in quotes: "1.15.1". Default: the newest known.')
    namespace: str = Field("", description="Namespace it is installed in. Default: its chart's.")


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


class Yunikorn(Target):
    """Apache YuniKorn. Known so far as a scheduler that serves pods."""

    delivery: Literal["helm-values", "manifest"] = Field("helm-values", description="How it is configured.")
    scheduler_name: str = Field("yunikorn", description="schedulerName it serves.")


class Kubernetes(Model):
    """Kubernetes itself: nodes, PriorityClasses, ResourceQuotas. Always on."""

    delivery: Literal["manifest"] = Field("manifest", description="Plain objects.")


class Targets(Model):
    """The systems in play."""

    kubernetes: Kubernetes | None = Field(None, description="Kubernetes itself, always on.")
    volcano: Volcano | None = Field(None, description="Volcano.")
    koordinator: Koordinator | None = Field(None, description="Koordinator.")
    yunikorn: Yunikorn | None = Field(None, description="Apache YuniKorn.")
