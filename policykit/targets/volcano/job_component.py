"""Patches of a kustomize component for Volcano Jobs of a workload kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.generator.artifact import ComponentPatch
from policykit.manifests.patch import Patch, patched
from policykit.manifests.path import pointer
from policykit.model.cluster import Cluster
from policykit.model.workload import WorkloadKind
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets import target_name_of
from policykit.targets.volcano import job_patches
from policykit.targets.volcano.names import BATCH_GROUP, SCHEDULER
from policykit.targets.volcano.objects.jobs import API_VERSION

_KIND = "Job"
_FIRST_TASK = (
    "# For the first task of the Job: repeat the operations for tasks/1, and so on,\n"
    "# or use `policykit patch` or `policykit krm`, which handle every task.\n"
)


def component(
    workload: WorkloadKind, pod_spec: Mapping[str, Any], cluster: Cluster
) -> tuple[ComponentPatch, ...]:
    """A merge patch of the Job's metadata, and a JSON patch of its spec if there is anything to set."""
    labels = ComponentPatch((BATCH_GROUP,), (_KIND,), metadata_patch(workload, cluster))
    operations = spec_patch(workload, pod_spec, cluster)
    if not operations:
        return (labels,)
    return labels, ComponentPatch((BATCH_GROUP,), (_KIND,), operations, _FIRST_TASK)


def metadata_patch(workload: WorkloadKind, cluster: Cluster) -> dict[str, Any]:
    """A merge patch of labels: maps merge in custom resources too, so the Job's other labels stay."""
    data: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": _KIND,
        "metadata": {"name": "any", "labels": {WORKLOAD_KEY: workload.name}},
    }
    for one in _patches_of_any_job(workload, cluster):
        if one.path[0] == "metadata":
            data = patched(data, one)
    return data


def spec_patch(
    workload: WorkloadKind, pod_spec: Mapping[str, Any], cluster: Cluster
) -> tuple[dict[str, Any], ...]:
    """JSON patch operations: the list of tasks is atomic, so tasks are addressed by index.

    `add` replaces a field that exists. Only the first task is patched: there may be no other.
    """
    operations: list[dict[str, Any]] = []
    fields = dict(pod_spec)
    # A task's schedulerName takes precedence over the Job's, whose default is volcano: set both.
    scheduler = fields.get("schedulerName", "")
    if scheduler and scheduler != SCHEDULER:
        operations.append({"op": "add", "path": "/spec/schedulerName", "value": scheduler})
    if workload.queue and _is_ours(workload, cluster):
        operations.append({"op": "add", "path": "/spec/queue", "value": workload.queue})
    priority = fields.pop("priorityClassName", "")
    if priority:
        operations.append({"op": "add", "path": "/spec/priorityClassName", "value": priority})
    there = {operation["path"] for operation in operations}
    for one in _patches_of_any_job(workload, cluster):
        # Only fields directly below `spec` have a parent that always exists.
        if len(one.path) == 2 and one.path[0] == "spec" and pointer(one.path) not in there:
            operations.append({"op": "add", "path": pointer(one.path), "value": one.value})
    for field, value in fields.items():
        path = pointer(("spec", "tasks", 0, "template", "spec", field))
        operations.append({"op": "add", "path": path, "value": value})
    return tuple(operations)


def _is_ours(workload: WorkloadKind, cluster: Cluster) -> bool:
    """Whether Volcano schedules the jobs: no other scheduler reads their fields."""
    return target_name_of(workload.scheduler or SCHEDULER, cluster) == SCHEDULER


def _patches_of_any_job(workload: WorkloadKind, cluster: Cluster) -> tuple[Patch, ...]:
    """Patches that do not depend on the tasks of a Job."""
    if not _is_ours(workload, cluster):
        return ()
    bare = {"apiVersion": API_VERSION, "kind": _KIND, "spec": {}}
    return tuple(one for one in job_patches.patches(bare, workload, cluster) if one.op == "add")
