"""Start order of pods: which pods of an object are created before the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from policykit.kube.podsets.podset import PodSet
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path, lookup
from policykit.manifests.shape import mapping, mappings
from policykit.namedtuple import NamedTuple

LAUNCHER_LAST = (
    "launcherCreationPolicy WaitForWorkersReady creates the launcher only once the workers are ready"
)


class FirstPods(NamedTuple):
    """Pods that are created before any others."""

    pods: int
    path: Path
    """Path of the field that sets the order, also if it is missing."""
    why: str


def first(manifest: Manifest, pod_sets: Sequence[PodSet]) -> FirstPods | None:
    """The first pods among these pod sets; None: all are created at once, or it is unknown."""
    read = _KINDS.get((manifest.group, manifest.kind))
    return read(manifest.data, pod_sets) if read else None


def _stateful(data: Mapping[str, Any], pod_sets: Sequence[PodSet]) -> FirstPods | None:
    path = ("spec", "podManagementPolicy")
    if lookup(data, path) not in (None, "OrderedReady"):
        return None
    return FirstPods(
        1, path, "podManagementPolicy OrderedReady creates a pod only once the previous one is ready"
    )


def _job_set(data: Mapping[str, Any], pod_sets: Sequence[PodSet]) -> FirstPods | None:
    """Source: JobSet 0.13, `dependsOn` of a replicated job and `startupPolicy`."""
    jobs = lookup(data, ("spec", "replicatedJobs"))
    if not isinstance(jobs, list):
        return None
    order = ("spec", "startupPolicy", "startupPolicyOrder")
    if lookup(data, order) == "InOrder" and len(jobs) > 1:
        return _of(
            pod_sets,
            [0],
            order,
            "startupPolicyOrder InOrder starts a job only once the previous one is ready",
        )
    waiting = [number for number, job in enumerate(jobs) if mapping(job).get("dependsOn")]
    if not waiting:
        return None
    free = [number for number in range(len(jobs)) if number not in waiting]
    path = ("spec", "replicatedJobs", waiting[0], "dependsOn")
    return _of(
        pod_sets,
        free,
        path,
        "dependsOn creates the pods of a job only once the jobs it names are ready or complete",
    )


def _of(pod_sets: Sequence[PodSet], jobs: Sequence[int], path: Path, why: str) -> FirstPods | None:
    pods = [one.replicas for one in pod_sets if len(one.path) > 2 and one.path[2] in jobs]
    return None if None in pods else FirstPods(sum(number or 0 for number in pods), path, why)


def _groups(data: Mapping[str, Any], pod_sets: Sequence[PodSet]) -> FirstPods | None:
    """LeaderWorkerSet: one leader of each group."""
    path = ("spec", "startupPolicy")
    leader = lookup(data, ("spec", "leaderWorkerTemplate", "leaderTemplate"))
    if leader is not None and not any(one.name == "leader" for one in pod_sets):
        return None
    replicas = lookup(data, ("spec", "replicas"))
    leaders = 1 if replicas is None else replicas
    if lookup(data, path) != "LeaderReady" or isinstance(leaders, bool) or not isinstance(leaders, int):
        return None
    return FirstPods(
        leaders,
        path,
        "startupPolicy LeaderReady creates the workers of a group only once its leader is ready",
    )


def _spark(data: Mapping[str, Any], pod_sets: Sequence[PodSet]) -> FirstPods | None:
    if not any(one.name.startswith("driver") for one in pod_sets):
        return None
    return FirstPods(1, ("spec", "executor"), "the driver requests the executors once it runs")


def _ray_job(data: Mapping[str, Any], pod_sets: Sequence[PodSet]) -> FirstPods | None:
    rest = [one.replicas for one in pod_sets if one.name != "submitter"]
    if len(rest) == len(pod_sets) or not rest or None in rest:
        return None
    why = "the submitter is created only once the cluster is ready"
    return FirstPods(sum(number or 0 for number in rest), ("spec", "submitterPodTemplate"), why)


def _mpi(data: Mapping[str, Any], pod_sets: Sequence[PodSet]) -> FirstPods | None:
    path = ("spec", "launcherCreationPolicy")
    workers = [one.replicas for one in pod_sets if one.name == "worker"]
    if lookup(data, path) != "WaitForWorkersReady" or None in workers:
        return None
    return FirstPods(sum(number or 0 for number in workers), path, LAUNCHER_LAST)


_Read = Callable[[Mapping[str, Any], Sequence[PodSet]], FirstPods | None]
_KINDS: Mapping[tuple[str, str], _Read] = {
    ("apps", "StatefulSet"): _stateful,
    ("jobset.x-k8s.io", "JobSet"): _job_set,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): _groups,
    ("sparkoperator.k8s.io", "SparkApplication"): _spark,
    ("ray.io", "RayJob"): _ray_job,
    ("kubeflow.org", "MPIJob"): _mpi,
}


class TaskDeadlock(NamedTuple):
    """Tasks of a Volcano Job of which some wait for others, and a gang that needs the waiting ones."""

    minimum: int
    first: int
    path: Path
    message: str
    """The problem as a sentence; empty: the two numbers explain it."""


def tasks_that_wait(job: Mapping[str, Any], base: Path) -> TaskDeadlock | None:
    """The tasks of a Volcano JobSpec that wait forever; None if there are none.

    Source: `controllers/job` and plugin gang of Volcano 1.15: pods of a task with dependsOn are created
    once the tasks it names have their minimum running, and none of a gang runs before all of it fits.
    """
    listed = job.get("tasks")
    tasks = [task for task in mappings(listed) if task.get("partitionPolicy") is None]
    if not isinstance(listed, list) or len(tasks) != len(listed):
        return None
    replicas = [_number(task.get("replicas"), 0) for task in tasks]
    minima = [_number(task.get("minAvailable"), each) for task, each in zip(tasks, replicas, strict=True)]
    written = _number(job.get("minAvailable"), 0)
    if None in replicas or None in minima or written is None:
        return None
    least = dict(zip((str(task.get("name")) for task in tasks), minima, strict=True))
    waits = [number for number, task in enumerate(tasks) if _held_back(task, least)]
    if not waits or len(waits) == len(tasks):
        return None  # another rule reports a cycle of tasks
    minimum = written or sum(each or 0 for each in minima)
    first_pods = sum(each or 0 for number, each in enumerate(replicas) if number not in waits)
    path = (*base, "tasks", waits[0], "dependsOn")
    if minimum > first_pods:
        return TaskDeadlock(minimum, first_pods, path, "")
    needing = [number for number in waits if minima[number]]
    if needing and minimum >= sum(each or 0 for each in minima):
        named = tasks[needing[0]].get("name") or needing[0]
        of = minima[needing[0]]
        message = (
            f"the gang needs {of} of task {named} as well, because minAvailable {minimum} includes "
            "the minimum of every task, but its pods are created only once the others run"
        )
        return TaskDeadlock(minimum, first_pods, (*base, "tasks", needing[0], "dependsOn"), message)
    return None


def _held_back(task: Mapping[str, Any], least: Mapping[str, int | None]) -> bool:
    names = mapping(task.get("dependsOn")).get("name")
    return isinstance(names, list) and any(isinstance(name, str) and least.get(name) for name in names)


def _number(value: object, default: int | None) -> int | None:
    if value is None:
        return default
    return value if isinstance(value, int) and not isinstance(value, bool) else None
