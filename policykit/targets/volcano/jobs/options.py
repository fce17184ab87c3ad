"""Patches of a Volcano Job from the target's options: job plugins, and which tasks share nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policykit.catalogue.volcano.job_plugins import roles
from policykit.manifests.patch import Patch
from policykit.manifests.path import Path, lookup
from policykit.model.cluster import Cluster
from policykit.targets.volcano.jobs.objects import Job
from policykit.targets.volcano.names import SCHEDULER
from policykit.targets.volcano.options import JobOptions, TaskTopology, of

_PREFIX = "volcano.sh/task-topology-"


def unread(cluster: Cluster) -> tuple[str, ...]:
    """Reports that the scheduler's configuration lacks the plugin that reads the annotations."""
    stated = of(cluster.targets.get(SCHEDULER))
    kinds = sorted(name for name, options in stated.jobs.items() if any(options.task_topology))
    if not kinds or "task-topology" in stated.plugins:
        return ()
    return (
        f"task topology of {', '.join(kinds)} needs plugin task-topology, which is not in the configuration: "
        "add it to targets.volcano.plugins",
    )


def patches(
    options: JobOptions, job: Job, data: Mapping[str, Any], spec: Path, annotations: Path
) -> Iterator[Patch]:
    """Plugins that are missing or have other arguments, and the annotations of task topology.

    Anything that names a task the job does not have is left out.
    """
    for name, arguments in options.plugins.items():
        if not _absent(job, roles(name, arguments).values()) and job.plugins.get(name) != arguments:
            yield Patch("add", (*spec, "plugins", name), list(arguments))
    for part, value in _topology(options.task_topology, job).items():
        path = (*annotations, f"{_PREFIX}{part}")
        if lookup(data, path) != value:
            yield Patch("add", path, value)


def notices(options: JobOptions, job: Job) -> Iterator[str]:
    """What is left out."""
    for name, arguments in options.plugins.items():
        missing = _absent(job, roles(name, arguments).values())
        if missing:
            yield f"job plugin {name} names task {missing[0]}, which the job does not have: it is left out"
    named = options.task_topology
    tasks = [task for group in (*named.affinity, *named.anti_affinity, named.order) for task in group]
    missing = _absent(job, tasks)
    if missing:
        yield f"task topology names task {', '.join(missing)}, which the job does not have: it is left out"


def _topology(options: TaskTopology, job: Job) -> dict[str, str]:
    """Part to the text of its annotation; groups that lack a task are left out whole."""
    found: dict[str, str] = {}
    for part, stated in (("affinity", options.affinity), ("anti-affinity", options.anti_affinity)):
        groups = [group for group in stated if group and not _absent(job, group)]
        if groups:
            found[part] = ";".join(",".join(group) for group in groups)
    order = [task for task in options.order if not _absent(job, [task])]
    if order:
        found["task-order"] = ",".join(order)
    return found


def _absent(job: Job, tasks: Iterable[str]) -> list[str]:
    there = {task.name for task in job.tasks}
    return list(dict.fromkeys(task for task in tasks if task not in there))
