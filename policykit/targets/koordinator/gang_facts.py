"""Facts about gangs that start together, as PodGroups and pods list them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from policykit.kube.placeholders import is_placeholder
from policykit.kube.podsets.podset import PodSet
from policykit.linter.rule import Context
from policykit.linter.scope import Fact
from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.model.gang import GangPartners
from policykit.targets.koordinator.names import GANG_GROUPS, GANG_NAME, GROUP_API, GROUP_LABELS, TARGET_NAME


def facts(manifest: Manifest, pod_sets: Sequence[PodSet], context: Context) -> Iterator[Fact]:
    """GangPartners of a PodGroup, and of each pod template that names a gang without one."""
    if manifest.partial:
        return
    namespace = manifest.namespace or context.namespace
    if manifest.kind == "PodGroup":
        if manifest.group == GROUP_API and manifest.name:
            yield from _partners(manifest.annotations, ("metadata", "annotations"), namespace, manifest.name)
        return
    for pod_set in pod_sets:
        place = pod_set.places.get("annotations")
        named = pod_set.annotations.get(GANG_NAME)
        if place and named and not any(pod_set.labels.get(label) for label in GROUP_LABELS):
            yield from _partners(pod_set.annotations, place, namespace, named)


def _partners(annotations: Mapping[str, str], place: Path, namespace: str, name: str) -> Iterator[Fact]:
    written = annotations.get(GANG_GROUPS)
    names = _read(written) if written and not is_placeholder(written) else None
    if not isinstance(names, list) or not all(isinstance(n, str) and n.count("/") == 1 for n in names):
        return
    partners = tuple((each.partition("/")[0], each.partition("/")[2]) for each in names)
    path = (*place, GANG_GROUPS)
    places: dict[str, Path] = {"groups": path} | {str(number): path for number in range(len(names))}
    inside: dict[str, Path] = {"groups": ()} | {str(number): (number,) for number in range(len(names))}
    yield Fact(GangPartners(TARGET_NAME, namespace, name, partners), places, inside)


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
