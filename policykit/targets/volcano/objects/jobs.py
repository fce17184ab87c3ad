"""Volcano Jobs (batch.volcano.sh/v1alpha1), written and read, also as part of other objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, mappings, text, texts, whole
from policykit.namedtuple import NamedTuple
from policykit.targets.volcano.names import BATCH_GROUP, FLOW_GROUP
from policykit.targets.volcano.objects.topology import (
    NetworkTopology,
    read_network_topology,
    write_network_topology,
)

API_VERSION = "batch.volcano.sh/v1alpha1"
ANNOTATIONS: Mapping[tuple[str, str], Path] = {
    (BATCH_GROUP, "Job"): ("metadata", "annotations"),
    (BATCH_GROUP, "CronJob"): ("spec", "jobTemplate", "metadata", "annotations"),
    (FLOW_GROUP, "JobTemplate"): ("metadata", "annotations"),
}
"""(API group, kind) to the annotations that its Jobs get, and their PodGroups from them."""


class Policy(NamedTuple):
    """An action on an event or exit code, after `timeout` at the earliest."""

    action: str
    events: tuple[str, ...] = ()
    exit_code: int | None = None
    timeout: str = ""


class Task(NamedTuple):
    """Pods of a job with one template."""

    name: str
    replicas: int = 0
    min_available: int | None = None
    """None: all of them."""
    depends_on: tuple[str, ...] = ()
    """Tasks whose pods must run or have ended before its own are created."""
    policies: tuple[Policy, ...] = ()
    template: Mapping[str, Any] = {}


class Job(NamedTuple):
    """A Job of Volcano."""

    namespace: str
    name: str
    tasks: tuple[Task, ...]
    scheduler: str = ""
    queue: str = ""
    min_available: int | None = None
    """None: the sum of what the tasks state."""
    priority_class: str = ""
    policies: tuple[Policy, ...] = ()
    plugins: Mapping[str, tuple[str, ...]] = {}
    bound: NetworkTopology | None = None

    @property
    def replicas(self) -> int:
        return sum(task.replicas for task in self.tasks)

    @property
    def task_minimum(self) -> int:
        """Sum of the tasks' minimums."""
        return sum(needed(task) for task in self.tasks)

    @property
    def gang(self) -> int:
        """How many pods start together, by the default of the webhook."""
        return self.min_available or self.task_minimum


def needed(task: Task) -> int:
    """How many of a task's pods the gang needs."""
    return task.replicas if task.min_available is None else task.min_available


def write(job: Job) -> dict[str, Any]:
    """The object."""
    metadata = {"name": job.name}
    if job.namespace:
        metadata["namespace"] = job.namespace
    spec: dict[str, Any] = {}
    if job.scheduler:
        spec["schedulerName"] = job.scheduler
    if job.queue:
        spec["queue"] = job.queue
    if job.priority_class:
        spec["priorityClassName"] = job.priority_class
    if job.min_available is not None:
        spec["minAvailable"] = job.min_available
    if job.bound:
        spec["networkTopology"] = write_network_topology(job.bound)
    if job.plugins:
        spec["plugins"] = {name: list(job.plugins[name]) for name in sorted(job.plugins)}
    if job.policies:
        spec["policies"] = [write_policy(policy) for policy in job.policies]
    spec["tasks"] = [_task(task) for task in job.tasks]
    return {"apiVersion": API_VERSION, "kind": "Job", "metadata": metadata, "spec": spec}


def _task(task: Task) -> dict[str, Any]:
    written: dict[str, Any] = {"name": task.name, "replicas": task.replicas}
    if task.min_available is not None:
        written["minAvailable"] = task.min_available
    if task.depends_on:
        written["dependsOn"] = {"name": list(task.depends_on)}
    if task.policies:
        written["policies"] = [write_policy(policy) for policy in task.policies]
    return {**written, "template": dict(task.template)}


def write_policy(policy: Policy) -> dict[str, Any]:
    """An item of `policies`. A single event is not a list; Volcano reads both forms."""
    written: dict[str, Any] = {}
    if len(policy.events) == 1:
        written["event"] = policy.events[0]
    elif policy.events:
        written["events"] = list(policy.events)
    if policy.exit_code is not None:
        written["exitCode"] = policy.exit_code
    written["action"] = policy.action
    if policy.timeout:
        written["timeout"] = policy.timeout
    return written


def read(data: Mapping[str, Any], spec: Path = ("spec",)) -> Job:
    """The Job with its spec at a path. Fields that are missing or have the wrong type are empty."""
    metadata = mapping(data.get("metadata"))
    found: Mapping[str, Any] = data
    for step in spec:
        found = mapping(found.get(str(step)))
    plugins = mapping(found.get("plugins"))
    return Job(
        text(metadata.get("namespace")),
        text(metadata.get("name")),
        tuple(_read_task(task) for task in mappings(found.get("tasks"))),
        text(found.get("schedulerName")),
        text(found.get("queue")),
        whole(found.get("minAvailable")),
        text(found.get("priorityClassName")),
        tuple(map(read_policy, mappings(found.get("policies")))),
        {name: texts(args) for name, args in plugins.items() if isinstance(name, str)},
        read_network_topology(found.get("networkTopology")),
    )


def _read_task(data: Mapping[str, Any]) -> Task:
    return Task(
        text(data.get("name")),
        whole(data.get("replicas")) or 0,
        whole(data.get("minAvailable")),
        texts(mapping(data.get("dependsOn")).get("name")),
        tuple(map(read_policy, mappings(data.get("policies")))),
        mapping(data.get("template")),
    )


def read_policy(data: Mapping[str, Any]) -> Policy:
    one = text(data.get("event"))
    events = dict.fromkeys(((one,) if one else ()) + texts(data.get("events")))
    return Policy(
        text(data.get("action")), tuple(events), whole(data.get("exitCode")), text(data.get("timeout"))
    )
