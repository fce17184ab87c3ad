"""Pod fields of a scheduler as patches of the object that creates the pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from policykit.errors import PolicykitError
from policykit.kube.podsets import queues
from policykit.kube.podsets.podset import PodSet
from policykit.manifests.patch import APPEND, Patch
from policykit.manifests.path import Path, dotted, lookup
from policykit.model.pod_fields import PodFields
from policykit.targets.workloads.members import gang_of

_SELECTED = ("topologyKey", "labelSelector")
_IDENTITIES: Mapping[str, tuple[Path, ...]] = {
    "topologySpreadConstraints": (("topologyKey",), ("whenUnsatisfiable",)),
    "requiredDuringSchedulingIgnoredDuringExecution": tuple((field,) for field in _SELECTED),
    "preferredDuringSchedulingIgnoredDuringExecution": tuple(("podAffinityTerm", f) for f in _SELECTED),
}
"""Lists that users write to as well, and the fields that identify an item."""


class FieldPatches(NamedTuple):
    """Patches relative to the object, and the names of fields that its kind does not have."""

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
    """The same of the object that a queue system admits: the one with the label of its queue."""
    admitted = fields.admitted
    places = queues.places(data, pod_set, admitted.system) if admitted else ()
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
    """Annotations of the object that creates the pods: for a CronJob, of its Jobs."""
    gang = gang_of(data, pod_set)
    if gang and gang.path[-2:-1] == ("annotations",):
        return gang.path[:-1]
    return (*pod_set.owner, "metadata", "annotations")


def merge_patches(place: Path, there: Any, wanted: Any) -> Iterator[Patch]:
    """Patches that merge the desired value into the existing one: maps by key, known lists by item."""
    if isinstance(wanted, Mapping) and isinstance(there or {}, Mapping):
        if not there:
            yield from (Patch("add", (*place, key), value) for key, value in wanted.items())
            return
        for key, value in wanted.items():
            yield from merge_patches((*place, key), there.get(key), value)
    elif isinstance(wanted, (list, tuple)) and place[-1] in _IDENTITIES and there is not None:
        _check_shape(isinstance(there, list), place, there)
        yield from _item_patches(place, there, wanted, _IDENTITIES[str(place[-1])])
    elif there != wanted:
        _check_shape(there is None or not isinstance(wanted, Mapping), place, there)
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
