"""Patches that make a Volcano Job as its workload kind asks; also a CronJob and a JobTemplate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import Path, lookup
from policykit.model.cluster import Cluster
from policykit.model.workload import WorkloadKind
from policykit.targets.release import Version
from policykit.targets.volcano import versions
from policykit.targets.volcano.jobs import options as job_options
from policykit.targets.volcano.jobs.objects import (
    ANNOTATIONS,
    Job,
    Policy,
    needed,
    read,
    write_policy,
)
from policykit.targets.volcano.names import BATCH_GROUP, FLOW_GROUP, SCHEDULER, SPECS
from policykit.targets.volcano.objects import topology

CRON = Version(1, 13, 0)
"""CronJob of batch.volcano.sh."""
PENDING = Version(1, 11, 0)
"""Event PodPending in the policies of a job."""
_PENDING, _ANY, _ABORT = "PodPending", "*", "AbortJob"


class _Asked(NamedTuple):
    """A job with all that decides its patches."""

    job: Job
    data: Mapping[str, Any]
    spec: Path
    kind: WorkloadKind
    cluster: Cluster
    version: Version


def patches(job: Mapping[str, Any], kind: WorkloadKind, cluster: Cluster) -> tuple[Patch, ...]:
    """Changes to a Job, CronJob or JobTemplate of Volcano, to be made in order; none where all is there.

    Scheduler, queue, priority class, gang with its timeout, network topology, and the job
    plugins and task topology of the target's options: what is left unsaid stays as it is.
    Pod templates are not looked at beyond a schedulerName of their own. For other objects,
    and jobs of other schedulers: nothing.
    """
    asked = _asked(job, kind, cluster)
    if asked is None:
        return ()
    return (*_names(asked), *_gang(asked), *_timeout(asked), *_closeness(asked), *_options(asked))


def notices(job: Mapping[str, Any], kind: WorkloadKind, cluster: Cluster) -> tuple[str, ...]:
    """What the patches of an object cannot say, and what comes nearest."""
    if _group_kind(job) == (FLOW_GROUP, "JobFlow"):
        return (
            "Volcano's controller does not read the patch of a JobFlow's flows: change the JobTemplates that "
            "they name",
        )
    asked = _asked(job, kind, cluster)
    if asked is None:
        return ()
    said = job_options.stated(cluster, kind.name)
    left_out = job_options.notices(said, asked.job)
    return (*_release(asked), *_size_notices(asked), *_timeout_notices(asked), *left_out)


def _asked(job: Mapping[str, Any], kind: WorkloadKind, cluster: Cluster) -> _Asked | None:
    spec = SPECS.get(_group_kind(job))
    target = cluster.targets.get(SCHEDULER)
    ours = (SCHEDULER, target.scheduler_name if target else SCHEDULER)
    found = lookup(job, spec) if spec else None
    if spec is None or not isinstance(found, dict) or (kind.scheduler and kind.scheduler not in ours):
        return None
    version = versions.parse(target.version if target else "")
    return _Asked(read(job, spec), job, spec, kind, cluster, version)


def _group_kind(job: Mapping[str, Any]) -> tuple[str, str]:
    api_version, kind = job.get("apiVersion"), job.get("kind")
    group = api_version.partition("/")[0] if isinstance(api_version, str) else ""
    return group, kind if isinstance(kind, str) else ""


def _set(asked: _Asked, value: Any, *place: str | int) -> Iterator[Patch]:
    path = (*asked.spec, *place)
    if lookup(asked.data, path) != value:
        yield Patch("add", path, value)


def _names(asked: _Asked) -> Iterator[Patch]:
    kind = asked.kind
    if kind.scheduler and (asked.job.scheduler or SCHEDULER) != kind.scheduler:
        yield from _set(asked, kind.scheduler, "schedulerName")
    for number in range(len(asked.job.tasks)) if kind.scheduler else ():
        own = ("tasks", number, "template", "spec", "schedulerName")
        # A task's own schedulerName wins over the job's.
        if lookup(asked.data, (*asked.spec, *own)) not in (None, ""):
            yield from _set(asked, kind.scheduler, *own)
    if kind.queue:
        yield from _set(asked, kind.queue, "queue")
    if kind.priority_class:
        yield from _set(asked, kind.priority_class, "priorityClassName")


def _independent(job: Job) -> int:
    """Pods of the tasks that wait for no other."""
    return sum(task.replicas for task in job.tasks if not task.depends_on)


def _wanted(asked: _Asked) -> int | None:
    """minAvailable as the kind asks; no more than there are, or than are made before others run."""
    if asked.kind.gang != "all" or not asked.job.replicas:
        return None
    size = asked.kind.gang_rule.size if asked.kind.gang_rule else None
    # Pods of a dependent task are not made until others run: a gang cannot wait for them.
    most = _independent(asked.job) or asked.job.replicas
    return min(size or asked.job.replicas, most)


def _gang(asked: _Asked) -> Iterator[Patch]:
    wanted = _wanted(asked)
    if wanted is None:
        return
    # Where each task's own minimum counts, that of a dependent one must not: it has no pods yet.
    counted = asked.job.tasks if wanted >= asked.job.task_minimum else ()
    held = [number for number, task in enumerate(counted) if task.depends_on and needed(task)]
    # Without a stated one the job's minimum is the sum of its tasks', which are about to change.
    if asked.job.gang != wanted or held:
        yield from _set(asked, wanted, "minAvailable")
    for number in held:
        yield from _set(asked, 0, "tasks", number, "minAvailable")


def _size_notices(asked: _Asked) -> Iterator[str]:
    wanted, rule = _wanted(asked), asked.kind.gang_rule
    if wanted is None:
        return
    waiting = [task.name for task in asked.job.tasks if task.depends_on]
    asked_for = (rule.size if rule else None) or asked.job.replicas
    if asked_for > asked.job.replicas:
        yield f"a gang of {asked_for} is asked for, but the job has {asked.job.replicas} pods: all of them"
    if waiting and wanted < min(asked_for, asked.job.replicas):
        yield (
            f"task {', '.join(waiting)} waits for others (dependsOn), so its pods are not in the gang: "
            f"minAvailable is {wanted}, or nothing would ever start"
        )


def _fails(asked: _Asked) -> int:
    """Seconds after which a gang that has not started is given up; 0: never."""
    rule = asked.kind.gang_rule
    if asked.kind.gang != "all" or rule is None or rule.on_timeout != "fail":
        return 0
    return rule.timeout or 0


def _timeout(asked: _Asked) -> Iterator[Patch]:
    """Volcano keeps no place for a gang that does not fit whole, so only giving up needs a policy."""
    seconds = _fails(asked)
    policies = asked.job.policies
    if not seconds or asked.version < PENDING or any(_ANY in policy.events for policy in policies):
        return
    wanted = Policy(_ABORT, (_PENDING,), timeout=f"{seconds}s")
    there = next((n for n, policy in enumerate(policies) if _PENDING in policy.events), None)
    if there is None:
        last: Path = ("policies", APPEND) if policies else ("policies",)
        item: Any = write_policy(wanted)
        yield Patch("add", (*asked.spec, *last), item if policies else [item])
    elif policies[there].events == (_PENDING,):
        for field in ("action", "timeout"):
            yield from _set(asked, write_policy(wanted)[field], "policies", there, field)


def _timeout_notices(asked: _Asked) -> Iterator[str]:
    rule = asked.kind.gang_rule
    if asked.kind.gang == "all" and rule and rule.on_timeout == "start":
        yield (
            "Volcano starts no part of a gang after a time: a smaller gang size comes nearest, the other "
            "pods follow when they fit"
        )
    if not _fails(asked):
        return
    listed = [event for policy in asked.job.policies for event in policy.events]
    together = any(_PENDING in p.events and len(p.events) > 1 for p in asked.job.policies)
    if asked.version < PENDING:
        yield (
            f"Volcano {asked.version} has no event PodPending (since {PENDING}): the gang's timeout is not "
            "written"
        )
    elif _ANY in listed:
        yield "a policy for event * allows no other event: the gang's timeout is not written"
    elif together:
        yield (
            "a policy lists PodPending with other events: the gang's timeout is not written, give it a "
            "policy of its own"
        )
    else:
        yield (
            f"the job is aborted when one of its pods is pending for {_fails(asked)} s. Time in the queue, "
            "before Volcano makes its pods, does not count; time to pull images does"
        )


def _closeness(asked: _Asked) -> Iterator[Patch]:
    within = asked.kind.within
    found = topology.bound(within, asked.cluster, asked.version) if within else None
    if found:
        yield from _set(asked, topology.write_bound(found), "networkTopology")


def _options(asked: _Asked) -> Iterator[Patch]:
    said = job_options.stated(asked.cluster, asked.kind.name)
    annotations = ANNOTATIONS[_group_kind(asked.data)]
    yield from job_options.patches(said, asked.job, asked.data, asked.spec, annotations)


def _release(asked: _Asked) -> Iterator[str]:
    if _group_kind(asked.data) == (BATCH_GROUP, "CronJob") and asked.version < CRON:
        yield f"Volcano {asked.version} has no CronJob (since {CRON})"
    if asked.kind.within and asked.version < versions.TOPOLOGY:
        yield (
            f"Volcano {asked.version} has no network topology (since {versions.TOPOLOGY}): that the pods "
            f"stay within one {asked.kind.within.level} is not written. Pod affinity on its label comes "
            "nearest"
        )
