"""Tasks of a Job as the webhook admits them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policykit.kube import requests
from policykit.kube.names import dns_label_problem, label_value_problem
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Violation
from policykit.manifests.path import Path
from policykit.manifests.shape import mapping, text, texts, whole
from policykit.model.quantity import parse
from policykit.rules.volcano.dependencies import Dependent, dependency_violations
from policykit.rules.volcano.job_specs import Spec, Task, tasks

_LONGEST = 63
_NUMA_POLICIES = ("best-effort", "restricted", "single-numa-node", "none")


def task_violations(spec: Spec) -> Iterator[Violation]:
    """Source: `webhooks/admission/jobs/validate/admit_job.go` (1.8 to 1.15)."""
    listed = tasks(spec)
    yield from _duplicates(listed)
    yield from _pod_names(spec, listed)
    yield from _below_zero(spec.data, spec.path, ("minAvailable", "maxRetry", "ttlSecondsAfterFinished"))
    for task in listed:
        yield from _below_zero(task.data, task.path, ("replicas", "minAvailable"))
        yield from _name(task)
        yield from _partitions(task)
        yield from _whole_cpus(task)
    yield from dependency_violations([_dependent(task) for task in listed])


def _duplicates(listed: Sequence[Task]) -> Iterator[Violation]:
    names: set[str] = set()
    for task in listed:
        if task.name in names and not is_placeholder(task.name):
            yield Violation(
                (*task.path, "name"),
                f"two tasks are named {task.name}: Volcano rejects the job",
                "give each task its own name",
            )
        names.add(task.name)


def _below_zero(data: Mapping[str, Any], path: Path, fields: Sequence[str]) -> Iterator[Violation]:
    for field in fields:
        value = whole(data.get(field))
        if value is not None and value < 0:
            yield Violation((*path, field), f"{field} is {value}, below 0", "write 0 or more")


def _name(task: Task) -> Iterator[Violation]:
    """Its pods and their host names are named after it."""
    problem = "" if is_placeholder(task.name) else dns_label_problem(task.name)
    if problem:
        yield Violation((*task.path, "name"), f"task name {task.name!r} {problem}", "rename the task")


def _pod_names(spec: Spec, listed: Sequence[Task]) -> Iterator[Violation]:
    """A task's pods are named after the job and the task, with a number at the end."""
    if not spec.name or is_placeholder(spec.name) or len(spec.name) > _LONGEST:
        return
    for number, task in enumerate(listed):
        pod = f"{spec.name}-{task.name}-{number}"
        if len(pod) > _LONGEST and not is_placeholder(task.name) and not label_value_problem(task.name):
            yield Violation(
                (*task.path, "name"),
                f"pods of task {task.name} would be named {pod}, which has {len(pod)} characters, more than "
                f"{_LONGEST}",
                "shorten the name of the job or the task",
            )


def _partitions(task: Task) -> Iterator[Violation]:
    policy = mapping(task.data.get("partitionPolicy"))
    total, size = whole(policy.get("totalPartitions")), whole(policy.get("partitionSize"))
    if not total or not size or total < 0 or size < 0:
        return
    replicas = task.data.get("replicas", 0)
    if whole(replicas) is not None and replicas != total * size:
        yield Violation(
            (*task.path, "replicas"),
            f"task {task.name} has {replicas} replicas, but {total} partitions of {size} make {total * size}",
            f"set replicas: {total * size}, or change the partitions",
        )
    least, available = whole(policy.get("minPartitions")), whole(task.data.get("minAvailable"))
    if least and least > 0 and available is not None and available != least * size:
        yield Violation(
            (*task.path, "minAvailable"),
            f"minAvailable of task {task.name} is {available}, but {least} partitions of {size} make "
            f"{least * size}",
            f"set minAvailable: {least * size}, or remove it",
        )


def _whole_cpus(task: Task) -> Iterator[Violation]:
    """A NUMA policy needs whole CPUs in every container."""
    policy = text(task.data.get("topologyPolicy"))
    if policy in ("", "none") or is_placeholder(policy):
        return
    if policy not in _NUMA_POLICIES:
        yield Violation(
            (*task.path, "topologyPolicy"),
            f"topologyPolicy {policy!r} of task {task.name} matches no node: its pods never start",
            f"write {', '.join(_NUMA_POLICIES[:-1])} or {_NUMA_POLICIES[-1]}",
        )
        return
    template = mapping(mapping(task.data.get("template")).get("spec"))
    base: Path = (*task.path, "template", "spec")
    for field, position, container in requests.containers(template):
        asked = _cpu(container)
        if is_placeholder(asked):
            continue
        quantity = parse(asked) if asked is not None else None
        if asked is not None and quantity is None:
            continue
        if quantity is None or quantity.nanos <= 0 or quantity.milli % 1000:
            found = f"requests {asked} CPU" if asked is not None else "requests no CPU"
            yield Violation(
                (*base, field, position, "resources"),
                f"topologyPolicy {policy} of task {task.name} needs whole CPUs, but a container {found}",
                "request a whole number of CPUs, or remove topologyPolicy",
            )


def _cpu(container: Mapping[str, Any]) -> object:
    resources = mapping(container.get("resources"))
    return (mapping(resources.get("requests")) or mapping(resources.get("limits"))).get("cpu")


def _dependent(task: Task) -> Dependent:
    after = texts(mapping(task.data.get("dependsOn")).get("name"))
    return Dependent("task", task.name, (*task.path, "dependsOn", "name"), after)
