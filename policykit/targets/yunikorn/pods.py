"""Labels, annotations and affinity that YuniKorn's pods need: application, queue, gang, topology."""

from __future__ import annotations

from typing import Any
from zlib import crc32

from policykit.kube.names import label_value_problem
from policykit.model.cluster import Cluster
from policykit.model.pod_fields import PodContext, PodFields
from policykit.model.workload import WorkloadKind
from policykit.targets import pod_spreading
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.gang import Gang, gang_of
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
from policykit.targets.yunikorn.task_groups import write


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
    stated = versions.policy_version(cluster)
    return stated is None or stated >= versions.CANONICAL_LABELS


def application_label(cluster: Cluster) -> str:
    """Label of the application that the release of the policy reads."""
    return APP_ID if _reads_canonical_labels(cluster) else OLD_APP_IDS[0]


def _annotations(gang: Gang) -> dict[str, str]:
    if not gang.groups:
        return {}
    found = {TASK_GROUPS: write(gang.groups)}
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
