"""A kustomize component per workload kind and card: seed 000's affinity and tolerations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from policykit.generator.artifact import Artifact, Generated, Notice, Role
from policykit.kube.tolerations import to_dict
from policykit.manifests.path import Path, pointer
from policykit.manifests.writer import dump
from policykit.model.card import Card
from policykit.model.cluster import Cluster
from policykit.model.workload import WorkloadKind
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.placement.wanted import Wanted, affinity_data, wanted
from policykit.targets import system_of
from policykit.targets.koordinator.names import QUOTA_NAME as KOORDINATOR_QUEUE
from policykit.targets.volcano.names import QUEUE_NAME as VOLCANO_QUEUE
from policykit.targets.volcano.names import SCHEDULER as VOLCANO
from policykit.targets.yunikorn.names import QUEUE as YUNIKORN_QUEUE

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
"""A card may have any name, a folder may not."""
_PARTIAL = "---\n# policykit: partial\n"
"""A Pod is taken for whole, unless it says otherwise."""
_REPLACES = (
    "---\n# These patches take the place of an affinity and of tolerations that a workload has.\n"
    "# `policykit patch`, and `policykit krm` as a transformer, add to them instead.\n"
)
_FIRST_TASK = (
    "---\n# For the first task of the Job: repeat the operations for tasks/1, and so on,\n"
    "# or use `policykit patch` or `policykit krm`, which look at every task.\n"
)
_QUEUES = {
    "volcano": ("annotations", VOLCANO_QUEUE),
    "koordinator": ("labels", KOORDINATOR_QUEUE),
    "yunikorn": ("labels", YUNIKORN_QUEUE),
}
"""System to the pod metadata that names the queue."""


class BuiltIn(NamedTuple):
    """A built-in kind that makes pods, and where its template stands."""

    kind: str
    api_version: str
    template: Path

    @property
    def group(self) -> str:
        group, slash, _ = self.api_version.partition("/")
        return group if slash else ""


BUILT_IN = (
    BuiltIn("CronJob", "batch/v1", ("spec", "jobTemplate", "spec", "template")),
    BuiltIn("DaemonSet", "apps/v1", ("spec", "template")),
    BuiltIn("Deployment", "apps/v1", ("spec", "template")),
    BuiltIn("Job", "batch/v1", ("spec", "template")),
    BuiltIn("Pod", "v1", ()),
    BuiltIn("PodTemplate", "v1", ("template",)),
    BuiltIn("ReplicaSet", "apps/v1", ("spec", "template")),
    BuiltIn("ReplicationController", "v1", ("spec", "template")),
    BuiltIn("StatefulSet", "apps/v1", ("spec", "template")),
)


def generate(cluster: Cluster) -> Generated:
    """`workloads/<kind>-<card>/`, and `workloads/<kind>-helpers/` where helpers have pools."""
    artifacts: list[Artifact] = []
    notices: list[Notice] = []
    names: set[str] = set()
    for workload in cluster.workloads.values():
        for card in _cards(cluster, workload):
            want = wanted(cluster, workload, card)
            if want.pools:
                name = _free(f"{workload.name}-{card.name if card else 'helpers'}", names)
                artifacts.extend(_component(name, cluster, workload, want))
            elif card and workload.cards is not None:
                notices.append(Notice("workloads", f"no pool serves {workload.name} on card {card.name}"))
    return Generated(tuple(artifacts), tuple(notices))


def _cards(cluster: Cluster, workload: WorkloadKind) -> Iterator[Card | None]:
    for name, card in cluster.cards.items():
        if workload.cards is None or name in workload.cards:
            yield card
    yield None


def _free(name: str, taken: set[str]) -> str:
    """A folder's name, numbered where two pairs make the same: a-b on c, and a on b-c."""
    safe = _UNSAFE.sub("-", name)
    number, free = 1, safe
    while free in taken:
        number, free = number + 1, f"{safe}-{number + 1}"
    taken.add(free)
    return free


