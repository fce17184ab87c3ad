"""Options for the Volcano Jobs of a workload kind."""

from pydantic import Field

from policykit.policy.models.base import Model


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
