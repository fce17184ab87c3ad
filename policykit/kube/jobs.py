"""Pods of a job that wait for each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube.instances import instance_sizes
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings

JOB_SPECS: Mapping[tuple[str, str], Path] = {
    ("batch", "Job"): ("spec",),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec"),
}
"""(API group, kind) to the path of its JobSpec."""

_SERVERS = frozenset({"ps", "server", "scheduler"})
"""Names of parameter-server tasks and replica types, in lower case."""


def all_at_once(manifest: Manifest) -> bool:
    """Whether each pod of a Job has an index and all run at the same time.

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

    Its pods do not all wait for each other. Nor do those of a JobSet whose jobs have more completions
    than pods at a time: they take the items of a list in turn.
    """
    spec = manifest.data.get("spec")
    if not isinstance(spec, Mapping):
        return False
    if spec.get("elasticPolicy") is not None or any(_is_server(name) for name in _replica_types(spec)):
        return True
    sizes = instance_sizes(manifest)
    if sizes is not None and not any(size and size > 1 for size in sizes.values()):
        return True
    if manifest.kind == "JobSet" and _in_turn(mappings(spec.get("replicatedJobs"))):
        return True
    tasks = spec.get("tasks")
    return isinstance(tasks, list) and any(
        isinstance(task, Mapping) and ("partitionPolicy" in task or _is_server(task.get("name")))
        for task in tasks
    )


def _in_turn(jobs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether one job of a JobSet starts pods after others, and no other job has more than one pod."""
    shapes = [_shape(job) for job in jobs]
    if not any(pods < completions for _, pods, completions in shapes):
        return False
    return all(pods < completions or replicas == pods == 1 for replicas, pods, completions in shapes)


def _shape(job: Mapping[str, Any]) -> tuple[int, int, int]:
    """(replicas, pods at a time, completions) of a replicated job; completions default to the pods."""
    spec = mapping(mapping(job.get("template")).get("spec"))
    replicas, pods = (
        value if isinstance(value, int) else 1 for value in (job.get("replicas"), spec.get("parallelism"))
    )
    completions = spec.get("completions")
    return replicas, pods, completions if isinstance(completions, int) else pods


def _replica_types(spec: Mapping[str, Any]) -> Iterator[str]:
    """Worker, PS, ...: keys of Kubeflow's tfReplicaSpecs and similar fields."""
    for field, value in spec.items():
        if isinstance(field, str) and field.endswith("ReplicaSpecs") and isinstance(value, Mapping):
            yield from (name for name in value if isinstance(name, str))


def _is_server(name: object) -> bool:
    return isinstance(name, str) and name.lower() in _SERVERS