def _component(name: str, cluster: Cluster, workload: WorkloadKind, want: Wanted) -> Iterator[Artifact]:
    folder = f"workloads/{name}"
    patches: list[dict[str, Any]] = []
    for built_in in BUILT_IN:
        path = f"{built_in.kind.lower()}.yaml"
        yield Artifact(
            f"{folder}/{path}",
            _PARTIAL + dump(strategic_patch(built_in, workload, want, cluster)),
            Role.COMPONENT,
        )
        # An empty group would match every group: targets are regular expressions.
        group = built_in.group or "^$"
        patches.append({"path": path, "target": {"group": group, "kind": built_in.kind}})
    job = {"group": "batch.volcano.sh", "kind": "Job"}
    yield Artifact(
        f"{folder}/volcano-job-labels.yaml", _PARTIAL + dump(volcano_labels(workload)), Role.COMPONENT
    )
    patches.append({"path": "volcano-job-labels.yaml", "target": job})
    operations = volcano_patch(workload, want, cluster)
    if operations:
        yield Artifact(f"{folder}/volcano-job.yaml", _FIRST_TASK + dump(operations), Role.COMPONENT)
        patches.append({"path": "volcano-job.yaml", "target": job})
    component = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "patches": patches}
    yield Artifact(f"{folder}/kustomization.yaml", _REPLACES + dump(component), Role.COMPONENT)


def strategic_patch(
    built_in: BuiltIn, workload: WorkloadKind, want: Wanted, cluster: Cluster | None = None
) -> dict[str, Any]:
    """A strategic merge patch for a built-in kind.

    Labels and maps merge; `tolerations` and the affinity's lists have no merge key, so they
    take the place of what the manifest has.
    """
    metadata: dict[str, Any] = {"labels": {WORKLOAD_KEY: workload.name}}
    system = system_of(workload.scheduler, cluster)
    if workload.queue and system in _QUEUES:
        where, key = _QUEUES[system]
        metadata.setdefault(where, {})[key] = workload.queue
    template: dict[str, Any] = {"metadata": metadata, "spec": pod_spec(workload, want)}
    if not built_in.template:
        template["metadata"] = {"name": "any", **metadata}
        return {"apiVersion": built_in.api_version, "kind": built_in.kind, **template}
    data: dict[str, Any] = template
    for step in reversed(built_in.template):
        data = {str(step): data}
    return {"apiVersion": built_in.api_version, "kind": built_in.kind, "metadata": {"name": "any"}, **data}


def pod_spec(workload: WorkloadKind, want: Wanted) -> dict[str, Any]:
    """The PodSpec fields the kind asks for."""
    spec: dict[str, Any] = {}
    affinity = affinity_data(want)
    if affinity:
        spec["affinity"] = {"nodeAffinity": affinity}
    if want.tolerations:
        spec["tolerations"] = [to_dict(toleration) for toleration in want.tolerations]
    if workload.scheduler:
        spec["schedulerName"] = workload.scheduler
    if workload.priority_class:
        spec["priorityClassName"] = workload.priority_class
    return spec


def volcano_labels(workload: WorkloadKind) -> dict[str, Any]:
    """A merge patch: maps merge in custom resources too, so the Job's other labels stay."""
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "any", "labels": {WORKLOAD_KEY: workload.name}},
    }


def volcano_patch(
    workload: WorkloadKind, want: Wanted, cluster: Cluster | None = None
) -> list[dict[str, Any]]:
    """A JSON patch for a Volcano Job: its task list is atomic, so tasks are named by index.

    `add` on a field that exists replaces it. Only the first task is named: others may not be there.
    """
    operations: list[dict[str, Any]] = []
    fields = pod_spec(workload, want)
    # A task's own schedulerName wins over the Job's, whose default is volcano: set both.
    scheduler = fields.get("schedulerName", "")
    if scheduler and scheduler != VOLCANO:
        operations.append({"op": "add", "path": "/spec/schedulerName", "value": scheduler})
    # Without a scheduler of its own the kind's Jobs are Volcano's; others read no field of the Job.
    if workload.queue and system_of(scheduler or VOLCANO, cluster) == VOLCANO:
        operations.append({"op": "add", "path": "/spec/queue", "value": workload.queue})
    priority = fields.pop("priorityClassName", "")
    if priority:
        operations.append({"op": "add", "path": "/spec/priorityClassName", "value": priority})
    for field, value in fields.items():
        path = pointer(("spec", "tasks", 0, "template", "spec", field))
        operations.append({"op": "add", "path": path, "value": value})
    return operations
