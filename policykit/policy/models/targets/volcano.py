"""Options for Volcano."""

from typing import Any, Literal

from pydantic import Field

from policykit.policy.models.base import Model, TargetOptions


class TaskTopology(Model):
    """Which tasks of a job share nodes: plugin task-topology of the scheduler. Names are those of tasks."""

    affinity: tuple[tuple[str, ...], ...] = Field((), description="Groups of tasks whose pods share nodes.")
    anti_affinity: tuple[tuple[str, ...], ...] = Field(
        (), description="Groups of tasks whose pods run apart; a single task: its pods run apart."
    )
    order: tuple[str, ...] = Field((), description="Tasks in the order in which their pods are placed.")


class Jobs(Model):
    """Volcano Jobs of a workload kind, as `policykit patch` writes them."""

    plugins: dict[str, tuple[str, ...]] = Field(
        {}, description="Job plugins with their arguments: svc: [], pytorch: [--master=master]."
    )
    task_topology: TaskTopology | None = Field(None, description="Tasks that share nodes or run apart.")


class Binpack(Model):
    """Weights of Volcano's binpack plugin."""

    weight: int | None = Field(None, ge=0, description="Weight of binpack against other scores.")
    resources: dict[str, int] = Field(
        {}, description="Resource name, or a card of this policy, to its weight, 0 or more."
    )


class Plugin(Model):
    """Changes to a plugin of Volcano's scheduler."""

    enabled: bool = Field(True, description="false removes the plugin from the configuration.")
    tier: Literal[1, 2] | None = Field(
        None,
        description="Its tier: the first tier that finds victims decides alone. Default: chosen.",
    )
    flags: dict[str, bool] = Field(
        {}, description="Flags next to its name, in Volcano's spelling: enablePreemptable, enabledVictim."
    )
    arguments: dict[str, Any] = Field(
        {}, description="Arguments in Volcano's spelling; they override those that are chosen."
    )


class Volcano(TargetOptions):
    """Volcano: batch scheduler with gangs and queues."""

    delivery: Literal["helm-values", "manifest"] = Field(
        "helm-values", description="helm-values needs chart 1.10 or newer."
    )
    scheduler_name: str = Field("volcano", description="schedulerName of its pods.")
    binpack: Binpack = Field(
        Binpack.model_construct(),
        description="Packing weights of binpack, or of resource-strategy-fit if placements need it. "
        "Default: chosen from the cards.",
    )
    actions: tuple[str, ...] | None = Field(
        None,
        description="Actions of each scheduling cycle; they are written in the right order. "
        "Default: enqueue, allocate, backfill, and those that preemption needs.",
    )
    plugins: dict[str, Plugin] = Field(
        {}, description="Scheduler plugins to add or change, by name: sla, pdb, usage."
    )
    metrics: dict[str, str] = Field(
        {},
        description="Source of the node load for plugins usage and rescheduling: type, address, interval.",
    )
    configurations: dict[str, dict[str, Any]] = Field(
        {}, description="Arguments of actions, in Volcano's spelling."
    )
    gangs: Literal["annotations", "objects"] = Field(
        "annotations",
        description="How `patch` declares gangs where both are possible. annotations: on pods or owners; "
        "objects: a PodGroup with minResources for each workload.",
    )
    vgpu: bool = Field(
        False, description="Volcano's own device plugin shares cards as vGPUs: plugin deviceshare."
    )
    jobs: dict[str, Jobs] = Field(
        {}, description="Plugins and task topology of Volcano Jobs, by workload kind."
    )
