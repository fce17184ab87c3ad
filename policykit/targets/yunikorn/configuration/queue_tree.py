"""The queues of a partition as YuniKorn sees them, each with its place in queues.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from policykit.manifests.path import Path
from policykit.targets.yunikorn.configuration.partition import Partition
from policykit.targets.yunikorn.configuration.queues import ROOT, Queue


class QueueNode(NamedTuple):
    """A queue and where it is written. A root that YuniKorn inserts has the path of its partition."""

    queue: Queue
    path: Path
    limits_path: Path
    children: tuple[QueueNode, ...] = ()

    def walk(self) -> Iterator[QueueNode]:
        """This queue and all below it, each before its children."""
        yield self
        for child in self.children:
            yield from child.walk()


def queue_tree(partition: Partition, path: Path) -> QueueNode:
    """The root: YuniKorn inserts one where there is none, and gives it the limits of the partition."""
    top = (*path, "queues")
    queues = partition.queues or ()
    if partition.inserted_root:
        root = Queue(ROOT, parent=True, limits=partition.limits, queues=queues)
        return QueueNode(root, path, (*path, "limits"), _children(queues, top))
    root = queues[0]._replace(parent=True)
    own = _node(root, (*top, 0))
    if not partition.limits or root.limits:
        return own
    return own._replace(queue=root._replace(limits=partition.limits), limits_path=(*path, "limits"))


def _node(queue: Queue, path: Path) -> QueueNode:
    return QueueNode(queue, path, (*path, "limits"), _children(queue.queues, (*path, "queues")))


def _children(queues: tuple[Queue, ...], path: Path) -> tuple[QueueNode, ...]:
    return tuple(_node(child, (*path, number)) for number, child in enumerate(queues))
