"""Partition `default` of a queues.yaml, the only one that the Kubernetes shim uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policykit.manifests.document import Manifest
from policykit.manifests.path import Path
from policykit.manifests.problem import Problem
from policykit.namedtuple import NamedTuple
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
    """Problems with parts that YuniKorn cannot decode; the rest is read without them."""


def read(manifest: Manifest, cluster: Cluster | None) -> DefaultPartition | None:
    """The partition; None if part of the file does not decode, since the scheduler then reads none of it."""
    found = read_partial(manifest, cluster)
    return None if found is None or found.undecoded else found


def read_partial(manifest: Manifest, cluster: Cluster | None) -> DefaultPartition | None:
    """The parts of the partition that decode, even if the scheduler refuses the file for the rest."""
    if not isinstance(manifest.data, dict):
        return None
    version = versions.release_of(cluster) or versions.parse("")
    configuration = files.read(manifest.data)
    for number, partition in enumerate(configuration.partitions):
        if partition.queues is not None and partition.name.lower() in ("", DEFAULT):
            path: Path = ("partitions", number)
            undecoded = tuple(decoding.problems(manifest.data, version))
            return DefaultPartition(configuration, partition, queue_tree(partition, path), path, undecoded)
    return None
