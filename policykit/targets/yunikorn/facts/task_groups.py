"""Task groups that make up the gang of one application."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.podsets import queues
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import amounts
from policykit.kube.structure.scalars import is_placeholder
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import whole
from policykit.model.gang import TaskGroups
from policykit.targets.yunikorn import metadata
from policykit.targets.yunikorn.names import SCHEDULER, TASK_GROUPS
from policykit.targets.yunikorn.task_groups import TaskGroupEntry
from policykit.targets.yunikorn.task_groups import read as read_groups

_MAKE_MORE = frozenset({"Pod", "SparkApplication", "ScheduledSparkApplication", "RayCluster", "RayJob"})
"""Kinds whose pods make further pods, which no template shows."""


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """Of each template with a list of task groups."""
    if manifest.partial or manifest.kind == "PodGroup":
        return
    namespace = manifest.namespace or context.namespace
    for pod_set in pod_sets:
        place = pod_set.places.get("annotations")
        if place:
            yield from _task_groups(manifest, pod_set, place, namespace)


def _task_groups(manifest: Manifest, pod_set: PodSet, place: Path, namespace: str) -> Iterator[Fact]:
    written = pod_set.annotations.get(TASK_GROUPS)
    application = metadata.application(pod_set)
    found = read_groups(written) if written and application and not is_placeholder(written) else ()
    if not found or not all(each.name for each in found):
        return
    path = (*place, TASK_GROUPS)
    names, closed = tuple(each.name for each in found), manifest.kind not in _MAKE_MORE
    places = {str(number): path for number in range(len(found))}
    selected = queues.read(manifest.data, pod_set, SCHEDULER)
    fact = TaskGroups(
        namespace, application, names, closed, selected.value if selected else "", *_group_totals(found)
    )
    if selected:
        places["queue"] = selected.path
    yield Fact(fact, places, {str(number): each.inside("name") for number, each in enumerate(found)})


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
