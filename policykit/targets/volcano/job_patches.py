"""Patches of Volcano Jobs, CronJobs and JobTemplates for a workload kind, also as a kustomize component."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policykit.generator.artifact import ComponentPatch
from policykit.manifests.patch import APPEND, Patch, patched
from policykit.manifests.path import Path, lookup, pointer
from policykit.model.cluster import Cluster
from policykit.model.release import Version
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets import target_name_of
from policykit.targets.volcano import job_patches, versions
from policykit.targets.volcano.job_plugins import roles
from policykit.targets.volcano.names import BATCH_GROUP, FLOW_GROUP, SCHEDULER, SPECS
from policykit.targets.volcano.objects import topology
from policykit.targets.volcano.objects.jobs import (
    ANNOTATIONS,
    API_VERSION,
    Job,
    Policy,
    needed,
    read,
    write_policy,
)
from policykit.targets.volcano.options import JobOptions, TaskTopology, volcano_options

_PENDING, _ANY, _ABORT = "PodPending", "*", "AbortJob"


class _Case(NamedTuple):
    """A job, and what its patches depend on."""

    job: Job
    data: Mapping[str, Any]
    spec: Path
    kind: WorkloadKind
    cluster: Cluster
    version: Version


def patches(job: Mapping[str, Any], kind: WorkloadKind, cluster: Cluster) -> tuple[Patch, ...]:
    """Changes to a Job, CronJob or JobTemplate of Volcano, in order; empty if nothing is missing.

    Scheduler, queue, priority class, gang with its timeout, network topology, and the job
    plugins and task topology of the target's options. In pod templates only schedulerName changes.
    Other objects, and jobs of other schedulers, are left unchanged.
    """
    case = _case(job, kind, cluster)
    if case is None:
        return ()
    return (*_names(case), *_gang(case), *_timeout(case), *_topology(case), *_options(case))


def notices(job: Mapping[str, Any], kind: WorkloadKind, cluster: Cluster) -> tuple[str, ...]:
    """Notices about what the patches of an object cannot express, with the nearest alternative."""
    if _group_kind(job) == (FLOW_GROUP, "JobFlow"):
        return (
            "Volcano's controller does not read the patch of a JobFlow's flows: change the JobTemplates that "
            "they name",
        )
    case = _case(job, kind, cluster)
    if case is None:
        return ()
    options = _job_options(cluster, kind)
    left_out = _option_notices(options, case.job)
    return (*_release(case), *_size_notices(case), *_timeout_notices(case), *left_out)


def _job_options(cluster: Cluster, kind: WorkloadKind) -> JobOptions:
    return volcano_options(cluster.targets.get(SCHEDULER)).jobs.get(kind.name, JobOptions())


def _case(job: Mapping[str, Any], kind: WorkloadKind, cluster: Cluster) -> _Case | None:
    spec = SPECS.get(_group_kind(job))
    target = cluster.targets.get(SCHEDULER)
    ours = (SCHEDULER, target.scheduler_name if target else SCHEDULER)
    found = lookup(job, spec) if spec else None
    if spec is None or not isinstance(found, dict) or (kind.scheduler and kind.scheduler not in ours):
        return None
    version = versions.parse(target.version if target else "")
    return _Case(read(job, spec), job, spec, kind, cluster, version)


def _group_kind(job: Mapping[str, Any]) -> tuple[str, str]:
    api_version, kind = job.get("apiVersion"), job.get("kind")
    group = api_version.partition("/")[0] if isinstance(api_version, str) else ""
    return group, kind if isinstance(kind, str) else ""


def _set(case: _Case, value: Any, *place: str | int) -> Iterator[Patch]:
    path = (*case.spec, *place)
    if lookup(case.data, path) != value:
        yield Patch("add", path, value)


def _names(case: _Case) -> Iterator[Patch]:
    kind = case.kind
    if kind.scheduler and (case.job.scheduler or SCHEDULER) != kind.scheduler:
        yield from _set(case, kind.scheduler, "schedulerName")
    for number in range(len(case.job.tasks)) if kind.scheduler else ():
        own = ("tasks", number, "template", "spec", "schedulerName")
        # A task's schedulerName takes precedence over the job's.
        if lookup(case.data, (*case.spec, *own)) not in (None, ""):
            yield from _set(case, kind.scheduler, *own)
    if kind.queue:
        yield from _set(case, kind.queue, "queue")
    if kind.priority_class:
        yield from _set(case, kind.priority_class, "priorityClassName")


def _independent(job: Job) -> int:
    """Number of pods of tasks that depend on no other."""
    return sum(task.replicas for task in job.tasks if not task.depends_on)


def _gang_size(case: _Case) -> int | None:
    """minAvailable for the kind: at most the number of pods that Volcano creates at once."""
    if case.kind.gang != "all" or not case.job.replicas:
        return None
    size = case.kind.gang_rule.size if case.kind.gang_rule else None
    # Pods of a dependent task are not created until others run: a gang cannot wait for them.
    most = _independent(case.job) or case.job.replicas
    return min(size or case.job.replicas, most)


def _gang(case: _Case) -> Iterator[Patch]:
    size = _gang_size(case)
    if size is None:
        return
    # If each task's own minimum counts, that of a dependent one must be 0: it has no pods yet.
    counted = case.job.tasks if size >= case.job.task_minimum else ()
    held = [number for number, task in enumerate(counted) if task.depends_on and needed(task)]
    # Written even if it is the default: only the webhook /jobs/mutate sets that, and without it the
    # pods of a job start one by one.
    yield from _set(case, size, "minAvailable")
    for number in held:
        yield from _set(case, 0, "tasks", number, "minAvailable")


def _size_notices(case: _Case) -> Iterator[str]:
    size, rule = _gang_size(case), case.kind.gang_rule
    if size is None:
        return
    waiting = [task.name for task in case.job.tasks if task.depends_on]
    requested = (rule.size if rule else None) or case.job.replicas
    if requested > case.job.replicas:
        yield (
            f"the policy asks for a gang of {requested}, but the job has {case.job.replicas} pods: the "
            "gang is all of them"
        )
    if waiting and size < min(requested, case.job.replicas):
        yield (
            f"task {', '.join(waiting)} depends on others (dependsOn), so its pods are not in the gang: "
            f"minAvailable is {size}, or nothing would ever start"
        )


def _abort_after(case: _Case) -> int:
    """Seconds after which a gang that has not started is aborted; 0: never."""
    rule = case.kind.gang_rule
    if case.kind.gang != "all" or rule is None or rule.on_timeout != "fail":
        return 0
    return rule.timeout or 0


def _timeout(case: _Case) -> Iterator[Patch]:
    """Policies that abort a gang; waiting needs none, since Volcano reserves nothing for it."""
    seconds = _abort_after(case)
    policies = case.job.policies
    if not seconds or case.version < versions.POD_PENDING:
        return
    if any(_ANY in policy.events for policy in policies):
        return
    abort = Policy(_ABORT, (_PENDING,), timeout=f"{seconds}s")
    there = next((n for n, policy in enumerate(policies) if _PENDING in policy.events), None)
    if there is None:
        last: Path = ("policies", APPEND) if policies else ("policies",)
        item: Any = write_policy(abort)
        yield Patch("add", (*case.spec, *last), item if policies else [item])
    elif policies[there].events == (_PENDING,):
        for field in ("action", "timeout"):
            yield from _set(case, write_policy(abort)[field], "policies", there, field)


def _timeout_notices(case: _Case) -> Iterator[str]:
    rule = case.kind.gang_rule
    if case.kind.gang == "all" and rule and rule.on_timeout == "start":
        yield (
            "Volcano cannot start part of a gang after a timeout. Nearest: a smaller gang size, with the "
            "other pods following when they fit"
        )
    if not _abort_after(case):
        return
    listed = [event for policy in case.job.policies for event in policy.events]
    together = any(_PENDING in p.events and len(p.events) > 1 for p in case.job.policies)
    if case.version < versions.POD_PENDING:
        yield (
            f"Volcano {case.version} has no event PodPending (added in {versions.POD_PENDING}): the gang's "
            "timeout is not written"
        )
    elif _ANY in listed:
        yield "a policy for event * excludes policies for other events: the gang's timeout is not written"
    elif together:
        yield (
            "a policy lists PodPending with other events: the gang's timeout is not written. Give "
            "PodPending its own policy"
        )
    else:
        yield (
            f"the job is aborted when one of its pods is pending for {_abort_after(case)} s. Time in the "
            "queue, before Volcano creates its pods, does not count; time to pull images does"
        )


def _topology(case: _Case) -> Iterator[Patch]:
    within = case.kind.within
    found = topology.network_topology(within, case.cluster, case.version) if within else None
    if found:
        yield from _set(case, topology.write_network_topology(found), "networkTopology")


def _options(case: _Case) -> Iterator[Patch]:
    options = _job_options(case.cluster, case.kind)
    annotations = ANNOTATIONS[_group_kind(case.data)]
    yield from _option_patches(options, case.job, case.data, case.spec, annotations)


def _release(case: _Case) -> Iterator[str]:
    if _group_kind(case.data) == (BATCH_GROUP, "CronJob") and case.version < versions.CRON_JOBS:
        yield f"Volcano {case.version} has no CronJob (added in {versions.CRON_JOBS})"
    if case.kind.within and case.version < versions.TOPOLOGY:
        yield topology.unsupported(case.version, case.kind.within.level)


_PREFIX = "volcano.sh/task-topology-"


def missing_plugin_notices(cluster: Cluster) -> tuple[str, ...]:
    """Reports that the scheduler's configuration lacks the plugin that reads the annotations."""
    stated = volcano_options(cluster.targets.get(SCHEDULER))
    kinds = sorted(name for name, options in stated.jobs.items() if any(options.task_topology))
    if not kinds or "task-topology" in stated.plugins:
        return ()
    return (
        f"task topology of {', '.join(kinds)} needs plugin task-topology, which is not in the configuration: "
        "add it to targets.volcano.plugins",
    )


