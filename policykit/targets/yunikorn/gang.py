"""The gang of a job: task groups from its pod sets, and its timeout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policykit.kube.names import label_value_problem
from policykit.model.cluster import Cluster
from policykit.model.gang import GangRule
from policykit.model.pod_fields import JobPods, PodContext
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets import pod_spreading
from policykit.targets.yunikorn.task_groups import TaskGroup, quantities

SINGLE_GROUP = "pods"
"""Name of the group of a job that has only one."""
_STYLES = {"fail": "Hard", "start": "Soft", "wait": "Hard"}


class Gang(NamedTuple):
    """Annotations of the pods of a job; without groups it cannot be a gang."""

    groups: tuple[TaskGroup, ...] = ()
    own_group: str = ""
    """Group of the pods being patched; empty: none."""
    parameters: str = ""
    notices: tuple[str, ...] = ()


def gang_of(
    kind: WorkloadKind, cluster: Cluster, pods: PodContext, together: Mapping[str, Any], path: str
) -> Gang:
    """The gang of a job. `together` is the podAffinity of the pods, `path` their queue or empty."""
    rule = kind.gang_rule or GangRule()
    sizes, size_notices = _sizes(kind, rule, pods)
    if not sizes:
        return Gang(notices=size_notices)
    if path and label_value_problem(path):
        return Gang(
            notices=(
                f"{kind.name}: queue {path} does not fit into a label of 63 characters, which "
                "placeholders need, so YuniKorn cannot create them. Nearest: shorter queue names",
            )
        )
    groups = tuple(
        _group(members, size, kind, cluster, pods, together)
        for members, size in zip(pods.job, sizes, strict=True)
        if size
    )
    own_group = next(
        (group_name(m) for m, n in zip(pods.job, sizes, strict=True) if m.name == pods.pod_set and n), ""
    )
    notices = (
        *size_notices,
        *_retry_notices(kind, rule),
        *_quota_notices(kind, cluster, pods, sizes),
        *_overlap_notices(kind, pods),
    )
    return Gang(groups, own_group, _parameters(rule), notices)


def group_name(members: JobPods) -> str:
    return members.name or SINGLE_GROUP


def _sizes(kind: WorkloadKind, rule: GangRule, pods: PodContext) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """How many pods of each set start together; empty: unknown."""
    minimum = rule.size
    if any(members.replicas is None for members in pods.job):
        if len(pods.job) == 1 and minimum:
            return (minimum,), ()
        return (), (
            f"{kind.name}: not every part of {pods.owner} has a fixed number of pods, so the size "
            "of the gang is unknown. Nearest: gang.size, for a job with one part",
        )
    counts = [members.replicas or 0 for members in pods.job]
    if minimum is None or minimum >= sum(counts):
        return _unless_empty(counts), ()
    taken: list[int] = []
    for number in counts:
        taken.append(min(number, minimum - sum(taken)))
    notice = f"{kind.name}: the gang of {minimum} pods is divided among the parts for YuniKorn: "
    shown = ", ".join(f"{n} {group_name(m)}" for m, n in zip(pods.job, taken, strict=True))
    return _unless_empty(taken), (notice + shown,) if len(pods.job) > 1 else ()


def _unless_empty(sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(sizes) if any(sizes) else ()


def _group(
    members: JobPods,
    size: int,
    kind: WorkloadKind,
    cluster: Cluster,
    pods: PodContext,
    together: Mapping[str, Any],
) -> TaskGroup:
    across = kind.across
    key = pod_spreading.key_of(cluster, across.level) if across and across.hard else ""
    constraint = (
        (pod_spreading.constraint(kind.name, key, across, pods.owner_kind),) if across and key else ()
    )
    return TaskGroup(
        group_name(members),
        size,
        quantities(members.requests),
        members.node_selector,
        members.tolerations,
        {**members.affinity, **({"podAffinity": together} if together else {})},
        constraint,
        {WORKLOAD_KEY: kind.name} if constraint else {},
    )


def _parameters(rule: GangRule) -> str:
    found = [f"placeholderTimeoutInSeconds={rule.timeout}"] if rule.timeout else []
    style = _STYLES.get(rule.on_timeout)
    return " ".join([*found, *([f"gangSchedulingStyle={style}"] if style else [])])


def _retry_notices(kind: WorkloadKind, rule: GangRule) -> tuple[str, ...]:
    if rule.on_timeout != "wait":
        return ()
    return (
        f"{kind.name}: a YuniKorn gang does not retry after its timeout. Nearest: gangSchedulingStyle "
        "Hard, which fails its pods, so that the job's own retries recreate them",
    )


def _overlap_notices(kind: WorkloadKind, pods: PodContext) -> tuple[str, ...]:
    if pods.owner_kind != "CronJob":
        return ()
    return (
        f"{kind.name}: all runs of CronJob {pods.owner} share one application, so a run that overlaps "
        "the previous one does not wait for all its pods. Nearest: concurrencyPolicy Forbid",
    )


def _quota_notices(
    kind: WorkloadKind, cluster: Cluster, pods: PodContext, sizes: Sequence[int]
) -> tuple[str, ...]:
    """YuniKorn rejects an application whose groups request more than its queue may ever use."""
    asked: dict[str, int] = {"pods": sum(sizes)}
    for members, size in zip(pods.job, sizes, strict=True):
        for name, amount in members.requests.items():
            asked[name] = asked.get(name, 0) + amount * size
    most = _effective_limit(kind.queue, cluster)
    over = [name for name in sorted(most) if asked.get(name, 0) > most[name]]
    return tuple(
        f"{kind.name}: the gang of {pods.owner} requests {amount_text(name, asked[name])} {name}, but queue "
        f"{kind.queue} may use at most {amount_text(name, most[name])}: YuniKorn rejects it"
        for name in over
    )


def _effective_limit(queue: str, cluster: Cluster) -> Amounts:
    """The smallest limit of a queue and its parents, for each resource."""
    known = {each.name: each for each in cluster.queues}
    found: dict[str, int] = {}
    seen: set[str] = set()
    while queue in known and queue not in seen:
        seen.add(queue)
        for name, amount in known[queue].limit.items():
            found[name] = min(amount, found.get(name, amount))
        queue = known[queue].parent
    return found
