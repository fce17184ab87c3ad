"""Of pods that YuniKorn places: their application, queue, user and gang."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.application import Application
from policykit.targets.yunikorn import metadata
from policykit.targets.yunikorn.names import TASK_GROUPS


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """One Application for each template that names one, or a queue."""
    for pod_set in () if manifest.partial else pod_sets:
        yield from _application(manifest, pod_set, context)


def _application(manifest: Manifest, pod_set: PodSet, context: Context) -> Iterator[Fact]:
    ids, queues = metadata.ids(pod_set), metadata.queues(pod_set)
    if not (ids or queues) or not metadata.is_served(pod_set, context.cluster):
        return
    places: dict[str, Path] = {}
    for said in (*ids, *queues):
        places[said.key] = pod_set.place(*metadata.place(said))
    for name in (metadata.USER_INFO, TASK_GROUPS):
        places[name] = pod_set.place("annotations", name)
    value = Application(
        manifest.namespace or context.namespace,
        ids,
        queues,
        metadata.canonical(pod_set.annotations.get(metadata.USER_INFO, "")),
        metadata.canonical(pod_set.annotations.get(TASK_GROUPS, "")),
        pod_set.name,
    )
    yield Fact(value, places)
