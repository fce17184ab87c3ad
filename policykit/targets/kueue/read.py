"""Every object of Kueue in a text, with its location."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policykit.manifests.document import manifests
from policykit.manifests.parser import parse
from policykit.model.queue import Priority
from policykit.targets.kueue.names import GROUP
from policykit.targets.kueue.objects import (
    cluster_queues,
    cohorts,
    local_queues,
    priority_classes,
    resource_flavors,
    topologies,
)
from policykit.targets.kueue.objects.cluster_queues import ClusterQueue
from policykit.targets.kueue.objects.cohorts import Cohort
from policykit.targets.kueue.objects.local_queues import LocalQueue
from policykit.targets.kueue.objects.resource_flavors import ResourceFlavor
from policykit.targets.kueue.objects.topologies import Topology
from policykit.targets.reading import Read

Object = ResourceFlavor | Topology | ClusterQueue | Cohort | LocalQueue | Priority

READERS: Mapping[str, Callable[[Mapping[str, Any]], Object]] = {
    cluster_queues.KIND: cluster_queues.read,
    cohorts.KIND: cohorts.read,
    local_queues.KIND: local_queues.read,
    priority_classes.KIND: priority_classes.read,
    resource_flavors.KIND: resource_flavors.read,
    topologies.KIND: topologies.read,
}
"""Kind to how it is read."""


def read(text: str) -> list[Read[Object]]:
    """The objects, in the order of their documents. Documents that are not YAML hold nothing."""
    return [
        Read(READERS[manifest.kind](manifest.data), number, manifest.base)
        for number, document in enumerate(parse(text))
        if document.root is not None
        for manifest in manifests(document.root, number)
        if manifest.group == GROUP and manifest.kind in READERS
    ]
