"""Which pods of a job wait for each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policykit.kube.instances import instance_sizes
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup

JOB_SPECS: Mapping[tuple[str, str], Path] = {
    ("batch", "Job"): ("spec",),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec"),
}
"""(API group, kind) to where its JobSpec stands."""

_SERVERS = frozenset({"ps", "server", "scheduler"})
"""Names of parameter-server tasks and replica types, in lower case."""


def all_at_once(manifest: Manifest) -> bool:
    """A Job whose pods each have an index of their own and all run at the same time.

    Such pods usually talk to each other; pods of any other Job are independent.
    """
    place = JOB_SPECS.get((manifest.group, manifest.kind))
    job = lookup(manifest.data, place) if place else None
    if not isinstance(job, Mapping) or job.get("completionMode") != "Indexed":
        return False
    parallelism = job.get("parallelism")
    return isinstance(parallelism, int) and parallelism > 1 and parallelism == job.get("completions")


def goes_on_with_fewer(manifest: Manifest) -> bool:
    """An elastic job, one cut into partitions, one with parameter servers, or servers of one pod each.

    Its pods do not all wait for each other.
    """
    spec = manifest.data.get("spec")
    if not isinstance(spec, Mapping):
        return False
    if spec.get("elasticPolicy") is not None or any(_is_server(name) for name in _replica_types(spec)):
        return True
    sizes = instance_sizes(manifest)
    if sizes is not None and not any(size and size > 1 for size in sizes.values()):
        return True
    tasks = spec.get("tasks")
    return isinstance(tasks, list) and any(
        isinstance(task, Mapping) and ("partitionPolicy" in task or _is_server(task.get("name")))
        for task in tasks
    )


def _replica_types(spec: Mapping[str, Any]) -> Iterator[str]:
    """Worker, PS, ...: keys of Kubeflow's tfReplicaSpecs and its like."""
    for field, value in spec.items():
        if isinstance(field, str) and field.endswith("ReplicaSpecs") and isinstance(value, Mapping):
            yield from (name for name in value if isinstance(name, str))


def _is_server(name: object) -> bool:
    return isinstance(name, str) and name.lower() in _SERVERS
