"""Everything of Volcano in a text, with where it stands: objects and scheduler configurations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from policykit.catalogue.volcano import configuration
from policykit.catalogue.volcano.configuration import Configuration
from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.manifests.path import Path, lookup
from policykit.model.queue import Queue
from policykit.targets.reading import Read
from policykit.targets.volcano import names
from policykit.targets.volcano.jobs import objects as jobs
from policykit.targets.volcano.jobs.objects import Job
from policykit.targets.volcano.objects import hypernodes, podgroups, queues
from policykit.targets.volcano.objects.hypernodes import HyperNode
from policykit.targets.volcano.objects.podgroups import PodGroup

Object = Queue | PodGroup | HyperNode | Job

READERS: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], Object]] = {
    ("scheduling.volcano.sh", "Queue"): queues.read,
    ("scheduling.volcano.sh", "PodGroup"): podgroups.read,
    ("topology.volcano.sh", "HyperNode"): hypernodes.read,
    (names.BATCH_GROUP, "Job"): jobs.read,
}
"""(API group, kind) to how it is read."""
_EMBEDDED: Mapping[str, Path] = {
    "ConfigMap": ("data", names.CONFIG_FILE),
    "HelmRelease": ("spec", "values", "custom", names.CONFIG_OVERRIDE),
    "": ("custom", names.CONFIG_OVERRIDE),
}
"""Kind of a document, empty for Helm values, to where it may hold the configuration as a text."""


def read(text: str) -> list[Read[Any]]:
    """Queues, PodGroups, HyperNodes, Jobs and configurations, in the order of their documents.

    Documents that are not YAML hold nothing.
    """
    found: list[Read[Any]] = [*objects(text), *configurations(text)]
    return sorted(found, key=lambda each: each.document)


def objects(text: str) -> list[Read[Object]]:
    """Every object of Volcano's in a text. What is not YAML is skipped."""
    return [
        Read(read_object(manifest.data), number, manifest.base)
        for number, document in enumerate(parse(text))
        if document.root is not None
        for manifest in manifests(document.root, number)
        if (read_object := READERS.get((manifest.group, manifest.kind)))
    ]


def configurations(text: str) -> Iterator[Read[Configuration]]:
    """Scheduler configurations: bare, in a ConfigMap, or in Helm values, those of a HelmRelease too."""
    for number, document in enumerate(parse(text)):
        if document.root is not None:
            yield from _within(document.root.data, number, ())


def _within(data: object, number: int, path: Path) -> Iterator[Read[Configuration]]:
    if not isinstance(data, Mapping):
        return
    kind = data.get("kind", "")
    if kind == "" and "tiers" in data:
        yield Read(configuration.read(data), number, path)
    elif kind == "List" and isinstance(data.get("items"), list):
        for index, item in enumerate(data["items"]):
            yield from _within(item, number, (*path, "items", index))
    elif isinstance(kind, str) and kind in _EMBEDDED:
        text = lookup(data, _EMBEDDED[kind])
        if isinstance(text, str):
            yield from _embedded(text, number, (*path, *_EMBEDDED[kind]))


def _embedded(text: str, number: int, path: Path) -> Iterator[Read[Configuration]]:
    """The scheduler decodes the first document of the text only."""
    document = next(iter(parse(text)), None)
    if document is not None and document.root is not None and isinstance(document.root.data, Mapping):
        yield Read(configuration.read(document.root.data), number, path, ())