def _option_patches(
    options: JobOptions, job: Job, data: Mapping[str, Any], spec: Path, annotations: Path
) -> Iterator[Patch]:
    """Plugins that are missing or have other arguments, and the annotations of task topology.

    Parts that name a task the job does not have are left out.
    """
    for name, arguments in options.plugins.items():
        if not _absent(job, roles(name, arguments).values()) and job.plugins.get(name) != arguments:
            yield Patch("add", (*spec, "plugins", name), list(arguments))
    for part, value in _task_topology(options.task_topology, job).items():
        path = (*annotations, f"{_PREFIX}{part}")
        if lookup(data, path) != value:
            yield Patch("add", path, value)


def _option_notices(options: JobOptions, job: Job) -> Iterator[str]:
    """Notices about parts left out."""
    for name, arguments in options.plugins.items():
        missing = _absent(job, roles(name, arguments).values())
        if missing:
            yield f"job plugin {name} names task {missing[0]}, which the job does not have: it is left out"
    named = options.task_topology
    tasks = [task for group in (*named.affinity, *named.anti_affinity, named.order) for task in group]
    missing = _absent(job, tasks)
    if missing:
        yield f"task topology names task {', '.join(missing)}, which the job does not have: it is left out"


def _task_topology(options: TaskTopology, job: Job) -> dict[str, str]:
    """Part of the task topology to the text of its annotation, without groups that lack a task."""
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
