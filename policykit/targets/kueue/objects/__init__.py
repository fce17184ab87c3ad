"""Kueue's objects, and their reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.model.queue import Priority
from policykit.targets.kueue.names import GROUP
from policykit.targets.kueue.objects import priority_classes, queues, resource_flavors
from policykit.targets.kueue.objects.queues import ClusterQueue, Cohort, LocalQueue
from policykit.targets.kueue.objects.resource_flavors import ResourceFlavor, Topology
from policykit.targets.reading import Read

Object = ResourceFlavor | Topology | ClusterQueue | Cohort | LocalQueue | Priority

READERS: Mapping[str, Callable[[Mapping[str, Any]], Object]] = {
    queues.CLUSTER_QUEUE: queues.read_cluster_queue,
    queues.COHORT: queues.read_cohort,
    queues.LOCAL_QUEUE: queues.read_local_queue,
    priority_classes.KIND: priority_classes.read,
    resource_flavors.RESOURCE_FLAVOR: resource_flavors.read_flavor,
    resource_flavors.TOPOLOGY: resource_flavors.read_topology,
}
"""Kind to the function that reads it."""


def read(text: str) -> list[Read[Object]]:
    """The objects in a text, in order. Documents that are not YAML are ignored."""
    return [
        Read(READERS[manifest.kind](manifest.data), number, manifest.base)
        for number, document in enumerate(parse(text))
        if document.root is not None
        for manifest in manifests(document.root, number)
        if manifest.group == GROUP and manifest.kind in READERS
    ]
