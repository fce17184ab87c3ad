"""Lists of gangs: which start together (Koordinator), and which make up one application (YuniKorn)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.podsets import queues
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import amounts
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.scope import Stated
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import whole
from policykit.model.gang import GangPartners, TaskGroups
from policykit.targets.koordinator import names as koordinator
from policykit.targets.yunikorn import metadata
from policykit.targets.yunikorn import names as yunikorn
from policykit.targets.yunikorn.task_groups import TaskGroupEntry
from policykit.targets.yunikorn.task_groups import read as read_groups

_MAKE_MORE = frozenset({"Pod", "SparkApplication", "ScheduledSparkApplication", "RayCluster", "RayJob"})
"""Kinds whose pods make further pods, which no template shows."""


def gang_list_facts(manifest: Manifest, pod_sets: Sequence[PodSet], namespace: str) -> Iterator[Stated]:
    """Of a PodGroup, and of each template."""
    if manifest.kind == "PodGroup":
        if manifest.group == koordinator.GROUP_API and manifest.name:
            yield from _partners(manifest.annotations, ("metadata", "annotations"), namespace, manifest.name)
        return
    for pod_set in pod_sets:
        place = pod_set.places.get("annotations")
        if not place:
            continue
        named = pod_set.annotations.get(koordinator.GANG_NAME)
        if named and not any(pod_set.labels.get(label) for label in koordinator.GROUP_LABELS):
            yield from _partners(pod_set.annotations, place, namespace, named)
        yield from _task_groups(manifest, pod_set, place, namespace)


def _partners(annotations: Mapping[str, str], place: Path, namespace: str, name: str) -> Iterator[Stated]:
    written = annotations.get(koordinator.GANG_GROUPS)
    names = _read(written) if written and not is_placeholder(written) else None
    if not isinstance(names, list) or not all(isinstance(n, str) and n.count("/") == 1 for n in names):
        return
    partners = tuple((each.partition("/")[0], each.partition("/")[2]) for each in names)
    path = (*place, koordinator.GANG_GROUPS)
    places: dict[str, Path] = {"groups": path} | {str(number): path for number in range(len(names))}
    inside: dict[str, Path] = {"groups": ()} | {str(number): (number,) for number in range(len(names))}
    yield Stated(GangPartners(koordinator.SYSTEM, namespace, name, partners), places, inside)


def _task_groups(manifest: Manifest, pod_set: PodSet, place: Path, namespace: str) -> Iterator[Stated]:
    written = pod_set.annotations.get(yunikorn.TASK_GROUPS)
    application = metadata.application(pod_set)
    found = read_groups(written) if written and application and not is_placeholder(written) else ()
    if not found or not all(each.name for each in found):
        return
    path = (*place, yunikorn.TASK_GROUPS)
    names, closed = tuple(each.name for each in found), manifest.kind not in _MAKE_MORE
    places = {str(number): path for number in range(len(found))}
    selected = queues.read(manifest.data, pod_set, yunikorn.SCHEDULER)
    fact = TaskGroups(
        namespace, application, names, closed, selected.value if selected else "", *_group_totals(found)
    )
    if selected:
        places["queue"] = selected.path
    yield Stated(fact, places, {str(number): each.inside("name") for number, each in enumerate(found)})


def _group_totals(found: Sequence[TaskGroupEntry]) -> tuple[int, dict[str, int]]:
    """Pods and amounts of all groups together; nothing where one of them cannot be read."""
    pods, total = 0, dict[str, int]()
    for each in found:
        members, requested = whole(each.fields.get("minmember")), each.fields.get("minresource")
        if members is None or not isinstance(requested, dict) or any(map(is_placeholder, requested.values())):
            return 0, {}
        pods += members
        for resource, amount in amounts(requested).items():
            total[resource] = total.get(resource, 0) + members * amount
    return pods, total


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
