"""Fields that the scheduler of a pod reads. A target is imported only if a workload needs it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policykit.model.cluster import Cluster
from policykit.model.pod_fields import AdmissionFields, PodContext, PodFields
from policykit.model.workload import WorkloadKind
from policykit.targets import DEFAULT_TARGET, TARGETS, target_of

_QUEUE_KEYS = frozenset(target.queues.key for target in TARGETS if target.queues)
"""Labels and annotations by which pods name their queue."""


def pod_fields(kind: WorkloadKind, cluster: Cluster, target_name: str | None, pods: PodContext) -> PodFields:
    """Fields of the pods of a workload kind, for the target that serves their schedulerName.

    Every scheduler built on kube-scheduler reads Kubernetes' own field for spreading.
    """
    queued = queue_target_name(target_name, cluster) if kind.queue else target_name
    placed = kind if queued == target_name else without_gang_and_topology(kind)
    found = [_target_fields(target_name, placed, cluster, pods)]
    if queued != target_name:
        found.append(_target_fields(queued, kind, cluster, pods))
    if target_name != DEFAULT_TARGET and kind.across:
        found.append(_target_fields(DEFAULT_TARGET, spread_only(kind), cluster, pods))
    return merge_fields(found)


def queue_target_name(target_name: str | None, cluster: Cluster) -> str | None:
    """Name of the target whose queues the pods of a scheduler are submitted to."""
    admitting = (each.name for each in TARGETS if each.queues and each.queues.admits)
    own = (name for name in admitting if name in cluster.targets)
    return next(own, target_name) if target_name == DEFAULT_TARGET else target_name


def queue_name(queue: str, cluster: Cluster, target_name: str) -> tuple[str, str]:
    """(labels or annotations, name): where pods name a queue of the policy, and the target's name for it.

    For YuniKorn it is the path, which may be too long for a label. An empty name: the pods name no queue.
    """
    target = target_of(target_name)
    key = target.queues.key if target and target.queues else ""
    if not key:
        return "annotations", queue
    found = _target_fields(target_name, WorkloadKind("", queue=queue), cluster, PodContext())
    if key in found.labels:
        return "labels", found.labels[key]
    return "annotations", found.annotations.get(key, "")


def without_queue(fields: PodFields, name: str) -> PodFields:
    """The fields without the queue if it is already set."""
    labels, annotations = (
        {key: value for key, value in entries.items() if key not in _QUEUE_KEYS or value != name}
        for entries in (fields.labels, fields.annotations)
    )
    return fields._replace(labels=labels, annotations=annotations)


def without_gang(kind: WorkloadKind) -> WorkloadKind:
    return kind._replace(gang="", gang_rule=None)


def without_gang_and_topology(kind: WorkloadKind) -> WorkloadKind:
    """The kind of independent pods: neither a gang nor a shared topology domain."""
    return without_gang(kind)._replace(within=None)


def spread_only(kind: WorkloadKind) -> WorkloadKind:
    """The kind reduced to the spreading of its pods."""
    return without_gang_and_topology(kind)._replace(queue="", placement="", placement_name="")


def merge_fields(all_fields: Iterable[PodFields]) -> PodFields:
    """The fields of several targets, which do not overlap."""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    of_owner: dict[str, str] = {}
    spec: dict[str, Any] = {}
    objects: list[Any] = []
    notices: list[str] = []
    admitted: AdmissionFields | None = None
    for one in all_fields:
        admitted = admitted or one.admitted
        labels |= one.labels
        annotations |= one.annotations
        of_owner |= one.owner_annotations
        spec |= {field: _added(spec.get(field), value) for field, value in one.spec.items()}
        objects += one.objects
        notices += (notice for notice in one.notices if notice not in notices)
    return PodFields(labels, annotations, of_owner, spec, tuple(objects), tuple(notices), admitted)


def _added(there: Any, more: Any) -> Any:
    return [*there, *more] if isinstance(there, list) and isinstance(more, list) else more


def _target_fields(
    target_name: str | None, kind: WorkloadKind, cluster: Cluster, pods: PodContext
) -> PodFields:
    target = target_of(target_name)
    return target.pod_fields.load()(kind, cluster, pods) if target and target.pod_fields else PodFields()
