"""Volcano's objects beside its configuration: written from a cluster, and found in a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from policykit.generator.artifact import Artifact
from policykit.manifests.document import Manifest, manifests
from policykit.manifests.parser import parse
from policykit.manifests.path import Path
from policykit.model.cluster import Cluster
from policykit.model.queue import Queue
from policykit.targets.reading import Read
from policykit.targets.release import Version
from policykit.targets.volcano.jobs import objects as job_objects
from policykit.targets.volcano.jobs import options as job_options
from policykit.targets.volcano.jobs.objects import Job
from policykit.targets.volcano.names import BATCH_GROUP
from policykit.targets.volcano.objects import hypernodes, nodegroups, podgroups, queues, submission, topology
from policykit.targets.volcano.objects.hypernodes import HyperNode
from policykit.targets.volcano.objects.podgroups import PodGroup

Object = Queue | PodGroup | HyperNode | Job


class Kind(NamedTuple):
    """How an API kind is read, and where the fields of what is read stand."""

    read: Callable[[Mapping[str, Any]], Object]
    places: Mapping[str, Path]


KINDS: Mapping[tuple[str, str], Kind] = {
    ("scheduling.volcano.sh", "Queue"): Kind(queues.read, queues.PLACES),
    ("scheduling.volcano.sh", "PodGroup"): Kind(podgroups.read, podgroups.PLACES),
    ("topology.volcano.sh", "HyperNode"): Kind(hypernodes.read, hypernodes.PLACES),
    (BATCH_GROUP, "Job"): Kind(job_objects.read, job_objects.PLACES),
}
"""(API group, kind) of every object with words of its own."""


def generate(cluster: Cluster, version: Version) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """HyperNodes, node groups and the tenants' namespaces; and what could not be said.

    Queues are written with the configuration, which depends on them.
    """
    made = [module.artifacts(cluster, version) for module in (topology, nodegroups, submission)]
    artifacts = tuple(artifact for artifacts, _ in made for artifact in artifacts)
    notices = tuple(notice for _, notices in made for notice in notices)
    return artifacts, (*notices, *job_options.unread(cluster))


def read(text: str) -> list[Read[Object]]:
    """Every object of Volcano's in a text, with where it stands. What is no YAML is passed over."""
    return [
        Read(kind.read(manifest.data), number, manifest.base)
        for number, document in enumerate(parse(text))
        if document.root is not None
        for manifest, kind in _known(manifests(document.root, number))
    ]


def place(found: Read[Object], field: str) -> Path:
    """Where a field of what was read stands in its document, whether it is stated or not."""
    return (*found.path, *_PLACES[type(found.value)][field])


def _known(found: Iterator[Manifest]) -> Iterator[tuple[Manifest, Kind]]:
    for manifest in found:
        kind = KINDS.get((manifest.group, manifest.kind))
        if kind:
            yield manifest, kind


_PLACES: Mapping[type, Mapping[str, Path]] = {
    Queue: queues.PLACES,
    PodGroup: podgroups.PLACES,
    HyperNode: hypernodes.PLACES,
    Job: job_objects.PLACES,
}
