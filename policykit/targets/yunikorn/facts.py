"""Facts from the metadata of pods and Namespaces: applications, task groups, queues of namespaces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets import queues
from policykit.kube.podsets.podset import PodSet
from policykit.kube.requests import amounts
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.shape import whole
from policykit.model.declared_queues import Application, NamespaceMetadata
from policykit.model.gang import TaskGroups
from policykit.targets.yunikorn import metadata
from policykit.targets.yunikorn.metadata import TaskGroupEntry
from policykit.targets.yunikorn.metadata import read_task_groups as read_groups
from policykit.targets.yunikorn.names import NAMESPACE_QUOTA, OLD_APP_IDS, SCHEDULER, TASK_GROUPS


def application_facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """One Application for each pod template that names an application or a queue."""
    for pod_set in () if manifest.partial else pod_sets:
        yield from _application(manifest, pod_set, context)


def _application(manifest: Manifest, pod_set: PodSet, context: Context) -> Iterator[Fact]:
    ids, queues = metadata.ids(pod_set), metadata.queues(pod_set)
    misspelt = "" if ids else next((key for key in pod_set.labels if _is_nearly_application(key)), "")
    if not (ids or queues or misspelt) or not metadata.is_scheduled(pod_set, context.cluster):
        return
    places: dict[str, Path] = {}
    for each in (*ids, *queues):
        places[each.key] = pod_set.place(*metadata.location(each))
    for name in (metadata.USER_INFO, TASK_GROUPS):
        places[name] = pod_set.place("annotations", name)
    value = Application(
        manifest.namespace or context.namespace,
        ids,
        queues,
        metadata.canonical_json(pod_set.annotations.get(metadata.USER_INFO, "")),
        metadata.canonical_json(pod_set.annotations.get(TASK_GROUPS, "")),
        pod_set.name,
        misspelt,
    )
    if misspelt:
        places["misspelt"] = pod_set.place("labels", misspelt)
    yield Fact(value, places)


def _is_nearly_application(key: str) -> bool:
    """The old label, in other letters: its name has no domain, so only these are sure."""
    return key not in OLD_APP_IDS and key.lower().replace("-", "").replace("_", "") == OLD_APP_IDS[0].lower()


_MAKE_MORE = frozenset({"Pod", "SparkApplication", "ScheduledSparkApplication", "RayCluster", "RayJob"})
"""Kinds whose pods create further pods, which have no template here."""


def task_group_facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """One TaskGroups for each pod template with a list of task groups."""
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
        SCHEDULER,
        namespace,
        application,
        names,
        closed,
        selected.value if selected else "",
        *_group_totals(found),
    )
    if selected:
        places["queue"] = selected.path
    yield Fact(fact, places, {str(number): each.inside("name") for number, each in enumerate(found)})


def _group_totals(found: Sequence[TaskGroupEntry]) -> tuple[int, dict[str, int]]:
    """Pods and amounts of all groups; 0 and none if a group cannot be read."""
    pods, total = 0, dict[str, int]()
    for each in found:
        members, requested = whole(each.fields.get("minmember")), each.fields.get("minresource")
        if members is None or not isinstance(requested, dict) or any(map(is_placeholder, requested.values())):
            return 0, {}
        pods += members
        for resource, amount in amounts(requested).items():
            total[resource] = total.get(resource, 0) + members * amount
    return pods, total


GUARANTEED = "yunikorn.apache.org/namespace.guaranteed"
AMOUNTS = (NAMESPACE_QUOTA, GUARANTEED)
"""Annotations that hold a JSON object of amounts."""


def namespace_facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """NamespaceMetadata of a Namespace that has annotations of YuniKorn."""
    ours = {key: text for key, text in manifest.annotations.items() if key.startswith(metadata.DOMAIN)}
    if not ours or manifest.api_version != "v1":
        return
    places: dict[str, Path] = {}
    inside: dict[str, Path] = {}
    for key, text in ours.items():
        places[key] = ("metadata", "annotations", key)
        for name in annotation_amounts(key, text):
            where = amount_field(key, name)
            places[where], inside[where] = places[key], (name,)
    yield Fact(NamespaceMetadata(manifest.name, tuple(ours.items())), places, inside)


def amount_field(annotation: str, name: str) -> str:
    """Name of the location of an entry in the JSON of an annotation."""
    return f"{annotation}#{name}"


def annotation_amounts(annotation: str, text: str) -> Mapping[str, object]:
    """The entries of an annotation with amounts; empty for other annotations and invalid JSON."""
    if annotation not in AMOUNTS:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
