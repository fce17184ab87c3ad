"""Patches that set pod fields: those that a scheduler reads, its name, the priority class and the queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policykit.errors import PolicykitError
from policykit.kube.podsets import queues
from policykit.kube.podsets.kind_entry import KindEntry
from policykit.kube.podsets.podset import PodSet
from policykit.kube.podsets.table import entry
from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import Path, dotted, lookup
from policykit.model.cluster import Cluster
from policykit.model.pod_fields import AdmissionFields, PodContext, PodFields
from policykit.model.workload import WorkloadKind
from policykit.namedtuple import NamedTuple
from policykit.targets import DEFAULT_SCHEDULER, DEFAULT_TARGET, TARGETS, target_name_of, target_of
from policykit.targets.workloads.gangs import gang_of

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


_SELECTED = ("topologyKey", "labelSelector")
_IDENTITIES: Mapping[str, tuple[Path, ...]] = {
    "topologySpreadConstraints": (("topologyKey",), ("whenUnsatisfiable",)),
    "requiredDuringSchedulingIgnoredDuringExecution": tuple((field,) for field in _SELECTED),
    "preferredDuringSchedulingIgnoredDuringExecution": tuple(("podAffinityTerm", f) for f in _SELECTED),
}
"""Lists with items of users, and the fields that identify an item."""


class FieldPatches(NamedTuple):
    """Patches relative to the object, and names of fields that its kind lacks."""

    patches: tuple[Patch, ...] = ()
    unsupported: tuple[str, ...] = ()


def field_patches(data: Mapping[str, Any], pod_set: PodSet, fields: PodFields) -> FieldPatches:
    """The patches that set `fields` on the pods of a pod set; other fields are left unchanged.

    Raises PolicykitError if an existing value has the wrong type, such as a placeholder.
    """
    patches: list[Patch] = []
    unsupported: list[str] = []
    for wanted, place in (*_desired(data, pod_set, fields), *_of_job(data, pod_set, fields)):
        if place is not None:
            patches += merge_patches(place, lookup(data, place), wanted)
        elif wanted:
            unsupported += sorted(wanted)
    return FieldPatches(tuple(patches), tuple(unsupported))


def _desired(
    data: Mapping[str, Any], pod_set: PodSet, fields: PodFields
) -> Iterator[tuple[Mapping[str, Any], Path | None]]:
    """Desired entries of each map, and the path of the map."""
    yield fields.labels, pod_set.places.get("labels")
    yield fields.annotations, pod_set.places.get("annotations")
    yield fields.owner_annotations, _owner_annotations(data, pod_set)
    for field, value in fields.spec.items():
        place = spec_path(pod_set, field)
        yield {field: value}, None if place is None else place[:-1]


def _of_job(
    data: Mapping[str, Any], pod_set: PodSet, fields: PodFields
) -> Iterator[tuple[Mapping[str, Any], Path | None]]:
    """Desired entries of the object that a queueing system admits, which has the label of its queue."""
    admitted = fields.admitted
    places = queues.places(data, pod_set, admitted.target_name) if admitted else ()
    if admitted is None or not places or places[0][-3:-1] != ("metadata", "labels"):
        return
    yield admitted.labels, places[0][:-1]
    for path, value in admitted.spec.items():
        place = (*places[0][:-3], *path)
        yield {str(place[-1]): value}, place[:-1]


def spec_path(pod_set: PodSet, field: str) -> Path | None:
    """Path of a PodSpec field, present or not; None if there is none or it is unknown."""
    if field in pod_set.places:
        return pod_set.places[field]
    return (*pod_set.default_place, field) if pod_set.default_place is not None else None


def _owner_annotations(data: Mapping[str, Any], pod_set: PodSet) -> Path:
    """Path of the annotations of the object that creates the pods: for a CronJob, of its Jobs."""
    gang = gang_of(data, pod_set)
    if gang and gang.path[-2:-1] == ("annotations",):
        return gang.path[:-1]
    return (*pod_set.owner, "metadata", "annotations")


def merge_patches(place: Path, there: Any, wanted: Any) -> Iterator[Patch]:
    """Patches that merge the desired value into the existing one: maps by key, known lists by item."""
    if isinstance(wanted, dict) and isinstance(there or {}, dict):
        if not there:
            yield from (Patch("add", (*place, key), value) for key, value in wanted.items())
            return
        for key, value in wanted.items():
            yield from merge_patches((*place, key), there.get(key), value)
    elif isinstance(wanted, (list, tuple)) and place[-1] in _IDENTITIES and there is not None:
        _check_shape(isinstance(there, list), place, there)
        yield from _item_patches(place, there, wanted, _IDENTITIES[str(place[-1])])
    elif there != wanted:
        _check_shape(there is None or not isinstance(wanted, dict), place, there)
        yield Patch("add", place, wanted)


def _item_patches(
    place: Path, there: list[Any], wanted: list[Any] | tuple[Any, ...], by: tuple[Path, ...]
) -> Iterator[Patch]:
    """Each desired item replaces the item with the same identity, or is appended."""
    for item in wanted:
        identity = [lookup(item, path) for path in by]
        alike = (n for n, one in enumerate(there) if [lookup(one, path) for path in by] == identity)
        position = next(alike, None)
        if position is None:
            yield Patch("add", (*place, APPEND), item)
        else:
            yield from merge_patches((*place, position), there[position], item)


def _check_shape(right: bool, place: Path, there: object) -> None:
    if not right:
        raise PolicykitError(
            f"has {dotted(place)} {there!r}, which has the wrong type", "correct it, or fill it in first"
        )


_SCHEDULER = "schedulerName"
_PRIORITY = "priorityClassName"
_SPARK_SCHEDULERS = frozenset(
    {"kube-scheduler"}.union(*(each.schedulers for each in TARGETS if each.batch_scheduler))
)
"""Schedulers that Spark's operator knows by name (`batchScheduler`); others are set in the templates."""

