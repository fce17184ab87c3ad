"""Notices about what Kueue cannot express, with the nearest alternative."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from policykit.model.cluster import Cluster
from policykit.model.queue import Queue
from policykit.model.release import Version
from policykit.targets.kueue import tenancy, versions
from policykit.targets.kueue.options import KueueOptions

_EVERYBODY = "*"


def notices(cluster: Cluster, options: KueueOptions, version: Version) -> Iterator[str]:
    """One notice for each field that is not written."""
    yield from _queues(cluster, options, version)
    yield from _parents_with_workloads(cluster)
    yield from _priorities(cluster)
    yield from tenancy.notices(cluster)
    yield from _gangs(cluster)


def _queues(cluster: Cluster, options: KueueOptions, version: Version) -> Iterator[str]:
    closed = _named(cluster, lambda queue: queue.submit is not None and _EVERYBODY not in queue.submit.users)
    if closed:
        yield (
            f"queue {closed}: Kueue has no users or groups. Restrict by RBAC who may create LocalQueues, and "
            "workloads in the namespaces that have one"
        )
    kept = _named(cluster, lambda queue: not queue.reclaimable)
    if kept:
        yield (
            f"queue {kept}: Kueue cannot exempt a queue from reclaim. Nearest: a limit equal to what it "
            "deserves, so that it borrows nothing"
        )
    ranked = _named(cluster, lambda queue: queue.priority is not None)
    if ranked:
        yield f"queue {ranked}: ClusterQueues have no priority. Nearest: priorities of the workloads"
    weighted = _named(cluster, lambda queue: queue.weight != 1)
    if weighted and not options.fair_sharing:
        yield (
            f"queue {weighted}: Kueue reads weights only with fair sharing. Enable it in Kueue's "
            "Configuration, and set targets.kueue.fairSharing"
        )
    parents = {queue.parent for queue in cluster.queues}
    inner = _named(cluster, lambda queue: queue.weight != 1 and queue.name in parents)
    if inner and options.fair_sharing and version < versions.COHORT_FAIR_SHARING:
        yield (
            f"queue {inner}: Cohorts of Kueue {version} have no weight (added in "
            f"{versions.COHORT_FAIR_SHARING})"
        )


def _named(cluster: Cluster, condition: Callable[[Queue], bool]) -> str:
    return ", ".join(sorted(queue.name for queue in cluster.queues if condition(queue)))


def _parents_with_workloads(cluster: Cluster) -> Iterator[str]:
    parents = {queue.parent for queue in cluster.queues}
    for name in sorted(tenancy.namespaces(cluster).keys() & parents):
        yield (
            f"queue {name} has children and workloads of its own: beside its Cohort it becomes a "
            "ClusterQueue of the same name without quota, which borrows from the Cohort"
        )


def _priorities(cluster: Cluster) -> Iterator[str]:
    calm = ", ".join(sorted(each.name for each in cluster.priorities if not each.preempts))
    if calm:
        yield (
            f"priority {calm}: a WorkloadPriorityClass has no preemptionPolicy, so its workloads preempt as "
            "their queue allows"
        )


def _gangs(cluster: Cluster) -> Iterator[str]:
    late = sorted(
        kind.name
        for kind in cluster.workloads.values()
        if tenancy.admits(kind, cluster) and kind.gang_rule and kind.gang_rule.timeout
    )
    if late:
        yield (
            f"workload kind {', '.join(late)}: Kueue has one timeout for all workloads: waitForPodsReady in "
            "its Configuration"
        )
