"""Labels, annotations and affinity that YuniKorn's pods need: application, queue, gang, topology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from policykit.kube.names import label_value_problem
from policykit.model.cluster import Cluster
from policykit.model.gang import GangRule
from policykit.model.pod_fields import JobPods, PodContext, PodFields
from policykit.model.pool import Amounts
from policykit.model.quantity import amount_text
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.placement.recognition import WORKLOAD_KEY
from policykit.targets import pod_spreading
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.metadata import TaskGroup, quantities, write_task_groups
from policykit.targets.yunikorn.names import (
    APP_ID,
    OLD_APP_IDS,
    OLD_QUEUE,
    PARAMETERS,
    QUEUE,
    ROOT,
    TASK_GROUP_NAME,
    TASK_GROUPS,
)
from policykit.targets.yunikorn.queue_tree import queue_paths

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


def fields(kind: WorkloadKind, cluster: Cluster, pods: PodContext) -> PodFields:
    """Labels and annotations for pods of a workload kind; as the release of the policy reads them.

    The first pod of an application decides its queue and gang, so all its pods say the same.
    """
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    application = application_id(pods)
    if application:
        labels[application_label(cluster)] = application
    path = queue_path(kind.queue, cluster) if kind.queue else ""
    if path:
        # A label holds 63 characters; the annotation is read where there is no label.
        if label_value_problem(path):
            annotations[QUEUE] = path
        else:
            labels[QUEUE if _reads_canonical_labels(cluster) else OLD_QUEUE] = path
    close, unmet = _pod_affinity(kind, cluster, application)
    gang = Gang()
    if kind.gang == "all" and application and pods.job and pods.owner_kind != "DaemonSet":
        gang = gang_of(kind, cluster, pods, close, path)
        annotations |= _annotations(gang)
    spec = {"affinity": {"podAffinity": close}} if close else {}
    notices = (*_application_notices(kind, pods), *unmet, *_spread_notices(kind), *gang.notices)
    return PodFields(labels, annotations, spec=spec, notices=notices)


def _reads_canonical_labels(cluster: Cluster) -> bool:
    stated = versions.release_of(cluster)
    return stated is None or stated >= versions.CANONICAL_LABELS


def application_label(cluster: Cluster) -> str:
    """Label of the application that the release of the policy reads."""
    return APP_ID if _reads_canonical_labels(cluster) else OLD_APP_IDS[0]


def _annotations(gang: Gang) -> dict[str, str]:
    if not gang.groups:
        return {}
    found = {TASK_GROUPS: write_task_groups(gang.groups)}
    if gang.own_group:
        found[TASK_GROUP_NAME] = gang.own_group
    if gang.parameters:
        found[PARAMETERS] = gang.parameters
    return found


def _pod_affinity(
    kind: WorkloadKind, cluster: Cluster, application: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """podAffinity of the pods of one application, for `within`."""
    if kind.within is None:
        return {}, ()
    level = kind.within.level
    if not kind.within.hard:
        return {}, (
            f"{kind.name}: preferring one {level} has no effect: YuniKorn does not score by "
            "affinity. Nearest: within with mode hard",
        )
    key = pod_spreading.key_of(cluster, level)
    if not key:
        return {}, (f"{kind.name}: no node label is known for level {level}: set it under scheme.topology",)
    if not application:
        return {}, ()
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {application_label(cluster): application}}}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}, (
        f"{kind.name}: YuniKorn places the first pod of a job without checking that its {level} has room "
        "for the others, which may then wait",
    )


def _spread_notices(kind: WorkloadKind) -> tuple[str, ...]:
    if kind.across is None or kind.across.hard:
        return ()
    return (
        f"{kind.name}: a soft spread over {kind.across.level} has no effect in YuniKorn, "
        "which only supports DoNotSchedule. Nearest: across with mode hard",
    )


def _application_notices(kind: WorkloadKind, pods: PodContext) -> tuple[str, ...]:
    if pods.owner and pods.namespace:
        return ()
    if pods.owner:
        return (
            f"{kind.name}: {pods.owner} has no namespace, so its application is {application_id(pods)}, "
            "which no other workload of the cluster may use. Nearest: metadata.namespace",
        )
    if kind.queue or kind.gang == "all" or kind.within:
        return (
            f"{kind.name}: in YuniKorn, pods without an application share one per namespace, whose first pod "
            f"decides queue and gang for all. `policykit patch` writes label {APP_ID} and the gang",
        )
    return ()


_LONGEST = 63


def application_id(pods: PodContext) -> str:
    """Unique in the cluster for each object that creates pods; empty if the object has no name."""
    if not pods.owner:
        return ""
    whole = "-".join(filter(None, (pods.namespace, pods.owner_kind.lower(), pods.owner)))
    if len(whole) <= _LONGEST:
        return whole
    # Only the checksum distinguishes long names.
    return f"{whole[: _LONGEST - 9]}-{crc32(whole.encode()):08x}"


def queue_path(queue: str, cluster: Cluster) -> str:
    """Full path of a queue of the policy, or of any other queue below root."""
    known = queue_paths(cluster.queues)
    if queue in known:
        return known[queue]
    return queue if queue == ROOT or queue.startswith(f"{ROOT}.") else f"{ROOT}.{queue}"
