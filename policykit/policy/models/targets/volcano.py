"""What the policy may say of Volcano alone."""

from typing import Any, Literal

from pydantic import Field

from policykit.policy.models.base import Model
from policykit.policy.models.targets.target import Target
from policykit.policy.models.targets.volcano_jobs import Jobs


class Binpack(Model):
    """Weights of Volcano's binpack plugin."""

    weight: int | None = Field(None, ge=0, description="Weight of binpack against other scores.")
    resources: dict[str, int] = Field(
        {}, description="Resource name, or a card of this policy, to its weight, 0 or more."
    )


class Plugin(Model):
    """A plugin of Volcano's scheduler, where the policy wants it other than it is chosen."""

    enabled: bool = Field(True, description="false takes the plugin out of the configuration.")
    tier: Literal[1, 2] | None = Field(
        None,
        description="Tier it stands in: the first tier that finds victims decides alone. Default: chosen.",
    )
    flags: dict[str, bool] = Field(
        {}, description="Flags beside its name, as Volcano spells them: enablePreemptable, enabledVictim."
    )
    arguments: dict[str, Any] = Field(
        {}, description="Arguments as Volcano spells them, over those that are chosen."
    )


class Volcano(Target):
    """Volcano: batch scheduler with gangs and queues."""

    delivery: Literal["helm-values", "manifest"] = Field(
        "helm-values", description="helm-values needs chart 1.10 or newer."
    )
    scheduler_name: str = Field("volcano", description="schedulerName it serves.")
    binpack: Binpack = Field(
        Binpack.model_construct(),
        description="Packing weights, of binpack or where placements need it of resource-strategy-fit. "
        "Default: chosen from the cards.",
    )
    actions: tuple[str, ...] | None = Field(
        None,
        description="Actions of each scheduling cycle; they are written in the order that works. "
        "Default: enqueue, allocate, backfill, and what preemption asks for.",
    )
    plugins: dict[str, Plugin] = Field(
        {}, description="Plugin of the scheduler to what is different about it: sla, pdb, usage."
    )
    metrics: dict[str, str] = Field(
        {},
        description="Where plugins usage and rescheduling get the load of nodes: type, address, interval.",
    )
    configurations: dict[str, dict[str, Any]] = Field(
        {}, description="Action to its arguments, as Volcano spells them."
    )
    vgpu: bool = Field(
        False, description="Cards are shared as vGPUs by Volcano's own device plugin: plugin deviceshare."
    )
    jobs: dict[str, Jobs] = Field(
        {}, description="Workload kind to what its Volcano Jobs have: plugins, task topology."
    )