Change = tuple[Patch, ...] | None
"""Changes; None: the kind of the object has no field for the value."""


def scheduler_patches(pod_set: PodSet, name: str) -> Change:
    """Changes that make `name` the scheduler of the pods."""
    if (pod_set.scheduler_name or DEFAULT_SCHEDULER) == name:
        return ()
    path = pod_set.scheduler_path
    if path and path[-1] != _SCHEDULER and name not in _SPARK_SCHEDULERS:
        path = spec_path(pod_set, _SCHEDULER)
    return (Patch("add", path, name),) if path else None


def priority_patches(data: Mapping[str, Any], pod_set: PodSet, name: str, cluster: Cluster) -> Change:
    """Changes that give the pods a priority class, and their group if its class counts.

    Kinds with schedulerName outside their templates have the priority there too, for pods that state
    none. A different class is replaced.
    """
    own, beside = spec_path(pod_set, _PRIORITY), _object_priority(data, pod_set)
    places = [own] if own else []
    if beside and _is_inherited(data, pod_set):
        differs = own is not None and lookup(data, own) not in (None, "", name)
        places = [beside, *(places if differs else ())]
    elif beside and _orders_by_group(pod_set, cluster):
        # The class of the object is that of its gang; that of a template only orders its pods.
        places.append(beside)
    if not places:
        return None
    return tuple(Patch("add", path, name) for path in places if lookup(data, path) != name)


def queue_patches(data: Mapping[str, Any], pod_set: PodSet, name: str, cluster: Cluster) -> Change:
    """Changes that submit the pods to a queue, in the field that their scheduler reads first.

    None also if the scheduler has no queues or is unknown.
    """
    target_name = queue_target_name(target_name_of(pod_set.scheduler_name, cluster), cluster)
    if target_name is None:
        return None
    places = queues.places(data, pod_set, target_name)
    if not places:
        return None
    where, called = queue_name(name, cluster, target_name)
    written = queues.read(data, pod_set, target_name)
    if not called or (written and written.value == called):
        return ()
    first = next((path for path in places if path[-2:-1] == (where,)), places[0])
    return (Patch("add", written.path if written else first, called),)


def policy_queue(data: Mapping[str, Any], pod_set: PodSet, cluster: Cluster) -> str:
    """The queue of the policy that the pods name already; empty: none."""
    target_name = queue_target_name(target_name_of(pod_set.scheduler_name, cluster), cluster)
    written = queues.read(data, pod_set, target_name) if target_name else None
    if target_name is None or written is None:
        return ""
    # YuniKorn has whole paths, which end with the name.
    named = {written.value, written.value.rpartition(".")[2]}
    known = (queue.name for queue in cluster.queues if queue.name in named)
    return next((name for name in known if queue_name(name, cluster, target_name)[1] == written.value), "")


def _orders_by_group(pod_set: PodSet, cluster: Cluster) -> bool:
    target = target_of(target_name_of(pod_set.scheduler_name, cluster))
    return target is not None and target.group_priority


def _object_priority(data: Mapping[str, Any], pod_set: PodSet) -> Path | None:
    """Path of the priority class of the whole object, outside its templates."""
    known = _kind_entry(data, pod_set)
    if known is None or known.priority is None:
        return None
    return (*pod_set.owner, *(str(step) for step in known.priority.place))


def _is_inherited(data: Mapping[str, Any], pod_set: PodSet) -> bool:
    """Whether the kind gives its own priority class to pods that state none."""
    known = _kind_entry(data, pod_set)
    if known is None or known.scheduler is None or known.priority is None:
        return False
    path = known.priority.place
    return path[:-1] == known.scheduler.place[:-1] and path[-1:] == (_PRIORITY,)


def _kind_entry(data: Mapping[str, Any], pod_set: PodSet) -> KindEntry | None:
    owner = lookup(data, pod_set.owner)
    return entry(owner.get("apiVersion"), owner.get("kind")) if isinstance(owner, dict) else None
