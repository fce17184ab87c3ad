"""Partition `default` of a queues.yaml, the only one that Kubernetes uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.targets.yunikorn import versions
from policykit.targets.yunikorn.configuration import queues_yaml as files
from policykit.targets.yunikorn.configuration.queues_yaml import (
    DEFAULT,
    Configuration,
    Partition,
    QueueNode,
    queue_tree,
)
from policykit.targets.yunikorn.validation import decoding

if TYPE_CHECKING:
    from policykit.model.cluster import Cluster


class DefaultPartition(NamedTuple):
    """The partition and the configuration it is part of."""

    configuration: Configuration
    partition: Partition
    tree: QueueNode
    path: Path
    """Of the partition."""
    undecoded: tuple[Problem, ...] = ()
    """What YuniKorn does not decode; the rest is as if that were not there."""


def read(manifest: Manifest, cluster: Cluster | None) -> DefaultPartition | None:
    """None where a part of the file does not decode: the scheduler reads nothing of it."""
    found = read_partly(manifest, cluster)
    return None if found is None or found.undecoded else found


def read_partly(manifest: Manifest, cluster: Cluster | None) -> DefaultPartition | None:
    """What decodes of a file, also of one that the scheduler refuses for the rest."""
    if not isinstance(manifest.data, Mapping):
        return None
    version = versions.stated(cluster) or versions.parse("")
    configuration = files.read(manifest.data)
    for number, partition in enumerate(configuration.partitions):
        if partition.queues is not None and partition.name.lower() in ("", DEFAULT):
            path: Path = ("partitions", number)
            undecoded = tuple(decoding.problems(manifest.data, version))
            return DefaultPartition(configuration, partition, queue_tree(partition, path), path, undecoded)
    return None
