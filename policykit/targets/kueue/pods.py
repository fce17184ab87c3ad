"""What Kueue reads from jobs and their pods: queue, priority, topology and suspension."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policykit.manifests.path import Path
from policykit.model.cluster import Cluster
from policykit.model.pod_fields import AdmissionFields, PodContext, PodFields
from policykit.model.workload import WorkloadKind
from policykit.targets.kueue import options, versions
from policykit.targets.kueue.names import (
    PREFERRED_TOPOLOGY,
    PRIORITY_CLASS,
    QUEUE_NAME,
    REQUIRED_TOPOLOGY,
    TARGET_NAME,
)

SUSPEND: Mapping[str, Path] = {
    **dict.fromkeys(("Job", "JobSet", "RayCluster", "RayJob", "TrainJob"), ("spec", "suspend")),
    **dict.fromkeys(
        ("JAXJob", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"),
        ("spec", "runPolicy", "suspend"),
    ),
    "CronJob": ("spec", "suspend"),
}
"""Kind of job to the field that suspends it; for a CronJob, that of its Jobs."""


def fields(kind: WorkloadKind, cluster: Cluster, pods: PodContext) -> PodFields:
    """Labels of the object that Kueue admits, and annotations of its pods.

    Only for pods of a scheduler without queues of its own. Kueue ignores workloads without a
    queue. Source: `pkg/controller/jobframework` (0.9 to 0.19).
    """
    if not kind.queue:
        return PodFields()
    labels = {QUEUE_NAME: kind.queue}
    if kind.priority_class in {priority.name for priority in cluster.priorities}:
        labels[PRIORITY_CLASS] = kind.priority_class
    return PodFields(
        annotations=_topology(kind, cluster),
        notices=tuple(_notices(kind, pods)),
        admitted=AdmissionFields(TARGET_NAME, labels, _suspend_field(cluster, pods)),
    )


def _suspend_field(cluster: Cluster, pods: PodContext) -> dict[Path, bool]:
    """The field that keeps a job from starting, if the policy asks for it."""
    path = SUSPEND.get(pods.owner_kind) if options.kueue_options(cluster).suspend else None
    return {path: True} if path else {}


def _topology(kind: WorkloadKind, cluster: Cluster) -> dict[str, str]:
    target = cluster.targets.get(TARGET_NAME)
    key = next((each.key for each in cluster.levels if kind.within and each.name == kind.within.level), "")
    version = versions.parse(target.version if target else "")
    if not kind.within or not key or version < versions.TAS_IN_COHORTS:
        return {}
    return {REQUIRED_TOPOLOGY if kind.within.hard else PREFERRED_TOPOLOGY: key}


def _notices(kind: WorkloadKind, pods: PodContext) -> Iterator[str]:
    size = kind.gang_rule.size if kind.gang_rule else None
    if kind.gang != "all":
        return
    if pods.owner_kind == "Pod" and size and size > 1:
        yield (
            "a single Pod joins a gang only by the label kueue.x-k8s.io/pod-group-name and the annotation "
            "kueue.x-k8s.io/pod-group-total-count"
        )
    elif pods.owner_kind in ("Deployment", "ReplicaSet", "ReplicationController"):
        yield f"Kueue admits each pod of a {pods.owner_kind} by itself: no gang is declared"
    elif not pods.owner:
        yield (
            f"{kind.name}: Kueue admits a job as a whole, when there is quota for all its pods. Whether they "
            "start together depends on free nodes: enable waitForPodsReady in Kueue's Configuration"
        )
