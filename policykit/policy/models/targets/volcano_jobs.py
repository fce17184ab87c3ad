"""What the Volcano Jobs of a workload kind have beside what every scheduler knows."""

from pydantic import Field

from policykit.policy.models.base import Model


class TaskTopology(Model):
    """Which tasks of a job share nodes: plugin task-topology of the scheduler. Names are those of tasks."""

    affinity: tuple[tuple[str, ...], ...] = Field((), description="Groups of tasks whose pods share nodes.")
    anti_affinity: tuple[tuple[str, ...], ...] = Field(
        (), description="Groups of tasks whose pods keep apart; a task alone: its pods from each other."
    )
    order: tuple[str, ...] = Field((), description="Tasks in the order their pods are placed.")


class Jobs(Model):
    """Volcano Jobs of a workload kind, as `policykit patch` writes them."""

    plugins: dict[str, tuple[str, ...]] = Field(
        {}, description="Job plugin to its arguments: svc: [], pytorch: [--master=master]."
    )
    task_topology: TaskTopology | None = Field(None, description="Which tasks share nodes.")
